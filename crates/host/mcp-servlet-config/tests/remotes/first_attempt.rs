//! Clients that come while a remote connects for the first time.

use std::net::{SocketAddr, TcpListener};

use puppet::Puppet;
use serde_json::json;

use crate::{
    site::{OLD, PIPE, Site, WAYS, WEB, tools},
    support::{bind, script},
};

/// A server that lets clients wait until it is served.
fn silent() -> (TcpListener, String) {
    let listener = bind(SocketAddr::from(([127, 0, 0, 1], 0)));
    listener.set_nonblocking(true).expect("a socket");
    let address = listener.local_addr().expect("a port");
    (
        listener,
        format!("[remote.far]\nurl = \"http://{address}/mcp\"\n"),
    )
}

/// Serves a tool and a prompt to the clients that wait.
fn serve(listener: TcpListener) {
    let replies = json!({
        "tools/list": [{ "result": { "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] } }],
        "tools/call": [{ "result": { "content": [] } }],
        "prompts/list": [{ "result": { "prompts": [{ "name": "p" }] } }],
        "prompts/get": [{ "result": { "messages": [] } }],
    });
    let puppet: Puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {}, "prompts": {} },
        "instructions": "Ask first.",
        "replies": replies,
    }));
    let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
    let app = puppet.app();
    tokio::spawn(async move { axum::serve(listener, app).await });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_waits_for_instructions_capabilities_and_lists() {
    for (way, endpoint) in WAYS {
        let (listener, remote) = silent();
        let site = Site::start(&format!("{WEB}{OLD}{PIPE}{remote}"), &[]).await;
        let (session, ()) = tokio::join!(site.connect(way, endpoint), async { serve(listener) });
        let server = session.server();
        let instructions = server.text.instructions.as_deref();
        assert_eq!(instructions, Some("Ask first."), "{way:?}");
        assert!(server.has("prompts"), "{way:?}");
        assert_eq!(tools(&session).await, ["t"], "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_instructions_of_the_operator_only_requests_wait() {
    let own = "instructions = \"Here.\"\n";
    for (way, endpoint) in WAYS {
        let (listener, remote) = silent();
        let config = format!("{WEB}{own}{OLD}{own}{PIPE}{own}{remote}");
        let site = Site::start(&config, &[]).await;
        let session = site.connect(way, endpoint).await;
        for capability in ["resources", "prompts", "completions"] {
            assert!(session.server().has(capability), "{way:?}: {capability}");
        }
        let prompt = session.prompt("p", std::iter::empty::<(String, String)>());
        let (called, prompt, ()) = tokio::join!(session.call("t", json!({})), prompt, async {
            serve(listener);
        });
        called.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        prompt.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        // The lists of the remote are known now, so other tools do not exist.
        let unknown = session.call("u", json!({})).await;
        let unknown = unknown.expect_err("no tool");
        assert_eq!(unknown.code(), Some(-32602), "{way:?}: {unknown}");
    }
}
