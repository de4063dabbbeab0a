//! Arguments that a tool does not know, which some clients add on their own.

use mcp_servlet_host::Host;
use mcp_servlet_runtime::{LoadOptions, UnknownArguments};
use serde_json::{Value, json};

use crate::{client::Served, support::Wat};

/// Fails with its input as the error text.
const ECHO: &str = "(local $to i64) (local $i i64)
    (local.set $to (call $alloc (call $input_length)))
    (block $done (loop $next
        (br_if $done (i64.ge_u (local.get $i) (call $input_length)))
        (call $store (i64.add (local.get $to) (local.get $i)) (call $input (local.get $i)))
        (local.set $i (i64.add (local.get $i) (i64.const 1)))
        (br $next)))
    (call $error_set (local.get $to))
    (i32.const -1)";

/// A tool with this schema, on a server that drops or refuses unknown arguments.
fn served(schema: &Value, unknown: UnknownArguments) -> Served {
    let tool = json!({ "name": "t", "description": "d", "inputSchema": schema });
    let wat = Wat::new()
        .describe(&json!({ "tools": [tool] }).to_string())
        .export("call", "", ECHO);
    let mut options = LoadOptions::default();
    options.unknown = unknown;
    let servlet = wat.load_with(&options).expect("a servlet");
    Served::start(Host::new(vec![servlet]))
}

/// What the servlet receives, or the error for the model.
fn sent(served: &Served, arguments: Value) -> String {
    let params = json!({ "name": "t", "arguments": arguments });
    let message = served.ask("tools/call", params).message();
    let text = message["error"]["message"].as_str();
    let text = text.or_else(|| message["result"]["content"][0]["text"].as_str());
    text.unwrap_or_else(|| panic!("{message}")).to_owned()
}

const DROPPED: &str = r#"servlet_arguments_dropped_total{servlet="test",tool="t"}"#;

#[test]
fn unknown_arguments_are_dropped_before_the_call_if_the_operator_wants_it() {
    let schema = json!({
        "type": "object", "properties": { "a": { "type": "integer" } }, "additionalProperties": false,
    });
    let arguments = json!({ "a": 1, "toolCallId": "x", "b": null });
    let dropping = served(&schema, UnknownArguments::Drop);
    let input = sent(&dropping, arguments.clone());
    assert!(input.contains(r#""arguments":{"a":1}"#), "{input}");
    let metrics = dropping.service.metrics();
    assert!(metrics.contains(&format!("{DROPPED} 2")), "{metrics}");

    let refusing = served(&schema, UnknownArguments::Refuse);
    let text = sent(&refusing, arguments);
    assert!(
        text.contains("`/toolCallId` is unknown; known are `a`"),
        "{text}"
    );
    let metrics = refusing.service.metrics();
    assert!(!metrics.contains(DROPPED), "{metrics}");
}

#[test]
fn arguments_of_other_servlets_are_dropped_by_their_schemas_too() {
    let a = json!({ "a": { "type": "integer" } });
    for (schema, keeps) in [
        (json!({ "type": "object", "properties": a }), false),
        (json!({ "type": "object" }), true),
        (
            json!({ "type": "object", "properties": a, "additionalProperties": true }),
            true,
        ),
        (
            json!({ "type": "object", "properties": a, "patternProperties": { "^t": {} } }),
            true,
        ),
    ] {
        let served = served(&schema, UnknownArguments::Drop);
        let input = sent(&served, json!({ "a": 1, "toolCallId": "x" }));
        assert_eq!(input.contains("toolCallId"), keeps, "{schema}: {input}");
        assert_eq!(
            served.service.metrics().contains(DROPPED),
            !keeps,
            "{schema}"
        );
    }
}
