//! Servlets that call tools and read resources of others.

use serde_json::{Value, json};

use super::{DESCRIPTION, Wat};

/// What [`caller_that`] can return to ask the client.
pub(crate) const ASK: &str = r#"{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},"requestState":"own"}"#;

pub(crate) const CALL_TOOL: &str = r#"(import "extism:host/user" "call_tool" (func $call_tool (param i64) (result i64)))
    (import "extism:host/env" "length" (func $length (param i64) (result i64)))"#;

/// The offset in memory at which answers are collected.
pub(crate) const START: usize = 32 << 10;

/// Begins to collect.
const BEGIN: &str = "(global.set $end (i32.const 32768))";

/// Returns what was collected.
const RETURN: &str =
    "(call $output (i32.const 32768) (i32.sub (global.get $end) (i32.const 32768))) (i32.const 0)";

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
    let mut wat = Wat::new().describe(DESCRIPTION).import(CALL_TOOL);
    let begin = r#"{"content":[],"structuredContent":{"answers":[null"#;
    let [begin, comma, end, ask] = [begin, ",", "]}}", ASK].map(|text| wat.constant(text));
    let calls = requests.iter().map(|request| {
        let request = wat.constant(&request.to_string());
        format!("(call $put {comma}) (call $take (call $call_tool (call $block {request})))")
    });
    let calls: String = calls.collect();
    let last = last.replace("{}", &ask);
    let body = format!(
        "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (if (i32.lt_u (memory.size) (i32.const 100)) (then (drop (memory.grow (i32.const 100)))))
        {body}
        {BEGIN}
        (call $put {begin}) {calls} (call $put {end})
        {last}
        {RETURN}"
    );
    collecting(wat.export("call", "", &body))
}

/// A servlet whose exports make this request, and return the answer between two texts.
pub(crate) fn callers(request: &Value, exports: &[(&str, &str, &str)]) -> Wat {
    let mut wat = Wat::new();
    let request = wat.constant(&request.to_string());
    calling(wat, &format!("(call $block {request})"), exports)
}

/// The same with the code of a block that has the request.
pub(crate) fn calling(wat: Wat, request: &str, exports: &[(&str, &str, &str)]) -> Wat {
    let mut wat = wat.import(CALL_TOOL);
    for (name, before, after) in exports {
        let [before, after] = [before, after].map(|text| wat.constant(text));
        let call = format!("(call $take (call $call_tool {request}))");
        let body = format!("{BEGIN} (call $put {before}) {call} (call $put {after}) {RETURN}");
        wat = wat.export(name, "", &body);
    }
    collecting(wat)
}

/// Adds the functions that collect answers.
fn collecting(wat: Wat) -> Wat {
    assert!(
        wat.data.len() < START,
        "the constants overlap with the answers"
    );
    wat.after(HELPERS)
}

/// A request to call a tool without arguments.
pub(crate) fn to_call(name: &str) -> Value {
    json!({ "method": "tools/call", "params": { "name": name, "arguments": {} } })
}

/// A request to read a resource.
pub(crate) fn to_read(member: &str, uri: &str) -> Value {
    json!({ "method": "resources/read", "params": { "member": member, "uri": uri } })
}
