//! Each endpoint has its own members and introduces itself.

use puppet::{Puppet, eventually};
use serde_json::json;

use crate::{
    site::{OLD, PIPE, Site, WAYS, WEB, Way, tools},
    support::Wat,
    wasm::{describe, servlet},
};

const SERVLETS: &str = "[server]\nname = \"acme\"\nversion = \"1.0.0\"\n\
    [servlet.a]\nsource = \"a.wasm\"\n[servlet.b]\nsource = \"b.wasm\"\n";

fn files() -> [(&'static str, Vec<u8>); 2] {
    [
        ("a.wasm", servlet(&["x", "both"], "a")),
        ("b.wasm", servlet(&["y", "both"], "b")),
    ]
}

async fn site(config: &str) -> Site {
    let files = files();
    let files: Vec<_> = files.iter().map(|(name, wasm)| (*name, &**wasm)).collect();
    Site::start(config, &files).await
}

#[tokio::test(flavor = "multi_thread")]
async fn members_are_listed_in_the_order_of_the_endpoint() {
    let config = format!("{WEB}bundles = [\"b\", \"a\"]\n{OLD}bundles = [\"a\"]\n{PIPE}{SERVLETS}");
    let site = site(&config).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let expected: &[&str] = match endpoint {
            "web" => &["y", "b_both", "x", "a_both"],
            // Without another servlet, the name needs no prefix.
            "old" => &["x", "both"],
            _ => &["x", "a_both", "y", "b_both"],
        };
        assert_eq!(tools(&session).await, expected, "{way:?}");
        let called = session.call(expected[1], serde_json::json!({})).await;
        let text = called.expect("a result").text();
        let owner = if endpoint == "web" { "b" } else { "a" };
        assert_eq!(text, owner, "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_of_another_endpoint_is_unknown() {
    let site = site(&format!(
        "{WEB}bundles = [\"a\"]\n{OLD}bundles = [\"b\"]\n{PIPE}{SERVLETS}"
    ))
    .await;
    for (way, endpoint) in &WAYS[..3] {
        let session = site.connect(*way, endpoint).await;
        let other = if *endpoint == "web" { "y" } else { "x" };
        let called = session.call(other, serde_json::json!({})).await;
        let error = called.expect_err("an unknown tool").to_string();
        assert!(
            error.contains(&format!("unknown tool `{other}`")),
            "{way:?}: {error}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_introduce_themselves() {
    let config = format!(
        "{WEB}name = \"web\"\nversion = \"2.0.0\"\n{OLD}instructions = \"Old.\"\n{PIPE}name = \"pipe\"\n{SERVLETS}"
    );
    let site = site(&config).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let server = format!("{:?}", session.server());
        let expected: &[&str] = match endpoint {
            "web" => &["web", "2.0.0"],
            "old" => &["acme", "1.0.0", "Old."],
            _ => &["pipe", "1.0.0"],
        };
        for text in expected {
            assert!(server.contains(text), "{way:?}: {server}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_share_their_servlets() {
    let site = site(&format!("{WEB}{OLD}bundles = [\"a\"]\n{PIPE}{SERVLETS}")).await;
    let hosts: Vec<_> = site
        .service
        .servers()
        .map(mcp_servlet_server::Server::host)
        .collect();
    for host in &hosts {
        assert!(std::sync::Arc::ptr_eq(
            &host.servlets()[0],
            &hosts[0].servlets()[0]
        ));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_servlet_holds_up_no_list_of_a_remote() {
    const NOTIFY: &str = r#"(import "extism:host/user" "notify_tool_list_changed" (func $notify))"#;
    let forever = Wat::new().import(NOTIFY).describe(&describe(&["forever"]));
    let forever = forever.export("call", "", "(loop $again (br $again)) (i32.const 0)");
    let list = |names: &[&str]| {
        let tool = |name: &&str| json!({ "name": name, "inputSchema": { "type": "object" } });
        json!({ "result": { "tools": names.iter().map(tool).collect::<Vec<_>>() } })
    };
    let change = json!({ "method": "notifications/tools/list_changed" });
    let script = json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": { "listChanged": true } },
        "replies": {
            "tools/list": [list(&["t"]), list(&["t", "u"])],
            "tools/call": [{ "before": [change], "sse": true, "result": { "content": [] } }],
        },
    });
    let far = Puppet::with(serde_json::from_value(script).expect("a script"));
    let config = format!(
        "{WEB}[servlet.a]\nsource = \"a.wasm\"\nlimits = {{ timeout = \"none\", instances = {{ max = 1 }} }}\n\
         [remote.far]\nurl = \"http://{}/mcp\"\nrequired = true\n",
        far.http().await
    );
    let site = Site::start(&config, &[("a.wasm", &forever.wasm())]).await;
    let session = site.connect(Way::HttpModern, "web").await;
    let busy = site.connect(Way::HttpModern, "web").await;
    let call = tokio::spawn(async move { busy.call("forever", json!({})).await.map(drop) });
    let running = || site.service.metrics().contains("servlet_calls_running 1");
    eventually("the call runs", async || running()).await;
    // The servlet announces that its lists have changed: asking for them waits for the call.
    site.service.server().replace(site.service.server().host());
    session.call("t", json!({})).await.expect("a result");
    eventually("the new tool", async || {
        tools(&session).await == ["forever", "t", "u"]
    })
    .await;
    assert!(running());
    call.abort();
    eventually("the call is stopped", async || !running()).await;
}
