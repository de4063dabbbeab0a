//! Random rules, compared with a second evaluator: clients can neither see nor use what the rules deny.

use std::{collections::BTreeSet, env, fmt::Write as _, time::Duration};

use mcp_servlet_call::Change;
use mcp_servlet_client::{Event, Http, Options, Session};
use mcp_servlet_config::Config;
use mcp_servlet_server::Sha256;
use proptest::{
    prelude::*,
    sample,
    strategy::ValueTree as _,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use puppet::eventually;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};
use wire::message::{able, stateless};

use crate::{site::Site, support::Wat, wasm::describe};

/// How many random lists of rules there are. Each run has others.
const LISTS: usize = 8;

const TOOLS: [&str; 5] = ["a_get", "a_pay", "b_get", "b_pay", "v_pay"];
const PROMPTS: [&str; 2] = ["a_ask", "b_ask"];
const RESOURCES: [&str; 2] = ["docs://a/1", "docs://b/1"];
const TEMPLATES: [&str; 2] = ["docs://a/{id}", "docs://b/{id}"];
/// The amounts of calls.
const AMOUNTS: [Option<i64>; 4] = [None, Some(0), Some(5), Some(50)];
/// Those of calls that run as tasks or through a search.
const SOME_AMOUNTS: [Option<i64>; 2] = [None, Some(5)];

/// A caller, and whether it has the scope `pay`.
#[derive(Clone, Copy, Debug)]
struct Caller {
    name: &'static str,
    has_scope: bool,
}

const CALLERS: [Caller; 3] = [
    Caller {
        name: "ann",
        has_scope: true,
    },
    Caller {
        name: "bob",
        has_scope: false,
    },
    Caller {
        name: "cat",
        has_scope: true,
    },
];

/// A rule, as its author means it.
#[derive(Clone, Debug)]
struct Rule {
    allows: bool,
    names: Names,
    member: Option<&'static str>,
    /// Whether the caller must have the scope `pay`, or must not have it.
    has_scope: Option<bool>,
    /// The only caller it is about.
    subject: Option<&'static str>,
    most: Option<Most>,
}

#[derive(Clone, Debug)]
enum Names {
    Tools(&'static str),
    Prompts(&'static str),
    Resources(&'static str),
}

/// A condition about the argument `amount`.
#[derive(Clone, Copy, Debug)]
struct Most {
    amount: i64,
    may_be_absent: bool,
    /// Whether it is written as `when`. Without a value, that denies.
    is_condition: bool,
}

/// What a caller wants to use.
#[derive(Clone, Copy)]
struct Request<'a> {
    kind: &'a str,
    name: &'a str,
    members: &'a [&'a str],
    is_step: bool,
    caller: Caller,
    amount: Option<i64>,
}

impl Names {
    fn of(&self) -> (&'static str, &'static str) {
        match self {
            Self::Tools(pattern) => ("tools", pattern),
            Self::Prompts(pattern) => ("prompts", pattern),
            Self::Resources(pattern) => ("resources", pattern),
        }
    }
}

/// The patterns have at most one `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
        None => pattern == name,
    }
}

impl Rule {
    fn holds(&self, request: Request<'_>) -> bool {
        let (kind, pattern) = self.names.of();
        let fits = self.most.is_none_or(|most| match request.amount {
            Some(amount) => amount <= most.amount,
            None if most.is_condition => !self.allows,
            None => most.may_be_absent,
        });
        kind == request.kind
            && matches(pattern, request.name)
            && self
                .member
                .is_none_or(|member| request.members.contains(&member))
            && self
                .has_scope
                .is_none_or(|has| has == request.caller.has_scope)
            && self
                .subject
                .is_none_or(|subject| subject == request.caller.name)
            && fits
    }

    fn toml(&self) -> String {
        let (kind, pattern) = self.names.of();
        let effect = if self.allows { "allow" } else { "deny" };
        let mut text = format!("{{ {effect} = {{ {kind} = [\"{pattern}\"] }}");
        if let Some(member) = self.member {
            let _ = write!(text, ", members = [\"{member}\"]");
        }
        let mut conditions = Vec::new();
        match self.has_scope {
            Some(true) if self.allows => text += ", scopes = [\"pay\"]",
            Some(true) => conditions.push("'pay' in caller.scopes".to_owned()),
            Some(false) => conditions.push("!('pay' in caller.scopes)".to_owned()),
            None => {}
        }
        let subject = self.subject;
        conditions.extend(subject.map(|subject| format!("caller.subject == '{subject}'")));
        match self.most {
            Some(most) if most.is_condition => {
                conditions.push(format!("arguments.amount <= {}", most.amount));
            }
            Some(most) => {
                let mark = if most.may_be_absent { "?" } else { "" };
                let _ = write!(
                    text,
                    ", arguments = {{ \"amount{mark}\" = {{ maximum = {} }} }}",
                    most.amount
                );
            }
            None => {}
        }
        if !conditions.is_empty() {
            let _ = write!(text, ", when = \"${{{{ {} }}}}\"", conditions.join(" && "));
        }
        text + " }"
    }
}

/// Whether rules allow something. The first one that holds decides.
fn allows(rules: &[Rule], request: Request<'_>) -> bool {
    let applies = |rule: &&Rule| !request.is_step || rule.member.is_some();
    let decides = rules
        .iter()
        .filter(applies)
        .find(|rule| rule.holds(request));
    decides.map_or(request.is_step, |rule| rule.allows)
}

/// Whether a call is allowed.
fn may_call(rules: &[Rule], tool: &str, caller: Caller, amount: Option<i64>) -> bool {
    let members: &[&str] = match tool {
        "v_pay" => &["a", "ops"],
        tool if tool.starts_with('a') => &["a"],
        _ => &["b"],
    };
    let own = Request {
        kind: "tools",
        name: tool,
        members,
        is_step: false,
        caller,
        amount,
    };
    let step = Request {
        name: "a_pay",
        members: &["a"],
        is_step: true,
        amount: amount.map(|amount| amount * 10),
        ..own
    };
    allows(rules, own) && (tool != "v_pay" || allows(rules, step))
}

fn may_use(rules: &[Rule], kind: &str, name: &str, caller: Caller) -> bool {
    let is_of_a = name.starts_with('a') || name.contains("//a");
    let member = if is_of_a { "a" } else { "b" };
    may_use_of(rules, (member, kind), name, caller)
}

/// Whether some member may be read. Each servlet has each URI, whether it lists the resource or not.
fn may_read(rules: &[Rule], uri: &str, caller: Caller) -> bool {
    let mut members = ["a", "b", "z"].into_iter();
    members.any(|member| may_use_of(rules, (member, "resources"), uri, caller))
}

fn may_use_of(rules: &[Rule], (member, kind): (&str, &str), name: &str, caller: Caller) -> bool {
    let request = Request {
        kind,
        name,
        members: &[member],
        is_step: false,
        caller,
        amount: None,
    };
    allows(rules, request)
}

/// Whether some URI of a template is allowed. One pattern tells `1` from all others.
fn may_see_template(rules: &[Rule], template: &str, caller: Caller) -> bool {
    let uri = |id| template.replace("{id}", id);
    ["1", "2"]
        .iter()
        .any(|id| may_use(rules, "resources", &uri(id), caller))
}

fn rule() -> impl Strategy<Value = Rule> {
    let tools = sample::select(vec!["*", "a_*", "b_*", "*_pay", "*_get", "v_pay", "a_pay"]);
    let prompts = sample::select(vec!["*", "a_*", "b_ask"]);
    let resources = sample::select(vec!["*", "docs://a/*", "docs://b/1"]);
    let names = prop_oneof![
        4 => tools.prop_map(Names::Tools),
        1 => prompts.prop_map(Names::Prompts),
        1 => resources.prop_map(Names::Resources),
    ];
    let most = (sample::select(vec![3, 30]), any::<bool>(), any::<bool>());
    let most = most.prop_map(|(amount, may_be_absent, is_condition)| Most {
        amount,
        may_be_absent,
        is_condition,
    });
    let member = prop::option::of(sample::select(vec!["a", "b", "ops"]));
    let parts = (
        any::<bool>(),
        names,
        member,
        prop::option::of(any::<bool>()),
        prop::option::weighted(0.2, sample::select(vec!["ann", "bob", "cat"])),
        prop::option::of(most),
    );
    parts.prop_map(|(allows, names, member, has_scope, subject, most)| Rule {
        allows,
        most: most.filter(|_| matches!(names, Names::Tools(_))),
        names,
        member,
        has_scope,
        subject,
    })
}

/// Rules that the configuration accepts: each kind has one that allows.
fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let last = (
        sample::select(vec!["*", "a_*"]),
        sample::select(vec!["*", "b_*"]),
        sample::select(vec!["*", "docs://a*"]),
    );
    (prop::collection::vec(rule(), 1..6), last).prop_map(
        |(mut rules, (tools, prompts, resources))| {
            let last = [
                Names::Tools(tools),
                Names::Prompts(prompts),
                Names::Resources(resources),
            ];
            rules.extend(last.map(|names| Rule {
                allows: true,
                names,
                member: None,
                has_scope: None,
                subject: None,
                most: None,
            }));
            rules
        },
    )
}

/// A servlet with tools, a prompt, a resource and a template. Its calls are tasks for clients that have them.
fn member(name: &str) -> Vec<u8> {
    let tools = ["get", "pay"].map(|tool| {
        let properties = json!({ "amount": { "type": "integer" } });
        json!({ "name": format!("{name}_{tool}"), "inputSchema": { "type": "object", "properties": properties },
            "execution": { "taskSupport": "optional" } })
    });
    let output = "(call $output {}) (i32.const 0)";
    let prompt = json!({ "name": format!("{name}_ask"), "arguments": [{ "name": "x" }] });
    let resource = json!({ "uri": format!("docs://{name}/1"), "name": "r" });
    let template = json!({ "uriTemplate": format!("docs://{name}/{{id}}"), "name": "r" });
    let mut wat = Wat::new()
        .describe(&json!({ "tools": tools }).to_string())
        .answer(r#"{"content":[]}"#);
    for (export, answer) in [
        ("list_prompts", json!({ "prompts": [prompt] })),
        ("list_resources", json!({ "resources": [resource] })),
        (
            "list_resource_templates",
            json!({ "resourceTemplates": [template] }),
        ),
        ("get_prompt", json!({ "messages": [] })),
        (
            "read_resource",
            json!({ "contents": [{ "uri": "docs://x", "text": "t" }] }),
        ),
        ("complete", json!({ "completion": { "values": ["v"] } })),
    ] {
        wat = wat.export(export, &answer.to_string(), output);
    }
    wat.wasm()
}

const SERVLETS: &str = "[listener.l]\naddress = \"127.0.0.1:0\"\n\
    [servlet.a]\nsource = \"a.wasm\"\n[servlet.b]\nsource = \"b.wasm\"\n[servlet.z]\nsource = \"z.wasm\"\n\
    [bundle.ops.tool.v_pay]\nhandler = \"a:a_pay\"\n\
    inputs = { amount = \"${{ has(request.arguments.amount) ? optional.of(request.arguments.amount * 10) : optional.none() }}\" }\n\
    arguments = { type = \"object\", properties = { amount = { type = \"integer\" } } }\n";

fn config(endpoints: &[Vec<Rule>]) -> String {
    let key = |Caller { name, has_scope }| {
        let digest = Sha256::of(format!("the key of {name}").as_bytes());
        let scopes = if has_scope { "\"pay\"" } else { "" };
        format!(
            "{{ name = \"{name}\", sha256 = \"{digest}\", header = \"x-api-key\", scopes = [{scopes}] }}"
        )
    };
    let mut text = SERVLETS.to_owned();
    let _ = writeln!(text, "[auth.corp]\nkey = [{}]", CALLERS.map(key).join(", "));
    for (number, rules) in endpoints.iter().enumerate() {
        // All callers may read `docs://z/*`. Its notification shows that an earlier one was not sent.
        let open = "{ allow = { resources = [\"docs://z/*\"] } }".to_owned();
        let rules: Vec<_> = std::iter::once(open)
            .chain(rules.iter().map(Rule::toml))
            .collect();
        let rules = rules.join(", ");
        for (endpoint, more) in [("e", ""), ("s", "tools = { search = true }\n")] {
            let _ = writeln!(
                text,
                "[endpoint.{endpoint}{number}]\nkind = \"http\"\nlistener = \"l\"\n\
                 path = \"/{endpoint}{number}\"\nauth = \"corp\"\n{more}rules = [{rules}]"
            );
        }
    }
    text
}

async fn connect(site: &Site, endpoint: &str, caller: Caller) -> Session {
    let http = Http::new(site.url(endpoint)).expect("a URL");
    let http = http.header("x-api-key", &format!("the key of {}", caller.name));
    let http = http.expect("a header").into();
    let session = Session::connect_with(&http, &Options::new()).await;
    session.expect("a session")
}

/// Whether a subscription to a resource gets its changes.
async fn is_notified(site: &Site, endpoint: &str, session: &Session, uri: &str) -> bool {
    let uris = [uri, "docs://z/1", "docs://z/2"];
    let mut events = session.watch(uris).await.expect("events");
    let server = site.service.server_of(endpoint).expect("an endpoint");
    let notify = |uri: &str| server.notify(Change::Resource(uri.to_owned()));
    let of = |uri: &str| {
        let uri = uri.to_owned();
        Event::ResourceUpdated { uri }
    };
    // The subscription begins a moment after it is accepted.
    for _ in 0..600 {
        notify(uris[1]);
        let wait = Duration::from_millis(100);
        if tokio::time::timeout(wait, events.next()).await.is_ok() {
            break;
        }
    }
    notify(uri);
    notify(uris[2]);
    let mut is_notified = false;
    loop {
        let event = tokio::time::timeout(Duration::from_mins(1), events.next()).await;
        let event = event
            .expect("in time")
            .expect("an event")
            .expect("an event");
        if event == of(uris[2]) {
            return is_notified;
        }
        is_notified |= event == of(uri);
    }
}

/// Checks everything that a caller can see and do.
async fn check(site: &Site, number: usize, rules: &[Rule], caller: Caller) {
    let endpoint = &*format!("e{number}");
    let session = connect(site, endpoint, caller).await;
    let at = || format!("{endpoint}, {caller:?}: {rules:#?}");
    let lists = json!(session.lists().await.expect("lists")).to_string();
    let is_listed = |name: &str| lists.contains(&format!("\"{name}\""));
    for tool in TOOLS {
        let mut is_useful = false;
        for amount in AMOUNTS {
            let allowed = may_call(rules, tool, caller, amount);
            is_useful |= allowed;
            match session.call(tool, arguments(amount)).await {
                Ok(result) => {
                    let result = json!(result.raw);
                    assert_eq!(
                        result["isError"] != true,
                        allowed,
                        "{tool} {amount:?}: {result}, {}",
                        at()
                    );
                    assert!(is_listed(tool), "{tool}: {}", at());
                }
                Err(error) => {
                    assert!(
                        !allowed && !is_listed(tool),
                        "{tool} {amount:?}: {error}, {}",
                        at()
                    );
                    assert!(error.to_string().contains("unknown tool"), "{error}");
                }
            }
        }
        assert!(!is_useful || is_listed(tool), "{tool}: {}", at());
        let near = session
            .call(&format!("{tool}x"), json!({}))
            .await
            .expect_err("an error");
        let similar = near
            .data()
            .and_then(|data| data["similar"].as_str())
            .map(str::to_owned);
        assert!(
            similar.is_none_or(|similar| is_listed(&similar)),
            "{near}, {}",
            at()
        );
    }
    check_others(site, (endpoint, &session), &lists, (rules, caller)).await;
    session.close().await;
    check_tasks(site, endpoint, rules, caller).await;
    let listed = TOOLS.into_iter().filter(|tool| is_listed(tool)).collect();
    check_search(site, (&format!("s{number}"), &listed), rules, caller).await;
}

fn arguments(amount: Option<i64>) -> Value {
    amount.map_or_else(|| json!({}), |amount| json!({ "amount": amount }))
}

/// The response to a caller whose client has tasks.
fn ask(site: &Site, endpoint: &str, caller: Caller, (method, params): (&str, Value)) -> Value {
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let client = site.http(endpoint);
    let client = client.with("x-api-key", &format!("the key of {}", caller.name));
    client
        .post(&able(stateless(method, params), tasks))
        .message()
}

/// Checks calls that run as tasks: a denied one does nothing, and a task does not exist for other callers.
async fn check_tasks(site: &Site, endpoint: &str, rules: &[Rule], caller: Caller) {
    let at = || format!("{endpoint}, {caller:?}: {rules:#?}");
    let other = CALLERS.into_iter().find(|one| one.name != caller.name);
    let other = other.expect("another caller");
    for tool in TOOLS {
        for amount in SOME_AMOUNTS {
            let call = json!({ "name": tool, "arguments": arguments(amount) });
            let mut outcome = ask(site, endpoint, caller, ("tools/call", call));
            if let Some(id) = outcome["result"]["taskId"].as_str() {
                let get = |caller| {
                    ask(
                        site,
                        endpoint,
                        caller,
                        ("tasks/get", json!({ "taskId": id })),
                    )
                };
                let unknown = get(other);
                assert!(unknown["error"].is_object(), "{tool}: {unknown}, {}", at());
                let mut last = Value::Null;
                eventually("the end of the task", async || {
                    last = get(caller)["result"].take();
                    ["completed", "failed"]
                        .map(Value::from)
                        .contains(&last["status"])
                })
                .await;
                outcome = last;
            }
            let is_done =
                outcome["result"]["content"].is_array() && outcome["result"]["isError"] != true;
            let allowed = may_call(rules, tool, caller, amount);
            assert_eq!(is_done, allowed, "{tool} {amount:?}: {outcome}, {}", at());
        }
    }
}

/// Checks an endpoint with a search: callers find and call the tools that are `listed` at the other endpoint.
async fn check_search(
    site: &Site,
    (endpoint, listed): (&str, &BTreeSet<&str>),
    rules: &[Rule],
    caller: Caller,
) {
    let at = || format!("{endpoint}, {caller:?}: {rules:#?}");
    let session = connect(site, endpoint, caller).await;
    let query = json!({ "query": "get pay", "most": 20 });
    let found = session.call("find_tools", query).await.expect("a result");
    let found = json!(found.raw)["structuredContent"].take();
    let tools = found["tools"].as_array().expect("tools").iter();
    let names: BTreeSet<_> = tools.filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, *listed, "{}", at());
    for tool in TOOLS {
        for amount in SOME_AMOUNTS {
            let call = json!({ "name": tool, "arguments": arguments(amount) });
            let result = session.call("call_tool", call).await;
            let is_done = result.is_ok_and(|result| !result.is_error);
            let allowed = may_call(rules, tool, caller, amount);
            assert_eq!(is_done, allowed, "{tool} {amount:?}: {}", at());
        }
        let call = json!({ "name": format!("{tool}x"), "arguments": {} });
        let text = match session.call("call_tool", call).await {
            Ok(result) => result.text(),
            Err(error) => error.to_string(),
        };
        for hidden in TOOLS.iter().filter(|tool| !listed.contains(*tool)) {
            assert!(!text.contains(&format!("`{hidden}`")), "{text}: {}", at());
        }
    }
    session.close().await;
}

/// The same for prompts and resources.
async fn check_others(
    site: &Site,
    (endpoint, session): (&str, &Session),
    lists: &str,
    (rules, caller): (&[Rule], Caller),
) {
    let at = || format!("{endpoint}, {caller:?}: {rules:#?}");
    let is_listed = |name: &str| lists.contains(&format!("\"{name}\""));
    for prompt in PROMPTS {
        let allowed = may_use(rules, "prompts", prompt, caller);
        assert_eq!(is_listed(prompt), allowed, "{prompt}: {}", at());
        let got = session.prompt(prompt, [("x", "y")]).await;
        assert_eq!(got.is_ok(), allowed, "{prompt}: {}", at());
        let completed = session.complete_prompt(prompt, "x", "", Value::Null).await;
        assert_eq!(completed.is_ok(), allowed, "{prompt}: {}", at());
    }
    for uri in RESOURCES {
        let allowed = may_use(rules, "resources", uri, caller);
        assert_eq!(is_listed(uri), allowed, "{uri}: {}", at());
        let read = session.read_result(uri).await;
        let may_read = may_read(rules, uri, caller);
        assert_eq!(read.is_ok(), may_read, "{uri}: {}", at());
        let notified = is_notified(site, endpoint, session, uri).await;
        assert_eq!(notified, allowed, "{uri}: {}", at());
    }
    for template in TEMPLATES {
        let allowed = may_see_template(rules, template, caller);
        assert_eq!(is_listed(template), allowed, "{template}: {}", at());
        let completed = session
            .complete_template(template, "id", "", Value::Null)
            .await;
        assert_eq!(completed.is_ok(), allowed, "{template}: {}", at());
        // It is not in the list of resources.
        let uri = template.replace("{id}", "2");
        let read = session.read_result(&uri).await;
        let may_read = may_read(rules, &uri, caller);
        assert_eq!(read.is_ok(), may_read, "{uri}: {}", at());
    }
}

/// The variable with the seed of a test that is to be repeated.
const SEED: &str = "RULES_SEED";

/// Other rules in each run. A failed test prints the seed.
fn runner() -> TestRunner {
    let mut seed = [0; 8];
    SystemRandom::new().fill(&mut seed).expect("random bytes");
    let seed = match env::var(SEED) {
        Ok(seed) => seed.parse().expect("a number"),
        Err(_) => u64::from_ne_bytes(seed),
    };
    eprintln!("to repeat this: {SEED}={seed}");
    let seed = [seed.to_le_bytes(), [0; 8], [0; 8], [0; 8]].concat();
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    TestRunner::new_with_rng(ProptestConfig::default(), rng)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_place_shows_or_does_what_rules_deny() {
    let mut runner = runner();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("servlet.toml");
    for name in ["a", "b", "z"] {
        std::fs::write(folder.path().join(format!("{name}.wasm")), member(name)).expect("a file");
    }
    let mut endpoints = Vec::new();
    while endpoints.len() < LISTS {
        let rules = rules().new_tree(&mut runner).expect("rules").current();
        std::fs::write(&path, config(std::slice::from_ref(&rules))).expect("a file");
        // Some random rules are never reached, which is an error.
        match Config::check(&path) {
            Ok(_) => endpoints.push(rules),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("never reached"), "{text}");
            }
        }
    }
    let z = describe(&[]);
    let z = Wat::new().describe(&z).answer("{}");
    let two = ["docs://z/1", "docs://z/2"].map(|uri| json!({ "uri": uri, "name": "z" }));
    let list = json!({ "resources": two }).to_string();
    let output = "(call $output {}) (i32.const 0)";
    let z = z.export("list_resources", &list, output);
    let z = z
        .export("read_resource", r#"{"contents":[]}"#, output)
        .wasm();
    let (a, b) = (member("a"), member("b"));
    let files = [("a.wasm", &*a), ("b.wasm", &*b), ("z.wasm", &*z)];
    let site = Site::start(&config(&endpoints), &files).await;
    for (number, rules) in endpoints.iter().enumerate() {
        for caller in CALLERS {
            check(&site, number, rules, caller).await;
        }
    }
}
