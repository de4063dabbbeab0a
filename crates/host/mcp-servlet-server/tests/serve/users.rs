//! Users of one server who must not see anything of each other.

use mcp_servlet_host::Host;
use mcp_servlet_runtime::{Isolation, LoadOptions};
use serde_json::json;
use wire::Http;

use crate::{client::Served, support::tools};

/// The actions of the servlet.
const WRITE: i32 = 1;
const FIND: i32 = 2;

/// A servlet with two actions: `WRITE` fills its memory and its messages with a pattern, and `FIND` fails if it finds that pattern.
fn served(isolation: Isolation) -> Served {
    let each = |body: &str| {
        format!(
            "(local.set $what (i32.const 40000))
            (loop $next
                {body}
                (local.set $what (i32.add (local.get $what) (i32.const 4)))
                (br_if $next (i32.lt_u (local.get $what) (i32.const 130000))))"
        )
    };
    let grow = "(drop (memory.grow (i32.const 1))) (drop (call $alloc (i64.const 200000)))";
    let write = each(
        "(i32.store (local.get $what) (i32.const 0x5ec2e75a))
        (call $store_u64 (i64.extend_i32_u (local.get $what)) (i64.const 0x5ec2e75a))",
    );
    let find = each(
        "(if (i32.eq (i32.load (local.get $what)) (i32.const 0x5ec2e75a)) (then (return (i32.const 1))))
        (if (i64.eq (call $load_u64 (i64.extend_i32_u (local.get $what))) (i64.const 0x5ec2e75a))
            (then (return (i32.const 2))))",
    );
    let imports = r#"
        (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
        (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))"#;
    let (write, find) = (format!("{grow} {write}"), format!("{grow} {find}"));
    let mut options = LoadOptions::default();
    options.isolation = Some(isolation);
    let servlet = tools(&[(WRITE, &write), (FIND, &find)]).import(imports);
    let servlet = servlet.load_with(&options).expect("a servlet");
    Served::start(Host::new(vec![servlet]))
}

/// Whether the call of a session succeeds. It fails if it finds the pattern.
fn succeeds(session: &Http, action: i32) -> bool {
    let params = json!({"name": "t", "arguments": {"do": action}});
    let answer = session.ask("tools/call", params).message();
    let failed = answer["error"]["message"].as_str();
    let failed = failed.is_some_and(|message| message.contains("exit code"));
    assert!(failed || answer["result"]["content"].is_array(), "{answer}");
    !failed
}

#[test]
fn two_sessions_share_no_byte() {
    let served = served(Isolation::Call);
    let sessions = [served.open(), served.open()];
    for [one, other] in [[0, 1], [1, 0], [0, 1]].map(|at| at.map(|at| &sessions[at])) {
        assert!(succeeds(one, WRITE));
        assert!(succeeds(other, FIND));
        assert!(succeeds(one, FIND), "not even its own");
    }
}

#[test]
fn sessions_of_a_servlet_with_a_shared_instance_share_its_memory() {
    let served = served(Isolation::Shared);
    let [one, other] = [served.open(), served.open()];
    assert!(succeeds(&one, WRITE));
    assert!(!succeeds(&other, FIND));
}
