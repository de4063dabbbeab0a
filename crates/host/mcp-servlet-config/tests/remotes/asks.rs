//! Requests of a remote to the client: elicitation, sampling and roots.

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use mcp_servlet_client::{
    Answers, Elicitation, Input, Offers, Options, Refusal, Relayed, Root, Session,
};
use serde_json::{Value, json};

use crate::{
    site::{OLD, PIPE, Site, WAYS, WEB},
    support::{script, script_with_calls},
};

/// A client that can answer everything.
struct Able;

impl Answers for Able {
    fn offers(&self) -> Offers {
        Offers {
            elicitation: true,
            sampling: true,
            roots: true,
        }
    }

    fn elicit(&self, request: Elicitation) -> BoxFuture<'_, Input> {
        assert_eq!(request.message, "Which city?");
        ready(Input::Accept(json!({ "city": "Oslo" }))).boxed()
    }

    fn sample(&self, request: Value) -> BoxFuture<'_, Option<Value>> {
        assert_eq!(request["messages"], messages());
        assert_eq!(request["maxTokens"], 9);
        ready(Some(sample())).boxed()
    }

    fn roots(&self) -> BoxFuture<'_, Vec<Root>> {
        let root = Root {
            uri: "file:///work".to_owned(),
            name: Some("work".to_owned()),
        };
        ready(vec![root]).boxed()
    }
}

fn messages() -> Value {
    json!([{ "role": "user", "content": { "type": "text", "text": "The capital of France?" } }])
}

fn sample() -> Value {
    json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "Paris" } })
}

/// The requests of a remote, and the answer of the client to each.
fn requests() -> [(Value, Value); 3] {
    let form = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let params = json!({ "mode": "form", "message": "Which city?", "requestedSchema": form });
    let elicitation = json!({ "method": "elicitation/create", "params": params });
    let params = json!({ "messages": messages(), "maxTokens": 9 });
    let sampling = json!({ "method": "sampling/createMessage", "params": params });
    let roots = json!({ "method": "roots/list", "params": {} });
    let accepted = json!({ "action": "accept", "content": { "city": "Oslo" } });
    let work = json!({ "roots": [{ "uri": "file:///work", "name": "work" }] });
    [(elicitation, accepted), (sampling, sample()), (roots, work)]
}

/// The script of a remote that sends the request in the arguments of its call, and returns the answer. It is called this
/// often.
fn asking(version: &str, calls: usize) -> Value {
    let request =
        json!({ "method": "$params/arguments/method", "params": "$params/arguments/params" });
    let returns = |answer: &str| json!({ "content": [], "structuredContent": { "is": answer } });
    if version == "2025-11-25" {
        let reply = json!({ "ask": request, "result": returns("$answer") });
        return script_with_calls(&[version], json!([reply]));
    }
    let asks = json!({ "resultType": "input_required", "inputRequests": { "q": request } });
    let replies = [asks, returns("$params/inputResponses/q")];
    let replies = replies.map(|result| json!({ "result": result }));
    let replies = replies.iter().cycle().take(2 * calls);
    script_with_calls(&[version], replies.cloned().collect())
}

/// How to reach a remote that plays a script. A command reads it from `asking.json`.
async fn target(transport: &str, asking: &Value) -> String {
    if transport == "stdio" {
        let command = json!([puppet::program(), "./asking.json"]);
        return format!("command = {command}");
    }
    let address = script(asking.clone()).http().await;
    let path = if transport == "sse" { "sse" } else { "mcp" };
    format!("url = \"http://{address}/{path}\"\ntransport = \"{transport}\"")
}

/// A server with such a remote, and with a virtual tool that calls it.
async fn site(transport: &str, asking: &Value) -> Site {
    let target = target(transport, asking).await;
    let bundle = "[bundle.ops.tool.mine]\nhandler = \"far:t\"";
    let far = format!("[remote.far]\n{target}\nrequired = true\n");
    let script = asking.to_string();
    let files: [(&str, &[u8]); 1] = [("asking.json", script.as_bytes())];
    Site::start(&format!("{WEB}{OLD}{PIPE}{far}{bundle}\n"), &files).await
}

async fn answer(session: &Session, tool: &str, request: &Value) -> Value {
    let called = session.call(tool, request.clone()).await;
    let called = called.unwrap_or_else(|error| panic!("{tool} {request}: {error}"));
    let mut raw: Value = serde_json::from_str(called.raw.get()).expect("JSON");
    raw["structuredContent"]["is"].take()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_request_of_a_remote_reaches_the_client_and_the_answer_the_remote() {
    for (transport, version) in [
        ("http", "2025-11-25"),
        ("http", "2026-07-28"),
        ("stdio", "2025-11-25"),
        ("stdio", "2026-07-28"),
        ("sse", "2025-11-25"),
    ] {
        let asking = asking(version, 2 * WAYS.len() * requests().len());
        let site = site(transport, &asking).await;
        for (way, endpoint) in WAYS {
            let options = Options::new().answers(Able);
            let session = site.connect_with(way, endpoint, options).await;
            for (request, expected) in requests() {
                for tool in ["t", "mine"] {
                    let found = answer(&session, tool, &request).await;
                    assert_eq!(found, expected, "{transport} {version} {way:?} {tool}");
                }
            }
        }
    }
}

/// A client that refuses everything with an error.
pub(crate) struct Refusing;

impl Answers for Refusing {
    fn offers(&self) -> Offers {
        Able.offers()
    }

    fn relay<'a>(&'a self, _: &'a str, _: &'a Value) -> Option<Relayed<'a>> {
        let refusal = Refusal {
            code: -32_602,
            message: "not today".to_owned(),
            data: Some(json!({ "retry": false })),
        };
        Some(ready(Err(refusal)).boxed())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_error_of_a_client_reaches_the_remote_and_the_call_goes_on() {
    for transport in ["http", "stdio"] {
        let asking = asking("2025-11-25", 18);
        let site = site(transport, &asking).await;
        let error = json!({ "code": -32_602, "message": "not today", "data": { "retry": false } });
        // Since 2026-07-28, a client cannot answer with an error.
        for (way, endpoint) in WAYS.into_iter().filter(|(way, _)| way.is_legacy()) {
            let options = Options::new().answers(Refusing);
            let session = site.connect_with(way, endpoint, options).await;
            for (request, _) in requests() {
                for tool in ["t", "mine"] {
                    let found = answer(&session, tool, &request).await;
                    assert_eq!(found, error, "{transport} {way:?} {tool} {request}");
                }
            }
        }
        let metrics = site.service.metrics();
        let once = "servlet_calls_total{servlet=\"far\",tool=\"t\",outcome=\"ok\"} 9\n";
        assert!(metrics.contains(once), "{metrics}");
    }
}
