//! Remotes, and servers that can be killed.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_servlet_call::{CallError, Listener, Notification, RequestMeta, Sending};
use mcp_servlet_client::{Command, Http, HttpTransport, Target};
use mcp_servlet_host::{CallToolResult, Host, Mount, Prefix};
use mcp_servlet_remote::{RemoteOptions, RemoteServer, State};
use puppet::{Puppet, eventually, eventually_blocking};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// An HTTP server with a runtime of its own, so that it can end with everything that it has open.
pub(crate) struct Mortal {
    pub(crate) address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Mortal {
    pub(crate) fn start(puppet: &Puppet) -> Self {
        Self::start_at(puppet, SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    pub(crate) fn start_at(puppet: &Puppet, address: SocketAddr) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let inside = runtime.enter();
        let listener = bind(address);
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("a port");
        let (listener, app) = (TcpListener::from_std(listener), puppet.app());
        let listener = listener.expect("a socket");
        runtime.spawn(async move { axum::serve(listener, app).await });
        drop(inside);
        Self {
            address,
            runtime: Some(runtime),
        }
    }

    pub(crate) fn target(&self) -> Target {
        http(self.address)
    }

    pub(crate) fn kill(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Binds a port, which a server that was just killed may still have for a moment.
pub(crate) fn bind(address: SocketAddr) -> std::net::TcpListener {
    eventually_blocking(address, || std::net::TcpListener::bind(address))
}

impl Drop for Mortal {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(crate) fn http(address: SocketAddr) -> Target {
    let target = format!("http://{address}/mcp").parse();
    target.expect("a URL")
}

/// A server over HTTP+SSE, whose messages all take the same stream, in order.
pub(crate) fn sse(address: SocketAddr) -> Target {
    let target = Http::new(&format!("http://{address}/sse")).expect("a URL");
    target.transport(HttpTransport::Sse).into()
}

/// A script over standard input and output.
pub(crate) fn child(script: &str) -> Target {
    Command::new(puppet::program()).args([script]).into()
}

/// A server that plays this script.
pub(crate) fn script(json: Value) -> Puppet {
    Puppet::with(serde_json::from_value(json).expect("a script"))
}

/// A server with one tool, whose calls get these replies.
pub(crate) fn with_calls(versions: &[&str], replies: Value) -> Puppet {
    script(script_with_calls(versions, replies))
}

/// The script of that server.
pub(crate) fn script_with_calls(versions: &[&str], replies: Value) -> Value {
    json!({
        "versions": versions,
        "capabilities": { "tools": {}, "logging": {} },
        "replies": { "tools/list": [{ "result": { "tools": [TOOL.clone()] } }], "tools/call": replies },
    })
}

/// A server that asks in its first call, takes the question back during the second call, and asks again in the third.
pub(crate) fn taking_back(question: &Value) -> Puppet {
    let cancel =
        json!({ "method": "notifications/cancelled", "params": { "requestId": "puppet-1" } });
    let done = json!({ "content": [] });
    let replies = json!([
        { "ask": question, "result": done },
        { "before": [cancel], "result": done },
        { "ask": question, "result": done },
    ]);
    with_calls(&["2025-11-25"], replies)
}

static TOOL: std::sync::LazyLock<Value> =
    std::sync::LazyLock::new(|| json!({ "name": "t", "inputSchema": { "type": "object" } }));

/// Options that do not make tests slow.
pub(crate) fn options() -> RemoteOptions {
    let mut options = RemoteOptions::default();
    options.timeout = Duration::from_secs(2);
    options.connect = Duration::from_secs(5);
    options.retries.every = Duration::from_millis(100);
    options
}

pub(crate) async fn connected(name: &str, target: Target) -> Arc<RemoteServer> {
    connected_with(name, target, options()).await
}

pub(crate) async fn connected_with(
    name: &str,
    target: Target,
    options: RemoteOptions,
) -> Arc<RemoteServer> {
    let remote = RemoteServer::start(name, target, options);
    remote.ready().await.expect("a server that answers");
    remote
}

/// A host of remotes, whose tools have the names of their remotes as prefixes.
pub(crate) fn host<'r>(remotes: impl IntoIterator<Item = &'r Arc<RemoteServer>>) -> Host {
    let mounts = remotes.into_iter().map(|remote| Mount {
        member: remote.member(),
        prefix: Prefix::Name(None),
        filter: mcp_servlet_host::Filter::default(),
    });
    Host::compose(mounts.collect())
}

/// Calls the tool `t` of a remote.
pub(crate) async fn call(remote: &Arc<RemoteServer>) -> Result<CallToolResult, CallError> {
    remote
        .member()
        .call_with("t", None, &RequestMeta::default())
        .await
}

/// Keeps what a call sends to the client.
#[derive(Debug, Default)]
pub(crate) struct Heard(pub(crate) Mutex<Vec<Notification>>);

impl Listener for Heard {
    fn notify(&self, notification: Notification) -> Sending<'_> {
        self.0.lock().expect("no panic").push(notification);
        Box::pin(std::future::ready(()))
    }
}

/// The `_meta` of a client with these capabilities.
pub(crate) fn client(capabilities: Value) -> RequestMeta {
    let meta = json!({
        "progressToken": "mine",
        "mcp-servlet/caller": "forged",
        "vendor/key": 1,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let mut request_meta = RequestMeta::default();
    request_meta.meta = meta.as_object().cloned();
    request_meta
}

/// Waits until connections that begin now and are not used have become idle after this time, twice.
pub(crate) async fn others_are_idle(after: Duration) {
    let puppet = with_calls(&["2025-11-25"], json!([{ "result": { "content": [] } }]));
    let mut options = options();
    options.idle = Some(after);
    let other = connected_with("other", http(puppet.http().await), options).await;
    for _ in 0..2 {
        call(&other).await.expect("a result");
        eventually("the other is idle", async || {
            matches!(other.state(), State::Idle)
        })
        .await;
    }
}
