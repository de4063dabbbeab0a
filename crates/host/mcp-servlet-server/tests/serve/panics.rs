//! Panics in the server, caused by a log subscriber that panics.

use std::fmt::Debug;

use mcp_servlet_host::Host;
use mcp_servlet_server::{HttpOptions, Plan, Service};
use puppet::{PATIENCE, eventually};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tracing::{
    Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id},
    subscriber::DefaultGuard,
};
use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt as _};

use wire::{
    Http, Pipe,
    message::{able, stateless},
};

use crate::{log::start_log, support::Wat};

/// A subscriber that panics when a tool called `boom` is called.
struct Fragile;

struct Tool(bool);

impl Visit for Tool {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0 |= field.name() == "tool" && format!("{value:?}").contains("boom");
    }
}

impl<S: Subscriber> Layer<S> for Fragile {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        let mut tool = Tool(false);
        attributes.record(&mut tool);
        assert!(!tool.0, "no space left on device");
    }
}

/// Installs the fragile subscriber for this thread.
fn fragile_log() -> DefaultGuard {
    // With a single subscriber, tracing caches the interest of whichever thread logs first.
    start_log();
    tracing::subscriber::set_default(tracing_subscriber::registry().with(Fragile))
}

async fn ask(client: &mut Pipe, method: &str, params: Value) -> Value {
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    client.ask(able(stateless(method, params), tasks)).await
}

/// A server with two tools; the second makes the subscriber panic. `support` decides whether they run as tasks.
fn plan(support: &str) -> Plan {
    let tool = |name: &str, support: &str| json!({"name": name, "inputSchema": {"type": "object"}, "execution": {"taskSupport": support}});
    let tools = json!({"tools": [tool("boom", support), tool("t", "forbidden")]});
    let wat = Wat::new().describe(&tools.to_string());
    let servlet = wat.answer(r#"{"content":[]}"#).load().expect("a servlet");
    Plan::from_host(Host::new(vec![servlet]))
}

async fn start(plan: Plan) -> Service {
    Service::start(plan).await.expect("a free port")
}

#[tokio::test]
async fn a_panic_is_answered_and_the_next_request_works() {
    let _log = fragile_log();
    let service = start(plan("forbidden")).await;
    let mut client = Pipe::new(service.server().open_pipe());
    for _ in 0..2 {
        let answer = ask(&mut client, "tools/call", json!({"name": "boom"})).await;
        assert_eq!(answer["id"], 1);
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        let message = answer["error"]["message"].as_str().expect("text");
        assert!(message.contains("panicked") && !message.contains("device"));
        let answer = ask(&mut client, "tools/call", json!({"name": "t"})).await;
        assert_eq!(answer["result"]["content"], json!([]));
    }
}

#[tokio::test]
async fn a_task_that_panics_fails() {
    let _log = fragile_log();
    let service = start(plan("required")).await;
    let mut client = Pipe::new(service.server().open_pipe());
    let created = ask(&mut client, "tools/call", json!({"name": "boom"})).await;
    let id = created["result"]["taskId"].clone();
    let task = eventually("the end of the task", async || {
        let task = ask(&mut client, "tasks/get", json!({"taskId": id})).await;
        let has_ended = task["result"]["status"] != "working";
        has_ended.then(|| task["result"].clone())
    })
    .await;
    assert_eq!(task["status"], "failed", "{task}");
    assert_eq!(task["error"]["code"], -32603);
}

#[tokio::test]
async fn a_panic_is_answered_over_http() {
    let _log = fragile_log();
    let mut plan = plan("forbidden");
    plan.transports.http = Some(("127.0.0.1:0".to_owned(), HttpOptions::default()));
    let service = start(plan).await;
    let address = service.listeners()[0].address;
    let client = Http::new(format!("http://{address}/mcp"));
    let request = client.posted(&stateless("tools/call", json!({ "name": "boom" })));
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("a write");
    let mut response = String::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut response));
    read.await.expect("an answer").expect("a read");
    assert!(
        response.contains("-32603") && response.contains("panicked"),
        "{response}"
    );
}
