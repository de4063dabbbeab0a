//! The calls of a virtual tool with random steps, at random times, against a model. The clock is tokio's, and it is paused: each test
//! runs through hours of calls at once.

mod model;
mod remote;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use mcp_servlet_bundle::{Call, Spec, StepSpec, VirtualTool};
use mcp_servlet_call::{CallError, JsonObject, RequestMeta};
use mcp_servlet_host::{CallToolResult, Host, Member, Mount, PlacedTool, Remote};
use model::{End, Model, Round};
use proptest::{collection::vec, prelude::*, sample::Index};
use remote::{Answers, Progress};
use serde_json::{Value, json};
use tokio::time::Instant;

/// A step of a random tool.
#[derive(Clone, Debug)]
struct Node {
    /// The steps that its inputs read, and those of `after`. All of them are earlier ones.
    reads: Vec<usize>,
    after: Vec<usize>,
    /// Whether `when` is true; `None` without `when`.
    when: Option<bool>,
    /// How many calls of `each` run at once; `None` without `each`.
    parallel: Option<usize>,
    may_fail: bool,
    is_read_only: bool,
    /// How long each of its calls may take.
    timeout: Option<u64>,
    /// What its calls do: one, or one for each item.
    calls: Vec<Plan>,
}

/// The behavior of a call.
#[derive(Clone, Copy, Debug)]
struct Plan {
    milliseconds: u64,
    /// Whether it asks the client before it answers.
    asks: bool,
    answer: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Result,
    ErrorResult,
    Error,
}

/// A random tool. The position of a node is its place in the file.
#[derive(Clone, Debug)]
struct Graph {
    nodes: Vec<Node>,
    timeout: Option<u64>,
}

fn name(step: usize) -> String {
    format!("s{step}")
}

/// The name of a call in inputs and logs.
fn name_of(call: Call) -> String {
    match call.index {
        Some(index) => format!("{}.{index}", name(call.step)),
        None => name(call.step),
    }
}

impl Node {
    fn tool(&self) -> &'static str {
        if self.is_read_only { "read" } else { "write" }
    }

    fn calls(&self, step: usize) -> impl Iterator<Item = Call> {
        let has_each = self.parallel.is_some();
        (0..self.calls.len()).map(move |index| Call {
            step,
            index: has_each.then_some(index),
        })
    }
}

impl Graph {
    fn plan(&self, call: Call) -> Plan {
        self.nodes[call.step].calls[call.index.unwrap_or_default()]
    }

    fn plan_mut(&mut self, call: Call) -> &mut Plan {
        &mut self.nodes[call.step].calls[call.index.unwrap_or_default()]
    }

    /// Whether a call takes longer than its step allows.
    fn is_late(&self, call: Call) -> bool {
        let timeout = self.nodes[call.step].timeout;
        timeout.is_some_and(|timeout| timeout < self.plan(call).milliseconds)
    }

    /// How long a call takes, unless something else stops it.
    fn milliseconds(&self, call: Call) -> u64 {
        let timeout = self.nodes[call.step].timeout.unwrap_or(u64::MAX);
        timeout.min(self.plan(call).milliseconds)
    }

    /// Whether a call has no result that is a success.
    fn fails(&self, call: Call) -> bool {
        self.is_late(call) || self.plan(call).answer != Answer::Result
    }

    fn calls(&self) -> impl Iterator<Item = Call> {
        let nodes = self.nodes.iter().enumerate();
        nodes.flat_map(|(step, node)| node.calls(step))
    }

    /// What a call returns, as expressions read it. `None` if the call ends the tool.
    fn value(&self, call: Call) -> Value {
        let own = json!({ "call": name_of(call) });
        if self.is_late(call) {
            let limit = Duration::from_millis(self.milliseconds(call));
            let message = format!("remote `m` did not answer `tools/call` within {limit:?}");
            let error = json!({
                "code": "REQUEST_TIMEOUT", "kind": "timeout", "message": message, "data": { "remote": "m" },
            });
            return json!({ "isError": true, "error": error });
        }
        match self.plan(call).answer {
            Answer::Result => {
                json!({ "content": [], "structuredContent": own, "isError": false, "call": name_of(call) })
            }
            Answer::ErrorResult => {
                json!({ "content": [{ "type": "text", "text": "no" }], "isError": true })
            }
            Answer::Error => {
                json!({ "isError": true, "error": { "code": "-32603", "kind": "fault", "message": "broken" } })
            }
        }
    }

    /// The value of a step that is over. `None` if it was skipped.
    fn value_of_step(&self, step: usize) -> Option<Value> {
        let node = &self.nodes[step];
        if node.when == Some(false) {
            return None;
        }
        let mut values = node.calls(step).map(|call| self.value(call));
        if node.parallel.is_some() {
            return Some(values.collect());
        }
        values.next()
    }

    /// The inputs of a call.
    fn inputs(&self, call: Call) -> Value {
        let reads = self.nodes[call.step].reads.iter();
        let reads: JsonObject = reads
            .filter_map(|read| Some((name(*read), self.value_of_step(*read)?)))
            .collect();
        json!({ "call": name_of(call), "reads": reads })
    }

    /// What the tool returns if nothing ends it.
    fn result(&self) -> Value {
        let steps = 0..self.nodes.len();
        let values = steps.filter_map(|step| Some((name(step), self.value_of_step(step)?)));
        values.collect::<JsonObject>().into()
    }

    /// The arguments of the tool: the conditions, and the lists of `each`.
    fn arguments(&self) -> JsonObject {
        let nodes = self.nodes.iter().enumerate();
        let arguments = nodes.map(|(step, node)| {
            let list: Vec<_> = (0..node.calls.len()).collect();
            (name(step), json!({ "when": node.when, "each": list }))
        });
        arguments.collect()
    }

    fn tool(&self) -> VirtualTool {
        let steps = self.nodes.iter().enumerate();
        let values = (0..self.nodes.len()).map(|step| {
            let step = name(step);
            let value = format!("${{{{ steps.?{step} }}}}");
            (step, value.into())
        });
        let result = json!({ "content": [], "structuredContent": values.collect::<JsonObject>() });
        let spec = Spec {
            bundle: "b".to_owned(),
            name: "t".to_owned(),
            steps: steps.map(|(step, node)| spec_of(step, node)).collect(),
            arguments: Some(json!({})),
            result: result.as_object().cloned(),
            timeout: self.timeout.map(Duration::from_millis),
            ..Spec::default()
        };
        let tool = VirtualTool::compile(&spec, &mut |text| Ok(text.to_owned()));
        tool.unwrap_or_else(|problems| panic!("{problems:#?}"))
    }

    /// A host with the tool and the remote that it calls.
    fn host(&self, remote: Arc<dyn Remote>) -> Host {
        let tool = PlacedTool {
            tool: self.tool(),
            after: 0,
        };
        let host = Host::compose(Vec::<Mount>::new());
        let host = host.with_virtual_tools(vec![tool], vec![Member::from(remote)]);
        assert_eq!(host.virtual_tool_errors(), []);
        host
    }
}

fn spec_of(step: usize, node: &Node) -> StepSpec {
    let step = name(step);
    let argument = |key: &str| format!("${{{{ request.arguments.{step}.{key} }}}}");
    let item = node.parallel.map(|_| ".${{ index }}").unwrap_or_default();
    let reads = node.reads.iter().map(|read| {
        let read = name(*read);
        let value = format!("${{{{ steps.?{read} }}}}");
        (read, value.into())
    });
    let inputs = json!({ "call": format!("{step}{item}"), "reads": reads.collect::<JsonObject>() });
    StepSpec {
        name: step.clone(),
        handler: Some(format!("m:{}", node.tool())),
        inputs: inputs.as_object().cloned(),
        when: node.when.map(|_| argument("when")),
        each: node.parallel.map(|_| argument("each")),
        parallel: node
            .parallel
            .and_then(|parallel| i64::try_from(parallel).ok()),
        after: Some(node.after.iter().copied().map(name).collect()),
        may_fail: node.may_fail,
        timeout: node.timeout.map(Duration::from_millis),
        ..StepSpec::default()
    }
}

fn plans(asks: f64, fails: f64) -> impl Strategy<Value = Plan> {
    let answer = prop_oneof![Just(Answer::ErrorResult), Just(Answer::Error)];
    let answer = (prop::bool::weighted(fails), answer);
    (1..5_000_u64, prop::bool::weighted(asks), answer).prop_map(
        |(milliseconds, asks, (fails, answer))| Plan {
            milliseconds,
            asks,
            answer: if fails { answer } else { Answer::Result },
        },
    )
}

/// Tools with at most so many steps. A call asks, and fails, with these probabilities. So many steps have a time limit as calls fail.
fn graphs(most: usize, asks: f64, fails: f64) -> impl Strategy<Value = Graph> {
    let node = (
        vec(any::<Index>(), 0..3),
        vec(any::<Index>(), 0..2),
        prop::option::weighted(0.3, prop::bool::weighted(0.7)),
        prop::option::weighted(0.3, (1..=16_usize, vec(plans(asks, fails), 0..20))),
        prop::bool::weighted(0.4),
        prop::bool::weighted(0.5),
        (prop::bool::weighted(fails), 100..5_000_u64),
        plans(asks, fails),
    );
    let timeout = prop::option::weighted(0.3, 100..10_000_u64);
    let parts = vec(node, 1..=most).prop_flat_map(|nodes| {
        let places: Vec<_> = (0..nodes.len()).collect();
        (Just(nodes), Just(places).prop_shuffle())
    });
    (parts, timeout).prop_map(|((parts, places), timeout)| {
        let mut nodes = BTreeMap::new();
        for (number, part) in parts.into_iter().enumerate() {
            let (reads, after, when, each, may_fail, is_read_only, (has_timeout, timeout), plan) =
                part;
            let earlier = |picks: Vec<Index>| {
                let picks = picks.into_iter().filter(|_| number > 0);
                let mut steps: Vec<_> = picks.map(|pick| places[pick.index(number)]).collect();
                steps.sort_unstable();
                steps.dedup();
                steps
            };
            let node = Node {
                reads: earlier(reads),
                after: earlier(after),
                when,
                parallel: each.as_ref().map(|(parallel, _)| *parallel),
                may_fail,
                is_read_only,
                timeout: has_timeout.then_some(timeout),
                calls: each.map_or_else(|| vec![plan], |(_, calls)| calls),
            };
            nodes.insert(places[number], node);
        }
        Graph {
            nodes: nodes.into_values().collect(),
            timeout,
        }
    })
}

/// What a request did.
struct Outcome {
    result: Result<CallToolResult, CallError>,
    /// The calls, and when they began and ended.
    log: Vec<remote::Line>,
    milliseconds: u64,
}

/// Runs one request in a process of its own: nothing stays but what the client sends.
fn run(graph: &Graph, answer: Option<(&str, JsonObject)>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let start = Instant::now();
        let remote = Arc::new(Answers::new(graph.clone(), start));
        let host = graph.host(Arc::clone(&remote) as _);
        let progress = Arc::new(Progress::new(graph.nodes.len()));
        let mut request_meta = RequestMeta::default();
        let meta = json!({
            "progressToken": 1,
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        request_meta.meta = meta.as_object().cloned();
        request_meta.listener = Some(Arc::clone(&progress) as _);
        if let Some((state, responses)) = answer {
            request_meta.request_state = Some(state.to_owned());
            request_meta.input_responses = Some(responses);
        }
        let result = host
            .call_with("t", Some(&graph.arguments()), &request_meta)
            .await;
        let milliseconds = remote::milliseconds(start.elapsed());
        progress.check();
        Outcome {
            result,
            log: remote.log(),
            milliseconds,
        }
    })
}

/// Runs a tool to its end, with an answer to each question, and compares each request with the model. Returns all calls that have
/// ended, or `None` if two things happen at the same time and their order matters.
fn compare(graph: &Graph) -> Result<Option<Vec<String>>, TestCaseError> {
    let mut model = Model::new(graph);
    let mut answer: Option<(String, JsonObject)> = None;
    let mut ended = Vec::new();
    loop {
        let Some(round) = model.run() else {
            return Ok(None);
        };
        let sent = answer.take();
        let sent = sent
            .as_ref()
            .map(|(state, responses)| (state.as_str(), responses.clone()));
        let outcome = run(graph, sent);
        let mut expected = round.log.clone();
        let mut found = outcome.log.clone();
        expected.sort();
        found.sort();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(outcome.milliseconds, round.milliseconds);
        let calls = found.iter().filter(|line| line.what == remote::What::Ended);
        ended.extend(calls.map(|line| line.call.clone()));
        match check_end(graph, &round, outcome.result)? {
            Some(next) => answer = Some(next),
            None => return Ok(Some(ended)),
        }
    }
}

/// Compares the result with that of the model. If the result asks the client, returns its state and the answers.
fn check_end(
    graph: &Graph,
    round: &Round,
    result: Result<CallToolResult, CallError>,
) -> Result<Option<(String, JsonObject)>, TestCaseError> {
    let states: JsonObject = round
        .states
        .iter()
        .map(|(step, state)| (name(*step), (*state).into()))
        .collect();
    let states = Value::from(states);
    match (&round.end, result) {
        (End::Over, Ok(result)) => {
            prop_assert_eq!(result.structured_content(), Some(&graph.result()));
        }
        (End::Asks(calls), Ok(result)) => {
            prop_assert_eq!(result.result_type(), "input_required");
            let requests = result.json()["inputRequests"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            let mut found: Vec<_> = requests.keys().cloned().collect();
            let mut expected: Vec<_> = calls
                .iter()
                .map(|call| format!("{}.q", name_of(*call)))
                .collect();
            found.sort();
            expected.sort();
            prop_assert_eq!(&found, &expected);
            let state = result.json()["requestState"]
                .as_str()
                .expect("a state")
                .to_owned();
            let answers = found
                .into_iter()
                .map(|key| (key, json!({ "action": "accept" })));
            return Ok(Some((state, answers.collect())));
        }
        (End::Failed(call), result) => check_failure(graph, *call, &states, result)?,
        (End::TimedOut(steps), Err(error)) => {
            let error = error.to_rpc_error();
            let running: Vec<_> = steps
                .iter()
                .map(|step| format!("`{}` (`m:{}`)", name(*step), graph.nodes[*step].tool()))
                .collect();
            let end = format!("still running: {}", running.join(", "));
            prop_assert!(error.message.ends_with(&end), "{end}: {}", error.message);
            prop_assert_eq!(&error.data.expect("data")["steps"], &states);
        }
        (end, result) => prop_assert!(false, "expected {end:?}, found {result:?}"),
    }
    Ok(None)
}

/// Compares what the client gets if a call has failed.
fn check_failure(
    graph: &Graph,
    call: Call,
    states: &Value,
    result: Result<CallToolResult, CallError>,
) -> Result<(), TestCaseError> {
    let is_error = graph.is_late(call) || graph.plan(call).answer == Answer::Error;
    prop_assert_eq!(result.is_err(), is_error);
    match result {
        Ok(result) => {
            let count = graph.nodes[call.step].calls.len();
            let item = call
                .index
                .map(|index| format!(", item {} of {count}", index + 1));
            let item = item.unwrap_or_default();
            let begin = format!("step \"{}\"{item} failed (m:", name(call.step));
            prop_assert!(result.is_error(), "{result:?}");
            prop_assert!(result.text().starts_with(&begin), "{begin}: {result:?}");
            prop_assert_eq!(&result.json()["_meta"]["mcp-servlet/steps"], states);
        }
        Err(error) => {
            let data = error.to_rpc_error().data.expect("data");
            prop_assert_eq!(data["step"].as_str(), Some(&*name(call.step)));
            prop_assert_eq!(data["index"].as_u64(), call.index.map(|index| index as u64));
            prop_assert_eq!(&data["steps"], states);
        }
    }
    Ok(())
}

fn config(cases: u32) -> ProptestConfig {
    // `PROPTEST_CASES` can ask for more.
    let factor = ProptestConfig::default().cases.div_ceil(256);
    ProptestConfig {
        cases: cases * factor,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn a_tool_runs_as_its_model_does(graph in graphs(30, 0.03, 0.03)) {
        compare(&graph)?;
    }
}

proptest! {
    #![proptest_config(config(10))]

    /// Whichever call asks, the calls that have ended before are not made again, and the result is the same.
    #[test]
    fn a_tool_can_be_cut_at_each_of_its_calls(graph in graphs(8, 0.0, 0.0)) {
        let graph = Graph { timeout: None, ..graph };
        let Some(mut all) = compare(&graph)? else { return Ok(()) };
        all.sort();
        for call in graph.calls().filter(|call| graph.nodes[call.step].when != Some(false)) {
            let mut cut = graph.clone();
            cut.plan_mut(call).asks = true;
            if let Some(mut ended) = compare(&cut)? {
                ended.sort();
                prop_assert_eq!(&ended, &all, "{} asks", name_of(call));
            }
        }
    }
}
