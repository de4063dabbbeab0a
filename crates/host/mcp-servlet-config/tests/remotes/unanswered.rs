//! Requests of a remote that its client does not answer: they end, and with them the call that waits for the answer.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::future::{BoxFuture, FutureExt as _, pending};
use mcp_servlet_client::{
    Answers, CallResult, Elicitation, Error, Input, Offers, Options, Session,
};
use puppet::{Puppet, eventually};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use wire::{
    Pipe,
    message::{HANDSHAKE, able, initialize, initialized, numbered, request},
};

use crate::{
    site::{OLD, PIPE, Site, WAYS, WEB, Way},
    support::{script_with_calls, taking_back, with_calls},
};

/// Ways in which the server sends its request while the request of the client is open.
const LEGACY: [Way; 3] = [Way::HttpLegacy, Way::Sse, Way::PipeLegacy];

/// A client whose user never answers. It counts the requests that it gets.
#[derive(Default)]
pub(crate) struct Silent(Arc<AtomicUsize>);

impl Answers for Silent {
    fn offers(&self) -> Offers {
        Offers {
            elicitation: true,
            ..Offers::default()
        }
    }

    fn elicit(&self, _: Elicitation) -> BoxFuture<'_, Input> {
        self.0.fetch_add(1, Ordering::Relaxed);
        pending().boxed()
    }
}

fn question() -> Value {
    let form = json!({ "type": "object", "properties": {} });
    let params = json!({ "mode": "form", "message": "Which city?", "requestedSchema": form });
    json!({ "method": "elicitation/create", "params": params })
}

/// A tool with a step that calls the remote.
const STEPS: &str =
    "[bundle.b.tool.run]\nresult = { content = [] }\nstep.ask = { handler = \"far:t\" }\n";

/// A remote that asks in its first call, which it does not end by itself. It answers all others.
fn asking() -> Puppet {
    let replies = json!([{ "ask": question() }, { "result": { "content": [] } }]);
    with_calls(&["2025-11-25"], replies)
}

/// A server with that remote, and with these keys in each endpoint.
async fn site(puppet: &Puppet, keys: &str) -> Site {
    let address = puppet.http().await;
    // Over this transport, the remote's call stays open without a response.
    let far = format!(
        "[remote.far]\nurl = \"http://{address}/sse\"\ntransport = \"sse\"\nrequired = true\n"
    );
    let config = format!("{WEB}{keys}{OLD}{keys}{PIPE}{keys}{far}{STEPS}");
    Site::start(&config, &[]).await
}

fn endpoint(way: Way) -> &'static str {
    let found = WAYS.into_iter().find(|(one, _)| *one == way);
    found.expect("an endpoint for each way").1
}

/// A client in a call whose question it has got.
struct Asked {
    session: Arc<Session>,
    call: JoinHandle<Result<CallResult, Error>>,
}

async fn ask(site: &Site, way: Way) -> Asked {
    let asked = Arc::new(AtomicUsize::new(0));
    let options = Options::new().answers(Silent(Arc::clone(&asked)));
    let session = site.connect_with(way, endpoint(way), options).await;
    let session = Arc::new(session);
    let caller = Arc::clone(&session);
    let call = tokio::spawn(async move { caller.call("t", json!({})).await });
    eventually("the question", async || asked.load(Ordering::Relaxed) == 1).await;
    Asked { session, call }
}

/// Waits until the remote has learned that its call was cancelled. It gets the answer `cancel` first.
async fn ends(puppet: &Puppet) {
    eventually("`notifications/cancelled`", async || {
        puppet.received("notifications/cancelled") == 1
    })
    .await;
    let cancel = json!({ "action": "cancel" });
    assert!(puppet.log().iter().any(|one| one["result"] == cancel));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_the_client_cancels_during_a_question_ends_at_the_remote() {
    for way in LEGACY {
        let puppet = asking();
        let site = site(&puppet, "").await;
        let Asked { session, call } = ask(&site, way).await;
        assert_eq!(puppet.received("notifications/cancelled"), 0, "{way:?}");
        call.abort();
        ends(&puppet).await;
        let next = session.call("t", json!({})).await;
        next.unwrap_or_else(|error| panic!("{way:?}: {error}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_question_takes_too_long_ends_at_the_remote() {
    for (way, _) in WAYS {
        let puppet = asking();
        let site = site(&puppet, "question_time = \"300ms\"\n").await;
        let Asked { session, call } = ask(&site, way).await;
        ends(&puppet).await;
        if LEGACY.contains(&way) {
            let error = call.await.expect("no panic").expect_err("no answer");
            let text = error.to_string();
            assert!(text.contains("no response within 300ms"), "{way:?}: {text}");
        } else {
            // This client has no open request. It only waits for its user.
            call.abort();
        }
        let next = session.call("t", json!({})).await;
        next.unwrap_or_else(|error| panic!("{way:?}: {error}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_ends_with_the_session_of_a_client_that_has_no_open_request() {
    let puppet = asking();
    let site = site(&puppet, "").await;
    let Asked { session, call } = ask(&site, Way::PipeModern).await;
    call.abort();
    call.await.expect_err("it was aborted");
    assert_eq!(puppet.received("notifications/cancelled"), 0);
    let session = Arc::into_inner(session).expect("no other handle");
    session.close().await;
    ends(&puppet).await;
}

/// A client on a pipe whose call with the id 1 has led to a question, and the id of the question.
async fn ask_on_pipe(site: &Site, tool: &str) -> (Pipe, Value) {
    let mut pipe = Pipe::new(site.pipe("pipe"));
    let elicits = able(initialize(HANDSHAKE), json!({ "elicitation": {} }));
    pipe.ask(elicits).await;
    pipe.send(initialized()).await;
    let mut message = pipe
        .ask(request("tools/call", json!({ "name": tool })))
        .await;
    while message["method"] != "elicitation/create" {
        message = pipe.next().await;
    }
    (pipe, message["id"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_ends_when_its_client_disconnects() {
    let puppet = asking();
    let site = site(&puppet, "").await;
    drop(ask_on_pipe(&site, "t").await);
    ends(&puppet).await;
}

/// The id of the question that the server takes back, and the response to the call with this id.
async fn taken_back_and_answered(pipe: &mut Pipe, id: u64) -> (Value, Value) {
    let (mut taken_back, mut response) = (Value::Null, Value::Null);
    while taken_back.is_null() || response.is_null() {
        let message = pipe.next().await;
        if message["method"] == "notifications/cancelled" {
            taken_back = message["params"]["requestId"].clone();
        } else if message["method"].is_null() && message["id"] == id {
            response = message;
        }
    }
    (taken_back, response)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_ends_when_the_remote_answers_its_call() {
    for tool in ["t", "run"] {
        let replies = json!([{ "ask": question(), "result": { "content": [] } }]);
        let puppet = with_calls(&["2025-11-25"], replies);
        let site = site(&puppet, "").await;
        let (mut pipe, question) = ask_on_pipe(&site, tool).await;
        puppet.give_up();
        let (taken_back, response) = taken_back_and_answered(&mut pipe, 1).await;
        assert_eq!(taken_back, question, "{tool}");
        assert_eq!(response["result"]["content"], json!([]), "{response}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_ends_when_the_remote_takes_it_back_and_its_call_goes_on() {
    for tool in ["t", "run"] {
        let puppet = taking_back(&question());
        let site = site(&puppet, "").await;
        let (mut pipe, question) = ask_on_pipe(&site, tool).await;
        let other = request("tools/call", json!({ "name": "t" }));
        pipe.send(numbered(2, other)).await;
        let (taken_back, response) = taken_back_and_answered(&mut pipe, 2).await;
        assert_eq!(taken_back, question, "{tool}");
        assert_eq!(response["result"]["content"], json!([]), "{response}");
        puppet.give_up();
        let mut response = pipe.next().await;
        while response["id"] != 1 {
            response = pipe.next().await;
        }
        assert_eq!(response["result"]["content"], json!([]), "{response}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_ends_with_its_remote() {
    for tool in ["t", "run"] {
        let replies = json!([{ "ask": question() }, { "exit": 3 }]);
        let script = script_with_calls(&["2025-11-25"], replies).to_string();
        let command = json!([puppet::program(), "./asking.json"]);
        let far = format!("[remote.far]\ncommand = {command}\nrequired = true\n");
        let files = [("asking.json", script.as_bytes())];
        let site = Site::start(&format!("{WEB}{PIPE}{far}{STEPS}"), &files).await;
        let (mut pipe, question) = ask_on_pipe(&site, tool).await;
        let other = request("tools/call", json!({ "name": "t" }));
        pipe.send(numbered(2, other)).await;
        let (taken_back, response) = taken_back_and_answered(&mut pipe, 1).await;
        assert_eq!(taken_back, question, "{tool}");
        assert_eq!(response["error"]["code"], -32000, "{response}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_answer_is_not_asked_by_further_steps() {
    let asks = json!({ "resultType": "input_required", "inputRequests": { "q": question() } });
    let puppet = with_calls(&["2026-07-28"], json!([{ "result": asks }]));
    let address = puppet.http().await;
    let keys = "question_time = \"200ms\"\n";
    let far = format!("[remote.far]\nurl = \"http://{address}/mcp\"\nrequired = true\n");
    let tool = "[bundle.b.tool.run]\nresult = { content = [] }\n\
                step.one = { handler = \"far:t\", may_fail = true }\n\
                step.two = { handler = \"far:t\", may_fail = true }\n\
                step.three = { handler = \"far:t\", may_fail = true, after = [\"one\"] }\n";
    let config = format!("{WEB}{keys}{OLD}{keys}{PIPE}{keys}{far}{tool}");
    let site = Site::start(&config, &[]).await;
    for way in LEGACY {
        let asked = Arc::new(AtomicUsize::new(0));
        let options = Options::new().answers(Silent(Arc::clone(&asked)));
        let session = site.connect_with(way, endpoint(way), options).await;
        let result = session.call("run", json!({})).await;
        result.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        assert_eq!(asked.load(Ordering::Relaxed), 1, "{way:?}");
    }
}
