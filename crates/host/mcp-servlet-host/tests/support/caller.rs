//! Servlets that call tools and read resources of others.

use serde_json::{Value, json};

use super::{DESCRIPTION, Wat};

/// What [`caller_that`] can return to ask the client.
pub(crate) const ASK: &str = r#"{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},"requestState":"own"}"#;

pub(crate) const CALL_TOOL: &str = r#"(import "extism:host/user" "call_tool" (func $call_tool (param i64) (result i64)))
    (import "extism:host/env" "length" (func $length (param i64) (result i64)))"#;

/// Where answers are collected in memory.
pub(crate) const START: usize = 32 << 10;

const HELPERS: &str = r"
    (global $end (mut i32) (i32.const 32768))
    (func $put (param $from i32) (param $length i32)
        (memory.copy (global.get $end) (local.get $from) (local.get $length))
        (global.set $end (i32.add (global.get $end) (local.get $length))))
    (func $take (param $block i64)
        (local $i i64)
        (block $done (loop $next
            (br_if $done (i64.ge_u (local.get $i) (call $length (local.get $block))))
            (i32.store8 (global.get $end) (call $load (i64.add (local.get $block) (local.get $i))))
            (global.set $end (i32.add (global.get $end) (i32.const 1)))
            (local.set $i (i64.add (local.get $i) (i64.const 1)))
            (br $next))))";

/// A servlet whose tool `t` makes these requests, one after the other, and returns the list of the answers. Before that, it runs
/// `body`.
pub(crate) fn caller(requests: &[Value], body: &str) -> Wat {
    caller_that(requests, body, "")
}

/// A [`caller`] that runs `last` before it returns. In that, `{}` stands for the offset and length of [`ASK`].
pub(crate) fn caller_that(requests: &[Value], body: &str, last: &str) -> Wat {
    let requests: Vec<_> = requests.iter().map(Value::to_string).collect();
    let begin = r#"{"content":[],"structuredContent":{"answers":[null"#;
    let texts = [begin, ",", "]}}", ASK].into_iter();
    let texts = texts.chain(requests.iter().map(String::as_str));
    let mut places = Vec::new();
    let mut wat = Wat::new().describe(DESCRIPTION).import(CALL_TOOL);
    let mut at = DESCRIPTION.len();
    for text in texts {
        places.push(format!("(i32.const {at}) (i32.const {})", text.len()));
        at += text.len();
        wat = wat.text(text);
    }
    assert!(at < START, "the constants overlap with the answers");
    let [begin, comma, end, ask, requests @ ..] = &*places else {
        unreachable!("there are four constants");
    };
    let calls = requests.iter().map(|request| {
        format!("(call $put {comma}) (call $take (call $call_tool (call $block {request})))")
    });
    let calls: String = calls.collect();
    let last = last.replace("{}", ask);
    let body = format!(
        "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (global.set $end (i32.const {START}))
        (if (i32.lt_u (memory.size) (i32.const 100)) (then (drop (memory.grow (i32.const 100)))))
        {body}
        (call $put {begin}) {calls} (call $put {end})
        {last}
        (call $output (i32.const {START}) (i32.sub (global.get $end) (i32.const {START})))
        (i32.const 0)"
    );
    wat.export("call", "", &body).after(HELPERS)
}

/// A request to call a tool without arguments.
pub(crate) fn to_call(name: &str) -> Value {
    json!({ "method": "tools/call", "params": { "name": name, "arguments": {} } })
}

/// A request to read a resource.
pub(crate) fn to_read(member: &str, uri: &str) -> Value {
    json!({ "method": "resources/read", "params": { "member": member, "uri": uri } })
}
