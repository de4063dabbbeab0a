//! Virtual tools over remotes, as clients of each transport see them.

use mcp_servlet_client::{Error, Session};
use mcp_servlet_config::Config;
use mcp_servlet_server::Remotes;
use puppet::{Puppet, eventually};
use serde_json::{Value, json};

use crate::{
    client::reported,
    site::{OLD, PIPE, Site, WAYS, WEB},
    support::{Mortal, with_calls},
};

const BOTH: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The section of a remote that is there from the start.
pub(crate) async fn remote(name: &str, puppet: &Puppet, settings: &str) -> String {
    let address = puppet.http().await;
    format!(
        "[remote.{name}]\nurl = \"http://{address}/mcp\"\nrequired = true\ntools.prefix = \"name\"\n{settings}"
    )
}

pub(crate) async fn error(session: &Session, tool: &str, arguments: Value) -> Error {
    let called = session.call(tool, arguments).await;
    called.expect_err("an error")
}

/// The code and the message of an error.
fn outcome(error: &Error) -> (i64, &str) {
    (error.code().expect("a code"), error.message())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_virtual_tool_has_a_time_limit_of_its_own() {
    let slow = json!([{ "wait_ms": 60_000, "result": { "content": [] } }]);
    let puppet = with_calls(&["2025-11-25"], slow);
    let bundle = r#"
[bundle.ops.tool.slow]
handler = "far:t"
timeout = "200ms"
[bundle.ops.tool.caught]
handler = "far:t"
timeout = "200ms"
[[bundle.ops.tool.caught.catches]]
kind = "timeout"
code = "REQUEST_TIMEOUT"
error = { code = -32019, message = "too slow: ${{ error.code }}" }
"#;
    let far = remote("far", &puppet, "").await;
    let site = Site::start(&format!("{WEB}{OLD}{PIPE}{far}{bundle}"), &[]).await;
    let cancelled = || puppet.received("notifications/cancelled");
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let before = cancelled();
        let plain = error(&session, "slow", json!({})).await;
        let expected = "remote `far` did not answer `tools/call` within 200ms";
        assert_eq!(outcome(&plain), (-32603, expected), "{way:?}");
        assert_eq!(plain.data(), Some(&json!({ "remote": "far" })), "{way:?}");
        let caught = error(&session, "caught", json!({})).await;
        let expected = "too slow: REQUEST_TIMEOUT";
        assert_eq!(outcome(&caught), (-32019, expected), "{way:?}");
        eventually("two cancellations", async || cancelled() == before + 2).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_a_virtual_tool_cancels_the_call_of_the_remote() {
    let slow = json!([{ "wait_ms": 60_000, "result": { "content": [] } }]);
    let puppet = with_calls(&["2025-11-25"], slow);
    let far = remote(
        "far",
        &puppet,
        "[bundle.ops.tool.run]\nhandler = \"far:t\"\n",
    )
    .await;
    let site = Site::start(&format!("{WEB}{OLD}{PIPE}{far}"), &[]).await;
    for (number, (way, endpoint)) in WAYS.into_iter().enumerate() {
        let session = site.connect(way, endpoint).await;
        {
            let call = session.call("run", json!({}));
            let received = || puppet.received("tools/call") == number + 1;
            tokio::select! {
                ended = call => panic!("{way:?}: {ended:?}"),
                () = eventually("`tools/call`", async || received()) => {}
            }
        }
        let cancelled = || puppet.received("notifications/cancelled") == number + 1;
        eventually("`notifications/cancelled`", async || cancelled()).await;
    }
}

/// A remote that logs and reports its progress before its result.
fn reporting(version: &str) -> Puppet {
    let progress = json!({
        "progressToken": "$params/_meta/progressToken", "progress": 1, "total": 2, "message": "half",
    });
    let log = json!({ "level": "warning", "logger": "far", "data": { "at": 1 } });
    let before = json!([
        { "method": "notifications/message", "params": log },
        { "method": "notifications/progress", "params": progress },
    ]);
    let content = json!([{ "type": "text", "text": "done" }]);
    let reply = json!({ "before": before, "result": { "content": content } });
    with_calls(&[version], json!([reply]))
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_and_log_messages_of_a_remote_reach_the_client() {
    for version in BOTH {
        let puppet = reporting(version);
        let bundle = "[bundle.ops.tool.run]\nhandler = \"far:t\"\n\
            result = { content = [{ type = \"text\", text = \"mapped\" }] }\n";
        let far = remote("far", &puppet, bundle).await;
        let site = Site::start(&format!("{WEB}{OLD}{PIPE}{far}"), &[]).await;
        for (way, endpoint) in WAYS {
            let session = site.connect(way, endpoint).await;
            for (tool, text) in [("far_t", "done"), ("run", "mapped")] {
                let case = format!("{version} {way:?} {tool}");
                let call = (tool, json!({}));
                assert_eq!(reported(&session, call, "far", &case).await, text, "{case}");
            }
        }
    }
}

/// The entries for all failures of remotes.
const CATCHES: &str = r#"
[[bundle.ops.tool.TOOL.catches]]
code = -32601
error = { code = -32011, message = "by number" }
[[bundle.ops.tool.TOOL.catches]]
kind = "remote"
error = { code = -32012, message = "${{ error.code }}", data = "${{ error.data }}" }
[[bundle.ops.tool.TOOL.catches]]
kind = "bad_output"
code = "BAD_OUTPUT"
error = { code = -32013, message = "lies" }
[[bundle.ops.tool.TOOL.catches]]
kind = "timeout"
code = "REQUEST_TIMEOUT"
error = { code = -32014, message = "slow" }
[[bundle.ops.tool.TOOL.catches]]
kind = "connectivity"
code = "CONNECTIVITY"
error = { code = -32015, message = "down" }
[[bundle.ops.tool.TOOL.catches]]
kind = "connectivity"
code = "RETRY_EXHAUSTED"
error = { code = -32016, message = "gone" }
"#;

/// For each remote a tool without catches, and one with all.
fn tools(remotes: &[&str]) -> String {
    let tools = remotes.iter().map(|remote| {
        let plain = format!("[bundle.ops.tool.{remote}]\nhandler = \"{remote}:t\"\n");
        let caught = format!("[bundle.ops.tool.{remote}_caught]\nhandler = \"{remote}:t\"\n");
        plain + &caught + &CATCHES.replace("TOOL", &format!("{remote}_caught"))
    });
    tools.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_a_remote_have_a_default_and_can_be_caught() {
    let sent = json!({ "code": "$params/arguments/code", "message": "no", "data": { "k": 1 } });
    let puppet = with_calls(&BOTH, json!([{ "error": sent }]));
    let far = remote("far", &puppet, &tools(&["far"])).await;
    let site = Site::start(&format!("{WEB}{OLD}{PIPE}{far}"), &[]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        for (code, default, caught) in [
            (-32700, -32603, (-32012, "PARSE_ERROR")),
            (-32600, -32603, (-32012, "INVALID_REQUEST")),
            (-32601, -32603, (-32011, "by number")),
            (-32602, -32602, (-32012, "INVALID_PARAMS")),
            (-32603, -32603, (-32012, "INTERNAL_ERROR")),
            (-32005, -32005, (-32012, "SERVER_ERROR")),
            (7, 7, (-32012, "JSON_RPC_ERROR")),
        ] {
            let arguments = json!({ "code": code });
            let plain = error(&session, "far", arguments.clone()).await;
            assert_eq!(outcome(&plain), (default, "no"), "{way:?} {code}");
            assert_eq!(plain.data(), Some(&json!({ "k": 1 })), "{way:?} {code}");
            let found = error(&session, "far_caught", arguments).await;
            assert_eq!(outcome(&found), caught, "{way:?} {code}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_failures_of_remotes_have_a_default_and_can_be_caught() {
    let liar = with_calls(&BOTH, json!([{ "result": { "content": "none" } }]));
    let slow = with_calls(
        &BOTH,
        json!([{ "wait_ms": 60_000, "result": { "content": [] } }]),
    );
    let liar = remote("liar", &liar, "").await;
    let slow = remote("slow", &slow, "timeout = \"200ms\"\n").await;
    let good = with_calls(&BOTH, json!([{ "result": { "content": [] } }]));
    let mut mortals = [Mortal::start(&good), Mortal::start(&good)];
    let [down, gone] = [&mortals[0], &mortals[1]].map(|mortal| {
        let address = mortal.address;
        format!("url = \"http://{address}/mcp\"\nrequired = true\ntools.prefix = \"name\"\nretry.every = \"10ms\"\n")
    });
    let remotes = format!("{liar}{slow}[remote.down]\n{down}[remote.gone]\n{gone}retry.most = 1\n");
    let bundle = tools(&["liar", "slow", "down", "gone"]);
    let site = Site::start(&format!("{WEB}{OLD}{PIPE}{remotes}{bundle}"), &[]).await;
    let session = site.connect(WAYS[0].0, WAYS[0].1).await;
    for tool in ["down", "gone"] {
        session.call(tool, json!({})).await.expect("a result");
    }
    mortals.iter_mut().for_each(Mortal::kill);
    eventually("no attempt is left", async || {
        outcome(&error(&session, "gone_caught", json!({})).await) == (-32016, "gone")
    })
    .await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        for (remote, default, data, caught) in [
            (
                "liar",
                -32603,
                json!({ "remote": "liar" }),
                (-32013, "lies"),
            ),
            (
                "slow",
                -32603,
                json!({ "remote": "slow" }),
                (-32014, "slow"),
            ),
            (
                "down",
                -32000,
                json!({ "remote": "down", "retry": true }),
                (-32015, "down"),
            ),
            (
                "gone",
                -32000,
                json!({ "remote": "gone" }),
                (-32016, "gone"),
            ),
        ] {
            let plain = error(&session, remote, json!({})).await;
            assert_eq!(plain.code(), Some(default), "{way:?} {remote}: {plain}");
            assert_eq!(plain.data(), Some(&data), "{way:?} {remote}");
            let found = error(&session, &format!("{remote}_caught"), json!({})).await;
            assert_eq!(outcome(&found), caught, "{way:?} {remote}");
        }
    }
}

#[tokio::test]
async fn a_message_about_two_tools_of_one_name_has_both_places() {
    let puppet = with_calls(&BOTH, json!([{ "result": { "content": [] } }]));
    let url = format!("http://{}/mcp", puppet.http().await);
    let bundle = "bundles = [\"far\", \"ops\"]\n[bundle.ops.tool.t]\nhandler = \"far:t\"\n";
    let far = format!("url = \"{url}\"\nrequired = true\ntools.prefix = \"never\"\n");
    let config = format!("{PIPE}{bundle}[remote.far]\n{far}");
    let config = Config::parse("servlet.toml".as_ref(), &config).expect("a configuration");
    let loaded = config.load(None).expect("no servlets");
    let remotes = Remotes::default();
    let mounts = remotes
        .update(&config.settings.remotes)
        .await
        .expect("a remote");
    let error = config.prove(&loaded, &mounts).expect_err("two tools `t`");
    let expected = format!(
        "servlet.toml:4:18: endpoint `pipe` would have two tools `t`: of bundle `ops` here, \
         and of remote `far` (`{url}`) at line 6, column 1; give that remote another prefix"
    );
    assert!(error.to_string().starts_with(&expected), "{error}");
}
