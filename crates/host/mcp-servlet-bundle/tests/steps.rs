//! Steps: their order against a model, their values, and their inputs.

mod support;

use std::{collections::BTreeSet, sync::Arc};

use mcp_servlet_bundle::{
    Begin, Budget, Call, CheckArguments, JsonObject, MAX_RUNNING, Proven, Refused, Request, Run,
    Session, VirtualTool,
};
use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::{Value, json};
use support::compile;

/// A step of a random tool.
#[derive(Clone, Debug)]
struct Node {
    reads: BTreeSet<usize>,
    after: BTreeSet<usize>,
    /// Whether `when` is true; `None` without `when`.
    when: Option<bool>,
    /// The length of the list of `each`, and how many calls run at once.
    each: Option<(usize, usize)>,
    may_fail: bool,
    fails: bool,
}

/// Steps that read only steps before them, in any order in the file: the second part says where each one is.
fn graphs() -> impl Strategy<Value = (Vec<Node>, Vec<usize>)> {
    let node = (
        vec(any::<Index>(), 0..4),
        vec(any::<Index>(), 0..2),
        prop::option::of(any::<bool>()),
        prop::option::weighted(0.3, (0..20_usize, 1..=16_usize)),
        any::<bool>(),
        prop::bool::weighted(0.1),
    );
    vec(node, 1..=30).prop_flat_map(|nodes| {
        let earlier = |at: usize, picks: &[Index]| match at {
            0 => BTreeSet::new(),
            at => picks.iter().map(|pick| pick.index(at)).collect(),
        };
        let nodes: Vec<_> = nodes
            .into_iter()
            .enumerate()
            .map(|(at, (reads, after, when, each, may_fail, fails))| {
                let reads = earlier(at, &reads);
                let after = earlier(at, &after).difference(&reads).copied().collect();
                Node {
                    reads,
                    after,
                    when,
                    each,
                    may_fail,
                    fails,
                }
            })
            .collect();
        let places: Vec<_> = (0..nodes.len()).collect();
        (Just(nodes), Just(places).prop_shuffle())
    })
}

fn name(node: usize) -> String {
    format!("s{node}")
}

/// The tool whose steps are these nodes, in this order of the file. Its result has all values.
fn tool(nodes: &[Node], file: &[usize]) -> VirtualTool {
    let steps: JsonObject = file
        .iter()
        .map(|node| {
            let Node {
                reads,
                after,
                when,
                each,
                may_fail,
                ..
            } = &nodes[*node];
            let inputs: JsonObject = reads
                .iter()
                .map(|read| {
                    let read = name(*read);
                    (read.clone(), format!("${{{{ steps.?{read} }}}}").into())
                })
                .collect();
            let after: Vec<_> = after.iter().copied().map(name).collect();
            let mut step = json!({
                "handler": "weather:get_weather",
                "inputs": inputs,
                "after": after,
                "may_fail": may_fail,
            });
            if when.is_some() {
                step["when"] = "${{ true }}".into();
            }
            if let Some((_, parallel)) = each {
                step["each"] = "${{ [] }}".into();
                step["parallel"] = (*parallel).into();
            }
            (name(*node), step)
        })
        .collect();
    let values: JsonObject = (0..nodes.len())
        .map(|node| {
            let name = name(node);
            (name.clone(), format!("${{{{ steps.?{name} }}}}").into())
        })
        .collect();
    let result = json!({ "content": [], "structuredContent": values });
    let spec = json!({ "step": steps, "result": result });
    compile(&spec).unwrap_or_else(|problems| panic!("{spec}: {problems:#?}"))
}

/// What the step of a node returns.
fn value(node: usize, index: Option<usize>, fails: bool) -> Value {
    json!({ "node": node, "index": index, "isError": fails })
}

/// What the steps bring if none fails.
fn model(nodes: &[Node]) -> JsonObject {
    let ran = nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.when != Some(false));
    let values = ran.map(|(number, node)| {
        let value = match node.each {
            None => value(number, None, node.fails),
            Some((items, _)) => (0..items)
                .map(|item| value(number, Some(item), node.fails))
                .collect(),
        };
        (name(number), value)
    });
    values.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(300), ..ProptestConfig::default() })]

    #[test]
    fn steps_run_in_the_order_of_the_model(
        (nodes, file) in graphs(),
        picks in vec(any::<Index>(), 700),
        asks in vec(prop::bool::weighted(0.1), 700),
    ) {
        let tool = tool(&nodes, &file);
        let mut test = Test::new(&nodes, &file);
        let mut run = Run::new(&tool);
        let (mut picks, mut asks) = (picks.iter().cycle(), asks.iter().cycle());
        loop {
            if !test.is_asking {
                test.start(&mut run)?;
            }
            if let Some(pick) = (!test.running.is_empty()).then(|| picks.next().expect("a pick")) {
                let call = test.running.swap_remove(pick.index(test.running.len()));
                if *asks.next().expect("a choice") {
                    test.is_asking = true;
                    run.asked(call);
                } else if !test.end(&mut run, call)? {
                    break;
                }
            } else if test.is_asking {
                // Another process goes on.
                let snapshot = Value::Object(run.snapshot());
                run = Run::new(&tool);
                prop_assert!(run.resume(&snapshot).is_some(), "{snapshot}");
                test.is_asking = false;
                test.begun = test.over.clone();
            } else {
                break;
            }
        }
        let states = run.states();
        if let Some(number) = test.failed {
            prop_assert_eq!(&states[&name(number)], "failed");
        } else {
            prop_assert_eq!(test.over.len(), nodes.len(), "{:?}", states);
            prop_assert_eq!(&**run.values(), &model(&nodes));
        }
    }
}

/// What has happened in a run.
struct Test<'n> {
    nodes: &'n [Node],
    file: &'n [usize],
    begun: BTreeSet<usize>,
    over: BTreeSet<usize>,
    running: Vec<Call>,
    /// The calls that have ended: each one does so once, even if others ask.
    ended: BTreeSet<Call>,
    is_asking: bool,
    progress: f64,
    failed: Option<usize>,
}

impl<'n> Test<'n> {
    fn new(nodes: &'n [Node], file: &'n [usize]) -> Self {
        Self {
            nodes,
            file,
            begun: BTreeSet::new(),
            over: BTreeSet::new(),
            running: Vec::new(),
            ended: BTreeSet::new(),
            is_asking: false,
            progress: 0.0,
            failed: None,
        }
    }

    /// How many calls of a step have not ended.
    fn left(&self, step: usize) -> usize {
        let all = self.nodes[self.file[step]]
            .each
            .map_or(1, |(items, _)| items);
        all - self.ended.iter().filter(|call| call.step == step).count()
    }

    fn start(&mut self, run: &mut Run<'_>) -> Result<(), TestCaseError> {
        while let Some(step) = run.ready() {
            let number = self.file[step];
            let node = &self.nodes[number];
            prop_assert!(self.begun.insert(number), "step {number} begins twice");
            let mut waits_for = node.reads.union(&node.after);
            prop_assert!(
                waits_for.all(|other| self.over.contains(other)),
                "step {number} begins too early"
            );
            if node.when == Some(false) {
                run.skip(step);
                self.over.insert(number);
                continue;
            }
            let items = node.each;
            run.begin(
                step,
                items.map(|(items, _)| (0..items).map(Value::from).collect()),
            );
            if self.left(step) == 0 {
                self.over.insert(number);
            }
        }
        while let Some(call) = run.next_call() {
            prop_assert!(!self.ended.contains(&call), "{call:?} runs twice");
            let parallel = self.nodes[self.file[call.step]].each;
            if let (Some(index), Some((_, parallel))) = (call.index, parallel) {
                let running = self.running.iter();
                prop_assert!(running.filter(|other| other.step == call.step).count() < parallel);
                prop_assert_eq!(&run.items(call).expect("items")[index], &json!(index));
            }
            self.running.push(call);
        }
        prop_assert!(self.running.len() <= MAX_RUNNING);
        Ok(())
    }

    /// Ends a call. Returns whether the tool goes on.
    fn end(&mut self, run: &mut Run<'_>, call: Call) -> Result<bool, TestCaseError> {
        let number = self.file[call.step];
        let node = &self.nodes[number];
        if node.fails && !node.may_fail {
            run.failed(call);
            self.failed = Some(number);
            return Ok(false);
        }
        let result = json!({ "node": number, "index": call.index });
        let result = result.as_object().cloned().expect("an object");
        run.ended(call, result, node.fails).expect("it is small");
        self.ended.insert(call);
        if self.left(call.step) == 0 {
            self.over.insert(number);
        }
        prop_assert!(run.progress() >= self.progress, "progress falls");
        self.progress = run.progress();
        Ok(true)
    }
}

/// A search, and a purchase of what it finds.
fn shop(step: Value) -> Proven {
    let steps = json!({
        "search": { "handler": "shop:search", "inputs": { "text": "${{ request.arguments.text }}" } },
        "next": step,
    });
    let result = json!({ "content": [{ "type": "text", "text": "ok" }], "structuredContent": { "all": "${{ steps.?next }}" } });
    let tool = compile(&json!({ "step": steps, "result": result }));
    let tool = tool.unwrap_or_else(|problems| panic!("{problems:#?}"));
    let search = json!({
        "name": "search",
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] },
    });
    let buy = json!({
        "name": "buy",
        "inputSchema": { "type": "object", "properties": { "id": { "type": "string" }, "place": { "type": "integer" } }, "required": ["id"] },
    });
    let proven = tool.prove(&[
        search.as_object().expect("an object"),
        buy.as_object().expect("an object"),
    ]);
    proven.unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn with<T>(run: impl FnOnce(&Request<'_>) -> T) -> T {
    let (arguments, meta) = (json!({ "text": "tea" }), JsonObject::new());
    run(&Request {
        name: "city_weather",
        arguments: arguments.as_object(),
        meta: &meta,
        session: &Session::default(),
    })
}

fn found() -> JsonObject {
    let found =
        json!({ "search": { "structuredContent": { "items": [{ "id": "a" }, { "id": 7 }] } } });
    found.as_object().cloned().expect("an object")
}

const ITEMS: &str = "${{ steps.search.structuredContent.items }}";

#[test]
fn a_step_runs_once_for_each_item() {
    let step = |each: &str, most: usize| json!({ "handler": "shop:buy", "each": each, "most": most, "inputs": { "id": "${{ item.id }}", "place": "${{ index + 1 }}" } });
    let begin =
        |step| with(|request| shop(step).begin(1, request, &found(), &mut Budget::default()));
    let Ok(Begin::Each(items)) = begin(step(ITEMS, 2)) else {
        panic!("a list");
    };
    let error = begin(step(ITEMS, 1)).expect_err("too many");
    assert_eq!(
        error.message,
        "tool `city_weather` cannot run `step.next`: `each` has 2 items, and `most` is 1"
    );
    let error = begin(step("${{ steps.search.structuredContent.items[0].id }}", 1));
    assert_eq!(
        error.expect_err("no list").message,
        "tool `city_weather` cannot run `step.next`: `each` needs a list, found a string"
    );
    let tool = shop(step(ITEMS, 2));
    let inputs = |index: usize| {
        let item = Some((index, &items[index]));
        with(|request| {
            let checks = CheckArguments::Check;
            tool.inputs(1, item, request, &found(), checks, &mut Budget::default())
        })
    };
    let expected = json!({ "id": "a", "place": 1 });
    assert_eq!(inputs(0), Ok(expected.as_object().cloned()));
    let Err(Refused::Error(error)) = inputs(1) else {
        panic!("an error for the client");
    };
    assert_eq!(
        error.message,
        "`shop:buy` does not take the value of `step.next.inputs.id`"
    );
}

#[test]
fn a_condition_skips_a_step() {
    let step = |when: &str| json!({ "handler": "shop:buy", "when": when, "inputs": { "id": "x" } });
    let begin = |when: &str| {
        with(|request| shop(step(when)).begin(1, request, &found(), &mut Budget::default()))
    };
    let size = "size(steps.search.structuredContent.items)";
    assert_eq!(begin(&format!("${{{{ {size} > 2 }}}}")), Ok(Begin::Skip));
    assert_eq!(begin(&format!("${{{{ {size} > 1 }}}}")), Ok(Begin::Once));
    let error = begin("${{ json('1') }}").expect_err("no boolean");
    assert_eq!(
        error.message,
        "tool `city_weather` cannot run `step.next`: `when` needs true or false, found an integer"
    );
    assert_eq!(error.data.expect("data")["at"], json!("step.next.when"));
}

#[test]
fn only_what_is_read_of_a_value_is_kept() {
    let steps = json!({
        "a": { "handler": "x:a" },
        "b": { "handler": "x:b", "inputs": { "v": "${{ steps.a.v }}", "w": "${{ steps.a.structuredContent }}" } },
        "c": { "handler": "x:c", "may_fail": true },
    });
    let result =
        json!({ "content": "${{ steps.b.content }}", "isError": "${{ steps.c.isError }}" });
    let tool = compile(&json!({ "step": steps, "result": result })).expect("a tool");
    let mut run = Run::new(&tool);
    let large =
        json!({ "content": ["x"], "structuredContent": { "v": 1, "content": 2 }, "_meta": {} });
    let large = || large.as_object().cloned().expect("an object");
    let begin = |run: &mut Run<'_>| {
        while let Some(step) = run.ready() {
            run.begin(step, None);
        }
        std::iter::from_fn(|| run.next_call()).collect::<Vec<_>>()
    };
    let calls = begin(&mut run);
    run.ended(calls[0], large(), false).expect("room");
    assert_eq!(
        Value::Object((**run.values()).clone()),
        json!({ "a": { "structuredContent": { "v": 1, "content": 2 }, "v": 1 } })
    );
    let b = begin(&mut run);
    run.ended(b[0], large(), false).expect("room");
    run.ended(calls[1], large(), true).expect("room");
    assert_eq!(
        Value::Object((**run.values()).clone()),
        json!({ "b": { "content": ["x"] }, "c": { "isError": true } }),
        "nothing reads `a` any more"
    );
}

#[test]
fn only_what_loops_read_of_items_is_kept() {
    let steps = json!({
        "a": { "handler": "x:a", "each": "${{ [1, 2] }}" },
        "b": { "handler": "x:b", "inputs": { "v": "${{ steps.a.map(one, one.v + one.?w.orValue(0)) }}" } },
    });
    let result = json!({ "content": "${{ steps.a.map(one, one.content[0]) }}", "isError": "${{ steps.a[0].isError }}" });
    let tool = compile(&json!({ "step": steps, "result": result })).expect("a tool");
    let mut run = Run::new(&tool);
    let items = [1, 2].into_iter().map(Value::from).collect();
    run.begin(0, Some(items));
    let value = |v: i32| json!({ "content": [v], "structuredContent": { "v": v, "x": "long" } });
    for v in [1, 2] {
        let call = run.next_call().expect("a call");
        let value = value(v).as_object().cloned().expect("an object");
        run.ended(call, value, false).expect("room");
    }
    assert_eq!(
        Value::Object((**run.values()).clone()),
        json!({ "a": [{ "content": [1], "isError": false, "v": 1 }, { "content": [2], "isError": false, "v": 2 }] })
    );
}

#[test]
fn what_only_a_skipped_step_reads_is_not_kept() {
    let steps = json!({
        "a": { "handler": "x:a" },
        "b": { "handler": "x:b", "when": "${{ steps.a.v > 1 }}", "inputs": { "v": "${{ steps.a.v }}" } },
        "c": { "handler": "x:c", "after": ["b"] },
    });
    let tool = compile(&json!({ "step": steps, "result": { "content": [] } })).expect("a tool");
    let mut run = Run::new(&tool);
    run.begin(0, None);
    let call = run.next_call().expect("a call");
    let value = json!({ "structuredContent": { "v": 1 } });
    let value = value.as_object().cloned().expect("an object");
    run.ended(call, value, false).expect("room");
    assert_eq!(run.values().get("a"), Some(&json!({ "v": 1 })));
    assert_eq!(run.ready(), Some(1));
    run.skip(1);
    assert!(run.values().is_empty(), "{:?}", run.values());
    assert!(run.sizes().all(|(_, size)| size == 0));
}

#[test]
fn an_item_that_may_fail_is_read_as_one() {
    for (read, problem) in [
        (
            "steps.a.map(one, one.v)",
            Some("step `a` may fail, so `v` may be absent: write `one.?v`"),
        ),
        (
            "steps.a.filter(one, !one.isError).map(one, one.v)",
            Some("step `a` may fail, so `v` may be absent: write `one.?v`"),
        ),
        (
            "steps.a[0].structuredContent.v",
            Some(
                "step `a` may fail, so `structuredContent` may be absent: write `steps.a[0].?structuredContent`",
            ),
        ),
        (
            "steps.a.?v",
            Some(
                "`steps.a` is a list, because of `each`: write `steps.a.map(s, s.?v)` or `steps.a[0].?v`",
            ),
        ),
        ("steps.a.map(one, one.?v)", None),
        ("steps.a.map(one, has(one.v) && !one.isError)", None),
        ("steps.a[0].?error.message", None),
    ] {
        let step = json!({ "handler": "x:a", "each": "${{ [1] }}", "may_fail": true });
        let read = format!("${{{{ {read} }}}}");
        let result = json!({ "content": [], "structuredContent": { "x": read } });
        let tool = compile(&json!({ "step": { "a": step }, "result": result }));
        let problems = tool.err().unwrap_or_default();
        let messages: Vec<_> = problems.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages, Vec::from_iter(problem), "{read}");
    }
}

#[test]
fn results_have_a_limit_together() {
    let steps = json!({ "a": { "handler": "x:a" }, "b": { "handler": "x:b" } });
    let result = json!({ "content": ["${{ steps.a.content }}", "${{ steps.b.content }}"] });
    let tool = compile(&json!({ "step": steps, "result": result })).expect("a tool");
    let mut run = Run::new(&tool);
    for step in [0, 1] {
        run.begin(step, None);
    }
    let large =
        |mib: usize| JsonObject::from_iter([("content".to_owned(), "x".repeat(mib << 20).into())]);
    let call = |step| Call { step, index: None };
    assert!(run.next_call().is_some() && run.next_call().is_some());
    run.ended(call(0), large(12), false).expect("room");
    let error = run.ended(call(1), large(21), false).expect_err("no room");
    assert_eq!(
        error.to_string(),
        "the results of the steps take more than 32 MiB; `b` brought 22 MiB"
    );
}

#[test]
fn results_before_a_snapshot_count() {
    let step = json!({ "handler": "x:a", "each": "${{ request.arguments.ids }}" });
    let result = json!({ "content": [], "structuredContent": { "all": "${{ steps.a }}" } });
    let tool = compile(&json!({ "step": { "a": step }, "result": result })).expect("a tool");
    let items: Arc<[Value]> = [1, 2].into_iter().map(Value::from).collect();
    let large = |mib: usize| json!({ "content": "x".repeat(mib << 20) });
    let large = |mib| large(mib).as_object().cloned().expect("an object");
    let mut run = Run::new(&tool);
    run.begin(0, Some(items.clone()));
    let calls: Vec<_> = std::iter::from_fn(|| run.next_call()).collect();
    run.ended(calls[0], large(20), false).expect("room");
    run.asked(calls[1]);
    let snapshot = Value::Object(run.snapshot());

    let mut run = Run::new(&tool);
    run.resume(&snapshot).expect("a snapshot of this tool");
    run.begin(0, Some(items));
    assert_eq!(run.next_call(), Some(calls[1]));
    run.ended(calls[1], large(20), false).expect_err("no room");
}

#[test]
fn steps_have_names_that_expressions_can_read() {
    for (name, can_be_read) in [("if", true), ("for", true), ("in", false), ("true", false)] {
        let steps = json!({ name: { "handler": "x:a" } });
        let result = json!({ "content": [] });
        let tool = compile(&json!({ "step": steps, "result": result }));
        let message = format!("expressions cannot read a step `{name}`: choose another name");
        let problems = tool.err().unwrap_or_default();
        let has_problem = problems.iter().any(|problem| problem.message == message);
        assert_ne!(has_problem, can_be_read, "{name}: {problems:?}");
        if can_be_read {
            let text = format!("${{{{ steps.?{name}.?text.orValue(steps.{name}.x) }}}}");
            let result = json!({ "content": [text] });
            compile(&json!({ "step": steps, "result": result })).expect("a tool");
        }
    }
}
