//! Failures of handlers, with and without entries of `catches`, over each transport.

use puppet::{PATIENCE, eventually};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    site::{OLD, PIPE, Site, WAYS, WEB},
    support::Wat,
    wasm::{Reply, describe, replies},
};

/// A servlet with a tool for each way to fail.
fn failing() -> Vec<u8> {
    const NAMES: [&str; 13] = [
        "told", "coded", "fault", "named", "trap", "panic", "denied", "memory", "fuel", "slow",
        "large", "bad", "fine",
    ];
    let tools = NAMES.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
    let coded = r#"{"content":[{"type":"text","text":"slow down"}],"isError":true,"_meta":{"mcp-servlet/error":{"code":"RATE_LIMITED","data":{"retry":30}}}}"#;
    let large = json!({ "content": [{ "type": "text", "text": "x".repeat(2000) }] }).to_string();
    let replies_ = [
        (
            r#""told""#,
            Reply::Output(r#"{"content":[{"type":"text","text":"no such city"}],"isError":true}"#),
        ),
        (r#""coded""#, Reply::Output(coded)),
        (
            r#""fault""#,
            Reply::Error("gone\nmcp-fault: {\"code\":-32011,\"data\":{\"id\":7}}"),
        ),
        (
            r#""named""#,
            Reply::Error("gone\nmcp-fault: {\"code\":-32012,\"data\":{\"code\":\"GONE\"}}"),
        ),
        (r#""trap""#, Reply::Trap),
        (r#""panic""#, Reply::Panic("no city")),
        (
            r#""denied""#,
            Reply::Send(r#"{"url":"http://weather.example/v1?key=s3cret"}"#),
        ),
        (r#""memory""#, Reply::Grow),
        (r#""fuel""#, Reply::Hang),
        (r#""slow""#, Reply::Hang),
        (r#""large""#, Reply::Output(&large)),
        (r#""bad""#, Reply::Output("nonsense")),
        (
            r#""fine""#,
            Reply::Output(r#"{"content":[{"type":"text","text":"fine"}]}"#),
        ),
    ];
    replies(&Value::from(tools.to_vec()), &replies_)
}

const SERVLET: &str = "[servlet.f]\nsource = \"f.wasm\"\nlimits.timeout = \"10s\"\n\
    limits.memory = \"4MiB\"\ntool.fuel.fuel = 1_000_000\ntool.slow.timeout = \"200ms\"\ntool.large.output = \"1KiB\"\n";

/// What a client gets: the code and the message of an error, or the text of a result.
#[derive(Debug, PartialEq)]
enum Outcome {
    Told(&'static str),
    Error(i64, &'static str, Value),
}

async fn outcomes(catches: &str, expected: &[(&str, Outcome)]) {
    let bundles: String = expected
        .iter()
        .map(|(tool, _)| {
            let table = format!("[bundle.ops.tool.{tool}]\nhandler = \"f:{tool}\"\n");
            table + &catches.replace("TOOL", tool)
        })
        .collect();
    let config = format!("{WEB}{OLD}{PIPE}{SERVLET}{bundles}");
    let site = Site::start(&config, &[("f.wasm", &failing())]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        for (tool, expected) in expected {
            match (session.call(tool, json!({})).await, expected) {
                (Ok(result), Outcome::Told(text)) => {
                    assert_eq!(
                        (result.is_error, &*result.text()),
                        (true, *text),
                        "{way:?} {tool}"
                    );
                }
                (Err(error), Outcome::Error(code, message, data)) => {
                    assert_eq!(error.code(), Some(*code), "{way:?} {tool}: {error}");
                    assert!(error.message().contains(message), "{way:?} {tool}: {error}");
                    let found = error.data().cloned().unwrap_or_default();
                    for (key, value) in data.as_object().into_iter().flatten() {
                        assert_eq!(found[key], *value, "{way:?} {tool}: {found}");
                    }
                }
                (found, expected) => panic!("{way:?} {tool}: {found:?} is not {expected:?}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_without_an_entry_have_a_default() {
    use Outcome::{Error, Told};
    let place = || json!({ "servlet": "f", "export": "call" });
    outcomes(
        "",
        &[
            ("told", Told("no such city")),
            ("coded", Told("slow down")),
            ("fault", Error(-32011, "gone", json!({ "id": 7 }))),
            ("named", Error(-32012, "gone", json!({ "code": "GONE" }))),
            ("trap", Error(-32603, "trapped in `call`", place())),
            ("panic", Error(-32603, "no city", place())),
            ("denied", Error(-32603, "`http://weather.example`", place())),
            ("memory", Error(-32603, "ran out of memory", place())),
            ("fuel", Error(-32603, "ran out of fuel", place())),
            ("slow", Error(-32603, "200ms", place())),
            ("large", Error(-32603, "", place())),
            ("bad", Error(-32603, "", place())),
        ],
    )
    .await;
}

/// One entry for each way to match, and one for all others.
const CATCHES: &str = r#"
[[bundle.ops.tool.TOOL.catches]]
error = { code = -32000, message = "all others" }
[[bundle.ops.tool.TOOL.catches]]
code = "RATE_LIMITED"
when = "${{ error.data.retry > 60 }}"
error = { code = -32001, message = "much later" }
[[bundle.ops.tool.TOOL.catches]]
code = "RATE_LIMITED"
error = { code = -32002, message = "${{ error.message }}: ${{ error.code }}", data = { retry = "${{ error.data.retry }}" } }
[[bundle.ops.tool.TOOL.catches]]
code = -32011
error = { code = -32003, message = "number", data = { tool = "${{ request.name }}" } }
[[bundle.ops.tool.TOOL.catches]]
kind = "fault"
when = "${{ error.code == 'GONE' }}"
error = { code = -40000, message = "named" }
[[bundle.ops.tool.TOOL.catches]]
kind = "timeout"
code = "TIMEOUT"
error = { code = -32019, message = "slow" }
[[bundle.ops.tool.TOOL.catches]]
kind = "trap"
when = "${{ error.message }}"
error = { code = -32005, message = "the condition is not a boolean" }
[[bundle.ops.tool.TOOL.catches]]
kind = "output_too_large"
error = { code = -32006, message = "${{ error.data.none }}" }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_first_entry_that_matches_makes_the_error() {
    use Outcome::{Error, Told};
    outcomes(
        CATCHES,
        &[
            // An error for the model passes, unless an entry names its code.
            ("told", Told("no such city")),
            (
                "coded",
                Error(-32002, "slow down: RATE_LIMITED", json!({ "retry": 30 })),
            ),
            ("fault", Error(-32003, "number", json!({ "tool": "fault" }))),
            ("named", Error(-40000, "named", Value::Null)),
            ("slow", Error(-32019, "slow", Value::Null)),
            ("trap", Error(-32000, "all others", Value::Null)),
            ("large", Error(-32006, "the tool failed", Value::Null)),
            ("bad", Error(-32000, "all others", Value::Null)),
        ],
    )
    .await;
}

/// Tools, and the kinds of their failures.
const KINDS: [(&str, &str); 8] = [
    ("trap", "trap"),
    ("panic", "panic"),
    ("denied", "host_denied"),
    ("memory", "out_of_memory"),
    ("fuel", "out_of_fuel"),
    ("slow", "timeout"),
    ("large", "output_too_large"),
    ("bad", "bad_output"),
];

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_failure_can_be_caught_by_its_kind_and_code() {
    let entry = |(number, (_, kind)): (usize, (&str, &str))| {
        let (code, name) = (number + 1, kind.to_uppercase());
        format!(
            "[[bundle.ops.tool.TOOL.catches]]\nkind = \"{kind}\"\ncode = \"{name}\"\n\
             error = {{ code = -{code}, message = \"${{{{ error.code }}}}\", data = \"{kind}\" }}\n"
        )
    };
    let catches: String = KINDS.into_iter().enumerate().map(entry).collect();
    let expected = KINDS.into_iter().zip(1..).map(|((tool, kind), code)| {
        let message: &'static str = kind.to_uppercase().leak();
        (tool, Outcome::Error(-code, message, Value::Null))
    });
    outcomes(&catches, &expected.collect::<Vec<_>>()).await;
}

/// A servlet whose instances do not start once one of them has answered a call.
fn starts_once() -> Vec<u8> {
    let imports = r#"(import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
        (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))"#;
    let start = r#"(func $key (result i64) (local $at i64)
            (local.set $at (call $alloc (i64.const 1)))
            (call $store (local.get $at) (i32.const 120))
            (local.get $at))
        (func (export "_initialize")
            (if (i64.ne (call $var_get (call $key)) (i64.const 0)) (then (unreachable))))"#;
    let set = "(call $var_set (call $key) (call $key)) (call $output {}) (i32.const 0)";
    let wat = Wat::new().import(imports).describe(&describe(&["t"]));
    wat.export("call", r#"{"content":[]}"#, set)
        .after(start)
        .wasm()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_does_not_start_has_a_default_and_can_be_caught() {
    let bundle = r#"
[servlet.s]
source = "s.wasm"
limits.isolation = "call"
[bundle.ops.tool.plain]
handler = "s:t"
[bundle.ops.tool.caught]
handler = "s:t"
[[bundle.ops.tool.caught.catches]]
kind = "start"
code = "START"
error = { code = -32007, message = "out of order" }
"#;
    let config = format!("{WEB}{OLD}{PIPE}{bundle}");
    let site = Site::start(&config, &[("s.wasm", &starts_once())]).await;
    let session = site.connect(WAYS[0].0, WAYS[0].1).await;
    session.call("plain", json!({})).await.expect("a result");
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let plain = session.call("plain", json!({})).await;
        let plain = plain.expect_err("it does not start");
        assert_eq!(plain.code(), Some(-32603), "{way:?}: {plain}");
        assert!(
            plain.message().contains("does not start"),
            "{way:?}: {plain}"
        );
        let caught = session.call("caught", json!({})).await;
        let caught = caught.expect_err("it does not start");
        let found = (caught.code(), caught.message());
        assert_eq!(found, (Some(-32007), "out of order"), "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_tools_and_busy_handlers_have_their_codes() {
    let limits = "limits = { timeout = \"60s\", instances = { max = 1 }, queue = 0 }\n";
    let bundles: String = ["slow", "fine"]
        .map(|tool| format!("[bundle.ops.tool.my_{tool}]\nhandler = \"f:{tool}\"\n"))
        .concat();
    let config = format!(
        "{WEB}{OLD}{PIPE}[servlet.f]\nsource = \"f.wasm\"\n{limits}{bundles}\
        [[bundle.ops.tool.my_slow.catches]]\ncode = \"BUSY\"\nerror = {{ code = -32009, message = \"later\" }}\n"
    );
    let site = Site::start(&config, &[("f.wasm", &failing())]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let unknown = session
            .call("my_slw", json!({}))
            .await
            .expect_err("no tool");
        assert_eq!(unknown.code(), Some(-32602), "{way:?}: {unknown}");
        // It begins again if a call of `my_fine` has the only instance.
        let holds = async {
            loop {
                let error = session.call("my_slow", json!({})).await;
                let error = error.expect_err("it hangs");
                assert_eq!(error.code(), Some(-32009), "{way:?}: {error}");
            }
        };
        let others = async {
            let busy = loop {
                if let Err(busy) = session.call("my_fine", json!({})).await {
                    break busy;
                }
            };
            assert_eq!(busy.code(), Some(-32000), "{way:?}: {busy}");
            assert_eq!(
                busy.data().map(|data| &data["retry"]),
                Some(&json!(true)),
                "{way:?}"
            );
            let caught = session
                .call("my_slow", json!({}))
                .await
                .expect_err("it is busy");
            assert_eq!(
                (caught.code(), caught.message()),
                (Some(-32009), "later"),
                "{way:?}"
            );
        };
        // The call that holds the instance is cancelled when it is dropped.
        tokio::select! {
            () = holds => {}
            ended = timeout(PATIENCE, others) => ended.expect("a busy servlet"),
        }
        let answers = async || session.call("my_fine", json!({})).await.is_ok();
        eventually("the instance is free", answers).await;
    }
}
