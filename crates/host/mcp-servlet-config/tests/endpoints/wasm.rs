//! Servlets for tests of endpoints.

use serde_json::{Value, json};

use crate::support::Wat;

/// The description of a servlet with these tools.
pub(crate) fn describe(tools: &[&str]) -> String {
    let tools = tools
        .iter()
        .map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
    json!({ "tools": tools.collect::<Vec<_>>() }).to_string()
}

/// A servlet whose tools answer with this text.
pub(crate) fn servlet(tools: &[&str], text: &str) -> Vec<u8> {
    let answer = json!({ "content": [{ "type": "text", "text": text }] });
    let wat = Wat::new().describe(&describe(tools));
    wat.answer(&answer.to_string()).wasm()
}

/// A servlet with the resource `x:1`.
pub(crate) fn reading() -> Vec<u8> {
    let output = "(call $output {}) (i32.const 0)";
    let contents = json!({ "contents": [{ "uri": "x:1", "text": "a" }] });
    let list = r#"{"resources":[{"uri":"x:1","name":"one"}]}"#;
    Wat::new()
        .describe(&describe(&["t"]))
        .answer("{}")
        .export("list_resources", list, output)
        .export("read_resource", &contents.to_string(), output)
        .wasm()
}

/// A servlet whose tools return their input as structured content.
pub(crate) fn echo(tools: &[&str]) -> Vec<u8> {
    echo_as(&describe(tools))
}

/// The same with this description.
pub(crate) fn echo_as(description: &str) -> Vec<u8> {
    echo_with("describe", "call", description)
}

/// A plugin for hyper-mcp with the same tools. Its input also has the context of the request.
pub(crate) fn echo_of_hyper_mcp(tools: &[&str]) -> Vec<u8> {
    echo_with("list_tools", "call_tool", &describe(tools))
}

/// The same, but the first of each two calls returns this text.
pub(crate) fn echo_after(first: &str, description: &str) -> Vec<u8> {
    let calls = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))";
    let output = format!("(call $output (i32.const 0) (i32.const {}))", first.len());
    let is_first = "(i32.and (global.get $calls) (i32.const 1))";
    let before = format!("{calls} (if {is_first} (then {output} (return (i32.const 0))))");
    echo_to(
        Wat::new().text(first),
        ["describe", "call"],
        &before,
        description,
    )
}

fn echo_with(list: &str, call: &str, description: &str) -> Vec<u8> {
    echo_to(Wat::new(), [list, call], "", description)
}

/// Adds an export that returns its input, unless the code `before` returns something else.
fn echo_to(wat: Wat, [list, call]: [&str; 2], before: &str, description: &str) -> Vec<u8> {
    let wat = wat.export(list, description, "(call $output {}) (i32.const 0)");
    let begin = r#"{"content":[],"structuredContent":"#;
    let wat = wat.export(
        call,
        begin,
        &format!("{before} (call $echo {{}}) (i32.const 0)"),
    );
    wat.after(ECHO).wasm()
}

/// Returns a constant, the input, and a brace.
const ECHO: &str = "(func $echo (param $from i32) (param $length i32)
    (local $to i64) (local $i i64) (local $n i64)
    (local.set $n (i64.extend_i32_u (local.get $length)))
    (local.set $to (call $alloc
        (i64.add (i64.add (local.get $n) (call $input_length)) (i64.const 1))))
    (block $done (loop $next
        (br_if $done (i64.ge_u (local.get $i) (local.get $n)))
        (call $store (i64.add (local.get $to) (local.get $i))
            (i32.load8_u (i32.add (local.get $from) (i32.wrap_i64 (local.get $i)))))
        (local.set $i (i64.add (local.get $i) (i64.const 1)))
        (br $next)))
    (local.set $i (i64.const 0))
    (block $done (loop $next
        (br_if $done (i64.ge_u (local.get $i) (call $input_length)))
        (call $store
            (i64.add (i64.add (local.get $to) (local.get $n)) (local.get $i))
            (call $input (local.get $i)))
        (local.set $i (i64.add (local.get $i) (i64.const 1)))
        (br $next)))
    (call $store
        (i64.add (i64.add (local.get $to) (local.get $n)) (call $input_length))
        (i32.const 125))
    (call $output_set (local.get $to)
        (i64.add (i64.add (local.get $n) (call $input_length)) (i64.const 1))))";

/// A servlet with a resource `x:` and a prompt `p`, which return their requests in `_meta`.
pub(crate) fn echo_features() -> Vec<u8> {
    let wat = Wat::new().describe(&describe(&[])).answer("{}");
    let resources = json!({ "resources": [{ "uri": "x:", "name": "x" }] }).to_string();
    let prompts = json!({ "prompts": [{ "name": "p" }] }).to_string();
    let (output, echo) = (
        "(call $output {}) (i32.const 0)",
        "(call $echo {}) (i32.const 0)",
    );
    let contents = r#"{"contents":[{"uri":"x:","text":"x"}],"_meta":"#;
    wat.export("list_resources", &resources, output)
        .export("read_resource", contents, echo)
        .export("list_prompts", &prompts, output)
        .export("get_prompt", r#"{"messages":[],"_meta":"#, echo)
        .after(ECHO)
        .wasm()
}

/// The behaviour of a tool.
#[derive(Clone, Copy)]
pub(crate) enum Reply<'t> {
    /// Its output.
    Output(&'t str),
    /// The text of an error, which may be a fault.
    Error(&'t str),
    /// The message of a panic.
    Panic(&'t str),
    Trap,
    /// It takes memory until there is no more.
    Grow,
    /// It sends an HTTP request, in the JSON of Extism, and traps.
    Send(&'t str),
    /// It does not end.
    Hang,
}

const HTTP: &str =
    r#"(import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))"#;

/// A servlet that replies to a request by how it begins: with the name of the tool and the arguments, such as
/// `"search","arguments":{"query":"rust"`. It traps if it gets another request.
pub(crate) fn replies(tools: &Value, replies: &[(&str, Reply<'_>)]) -> Vec<u8> {
    let (mut texts, mut cases) = (String::new(), Vec::new());
    for (begin, reply) in replies {
        let input = format!(r#"{{"params":{{"name":{begin}"#);
        let start = texts.len();
        texts += &input;
        let (text, does) = match reply {
            Reply::Output(text) => (*text, "(call $output {}) (return (i32.const 0))"),
            Reply::Error(text) => (*text, "(call $error {}) (return (i32.const 1))"),
            Reply::Panic(text) => (*text, "(call $error {}) (unreachable)"),
            Reply::Trap => ("", "(unreachable)"),
            Reply::Grow => (
                "",
                "(loop $again (drop (memory.grow (i32.const 16))) (br $again))",
            ),
            Reply::Send(request) => (
                *request,
                "(drop (call $http (call $block {}) (i64.const 0))) (unreachable)",
            ),
            Reply::Hang => ("", "(loop $again (br $again))"),
        };
        let place = format!("(i32.const {}) (i32.const {})", texts.len(), text.len());
        texts += text;
        cases.push(format!(
            "(if (call $begins (i32.const {start}) (i32.const {})) (then {}))",
            input.len(),
            does.replace("{}", &place)
        ));
    }
    let begins = "(func $begins (param $from i32) (param $length i32) (result i32) (local $at i32)
        (loop $next
            (if (i32.eq (local.get $at) (local.get $length)) (then (return (i32.const 1))))
            (if (i32.ne
                (call $input (i64.extend_i32_u (local.get $at)))
                (i32.load8_u (i32.add (local.get $from) (local.get $at))))
                (then (return (i32.const 0))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $next))
        (unreachable))";
    let description = json!({ "tools": tools }).to_string();
    let wat = Wat::new().text(&texts).describe(&description);
    let wat = wat.export("call", "", &format!("{} (unreachable)", cases.concat()));
    let sends = replies
        .iter()
        .any(|(_, reply)| matches!(reply, Reply::Send(_)));
    wat.import(if sends { HTTP } else { "" })
        .after(begins)
        .wasm()
}
