//! Rules about the tools of a remote, which can change while it is served.

use std::net::TcpListener;

use mcp_servlet_client::Session;
use puppet::eventually;
use serde_json::{Value, json};

use crate::{
    log,
    site::{Site, WEB, Way, tools},
    wasm::echo_as,
};

/// A servlet with these tools. Each has one argument, a number, and a hint whether it only reads.
fn with_tools(tools: &[(&str, &str, bool)]) -> Vec<u8> {
    let tools = tools.iter().map(|(name, argument, reads)| {
        let properties = json!({ *argument: { "type": "integer" } });
        json!({
            "name": name,
            "inputSchema": { "type": "object", "properties": properties },
            "annotations": { "readOnlyHint": reads },
        })
    });
    echo_as(&json!({ "tools": tools.collect::<Vec<_>>() }).to_string())
}

/// The refusal of a call by the rules. None if it ran.
async fn refusal(session: &Session, tool: &str, arguments: Value) -> Option<String> {
    let called = session.call(tool, arguments).await.expect("a result");
    let raw = json!(called.raw);
    let text = raw["content"][0]["text"].as_str().map(str::to_owned);
    called.is_error.then(|| text.expect("a text"))
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_are_checked_again_when_a_remote_has_other_tools() {
    log::start();
    let before = [
        ("pay", "crowns", false),
        ("look", "a", true),
        ("wipe", "a", false),
    ];
    let config = format!("{WEB}[servlet.a]\nsource = \"a.wasm\"\n");
    let behind = Site::start(&config, &[("a.wasm", &with_tools(&before))]).await;
    let config = format!(
        "{WEB}rules = [{{ allow = [\"pay\"], arguments = {{ crowns = {{ maximum = 100 }} }} }},\
         {{ allow = [\"*\"], annotations = {{ readOnlyHint = true }} }}]\n\
         [remote.far]\nurl = \"{}\"\nrequired = true\ntrust_annotations = true\n",
        behind.url("web")
    );
    let front = Site::start(&config, &[]).await;
    let session = front.connect(Way::HttpLegacy, "web").await;
    assert_eq!(tools(&session).await, ["pay", "look"]);
    assert_eq!(
        refusal(&session, "pay", json!({ "crowns": 50 })).await,
        None
    );
    let text = refusal(&session, "pay", json!({ "crowns": 250 })).await;
    assert!(text.expect("a refusal").starts_with("Not allowed: pay"));
    assert!(!log::has("argument `crowns`"));

    // The limit is about an argument that is not there any more, and the hints have changed.
    let after = [
        ("pay", "sum", false),
        ("look", "a", false),
        ("wipe", "a", true),
    ];
    behind.write("a.wasm", with_tools(&after));
    eventually("the other list", async || {
        tools(&session).await == ["pay", "wipe"]
    })
    .await;
    let line = log::line("argument `crowns`").await;
    assert!(
        line.contains("WARN") && line.contains("servlet.toml:"),
        "{line}"
    );
    for arguments in [json!({}), json!({ "sum": 50 })] {
        let text = refusal(&session, "pay", arguments).await;
        let text = text.expect("a refusal");
        assert!(
            text.starts_with("Not allowed: pay without crowns"),
            "{text}"
        );
    }
    assert_eq!(refusal(&session, "wipe", json!({})).await, None);
    session
        .call("look", json!({}))
        .await
        .expect_err("it is hidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_are_checked_when_a_remote_is_reached() {
    log::start();
    // Nothing listens there yet.
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address");
    drop(free);
    let rules = "rules = [{ allow = [\"transfer_out\"] }]\n";
    let remote = format!("[remote.late]\nurl = \"http://{address}/mcp\"\n");
    let _front = Site::start(&format!("{WEB}{rules}{remote}"), &[]).await;
    let warning = "matches `transfer_out`";
    assert!(!log::has(warning));
    let config = WEB.replace("127.0.0.1:0", &address.to_string());
    let wasm = with_tools(&[("transfer", "sum", false)]);
    let config = format!("{config}[servlet.a]\nsource = \"a.wasm\"\n");
    let _behind = Site::start(&config, &[("a.wasm", &wasm)]).await;
    let line = log::line(warning).await;
    assert!(line.contains("did you mean `transfer`?"), "{line}");
}
