//! What is wrong with the definition of a virtual tool, before any call.

mod support;

use serde_json::{Value, json};
use support::{compile, problems, weather};

/// The place, the marked text and the message of the only problem.
fn only(spec: Value) -> (String, Option<std::ops::Range<usize>>, String) {
    let mut all = problems(&spec);
    assert_eq!(all.len(), 1, "{spec}: {all:#?}");
    let problem = all.remove(0);
    (problem.place.to_string(), problem.range, problem.message)
}

#[expect(clippy::too_many_lines, reason = "it is a table")]
#[test]
fn each_mistake_has_a_place_and_a_text() {
    let city = "${{ request.arguments.city }}";
    let inputs = json!({ "city": city, "units": "metric" });
    for (spec, place, text) in [
        (
            json!({ "handler": "weather" }),
            "handler",
            "expected a member and its tool, such as \"weather:get_weather\"",
        ),
        (
            json!({ "inputs": inputs, "set": {} }),
            "set",
            "`inputs` has all arguments of the handler, and `set` only those that are fixed: use one of them",
        ),
        (
            json!({ "set": { "city": "${{ requst.name }}" } }),
            "set.city",
            "there is no `requst` here; `set` can read `request`",
        ),
        (
            json!({ "set": { "city": "${{ error.code }}" } }),
            "set.city",
            "`error` is not known in `set`, only in `catches`",
        ),
        (
            json!({ "set": { "city": "${{ request.args.city }}" } }),
            "set.city",
            "`request` has no `args`; it has `name`, `arguments`, `meta` and `session`",
        ),
        (
            json!({ "set": { "city": "${{ request.session.ip }}" } }),
            "set.city",
            "`request.session` has no `ip`; it has `id`, `clientInfo` and `capabilities`",
        ),
        (
            json!({ "set": { "city": "${{ lower('A') }}" } }),
            "set.city",
            "there is no function `lower`; there is `lowerAscii`",
        ),
        (
            json!({ "set": { "city": "${{ 1 == }}" } }),
            "set.city",
            "invalid expression: expected a value after `==`",
        ),
        (
            json!({ "set": { "city": "${{ 1" } }),
            "set.city",
            "`${{` has no `}}`",
        ),
        (
            json!({ "set": { "city": "${{ 'a'.matches(request.name) }}" } }),
            "set.city",
            "`matches` needs its pattern in the expression, as in `x.matches('^a')`",
        ),
        (
            json!({ "set": { "ctiy": "Oslo" } }),
            "set.ctiy",
            "`weather:get_weather` has no argument `ctiy`; it has `city`, `units` and `days`",
        ),
        (
            json!({ "set": { "days": "many" } }),
            "set.days",
            "`weather:get_weather` takes {\"type\":\"integer\"} for `days`, found a string",
        ),
        (
            json!({ "inputs": { "city": city } }),
            "inputs",
            "`weather:get_weather` needs `units`, which `inputs` does not have",
        ),
        (
            json!({ "inputs": { "city": "${{ request.arguments.place + '' }}", "units": "metric" } }),
            "inputs.city",
            "the schema of the argument `place` is not known: no input is only `request.arguments.place`; set `arguments`",
        ),
        (
            json!({ "inputs": inputs, "arguments": { "properties": { "city": {}, "cty": {} } } }),
            "arguments.properties.cty",
            "no expression reads the argument `cty`",
        ),
        (
            json!({ "inputs": { "city": "${{ request.arguments.cty }}", "units": "${{ request.arguments.city }}" }, "arguments": { "properties": { "city": {} } } }),
            "inputs.city",
            "there is no argument `cty`; there is `city`",
        ),
        (
            json!({ "inputs": { "city": city, "units": "m", "days": city }, "arguments": { "properties": { "city": { "type": "string" } } } }),
            "inputs.days",
            "the argument `city` is {\"type\":\"string\"}, but `weather:get_weather` takes {\"type\":\"integer\"} for `days`",
        ),
        (
            json!({ "arguments": 7 }),
            "arguments",
            "expected a JSON Schema as a table",
        ),
        (
            json!({ "result": { "structuredContent": {} } }),
            "result",
            "a result needs `content`, a list of content blocks",
        ),
        (
            json!({ "result": { "content": [], "contents": [] } }),
            "result.contents",
            "a result has `content`, `structuredContent`, `isError` and `_meta`, not `contents`",
        ),
        (
            json!({ "result": { "content": [{ "type": "text" }] } }),
            "result.content[0]",
            "`text` is missing: a content block of type `text` needs it",
        ),
        (
            json!({ "result": { "content": [{ "text": "${{ request.name }}" }] } }),
            "result.content[0]",
            "a content block needs a `type`: `text`, `image`, `audio`, `resource_link` and `resource`",
        ),
        (
            json!({ "result": { "content": "${{ result.sumary }}" } }),
            "result.content",
            "`weather:get_weather` has no `sumary` in its output schema; it has `summary` and `temperature`",
        ),
        (
            json!({ "output": { "type": "object" }, "result": { "content": [] } }),
            "result",
            "tool `city_weather` has an output schema, so its `result` needs `structuredContent`",
        ),
        (
            json!({ "catches": [{ "error": { "code": -32050 } }] }),
            "catches[0].error.code",
            "-32050 is reserved by JSON-RPC and MCP; use -32000 to -32019, or a code outside -32768 to -32000",
        ),
        (
            json!({ "catches": [{ "error": { "code": 7 } }] }),
            "catches[0].error.code",
            "expected a negative code, found 7",
        ),
        (
            json!({ "catches": [{ "kind": "timout", "error": { "code": -32001 } }] }),
            "catches[0].kind",
            "there is no kind `timout`; there is `timeout`",
        ),
        (
            json!({ "catches": [{ "code": "A", "error": { "code": -32001 } }, { "code": "A", "error": { "code": -32002 } }] }),
            "catches[1]",
            "this entry is never used: entry 1 catches `A` already",
        ),
        (
            json!({ "catches": [{ "error": { "code": -32001 } }, { "error": { "code": -32002 } }] }),
            "catches[1]",
            "this entry is never used: entry 1 matches all other failures too",
        ),
        (
            json!({ "catches": [{ "when": "${{ result.x }}", "error": { "code": -32001 } }] }),
            "catches[0].when",
            "`result` is not known in `catches`, only in `result`",
        ),
        (
            json!({ "catches": [{ "when": "true", "error": { "code": -32001 } }] }),
            "catches[0].when",
            "expected one expression, such as \"${{ error.data.retry < 60 }}\"",
        ),
        (
            json!({ "catches": [{ "when": "", "error": { "code": -32001 } }] }),
            "catches[0].when",
            "expected one expression, such as \"${{ error.data.retry < 60 }}\"",
        ),
        (
            json!({ "catches": [{ "when": "${{ true }}${{ true }}", "error": { "code": -32001 } }] }),
            "catches[0].when",
            "expected one expression, such as \"${{ error.data.retry < 60 }}\"",
        ),
        (
            json!({ "catches": [{ "error": { "code": -32001, "message": "${{ error.txt }}" } }] }),
            "catches[0].error.message",
            "`error` has no `txt`; it has `code`, `message` and `data`",
        ),
    ] {
        let (at, _, message) = only(spec.clone());
        assert_eq!((at.as_str(), message.as_str()), (place, text), "{spec}");
    }
}

#[test]
fn a_problem_marks_the_part_of_the_expression() {
    let text = "in ${{ request.args.city }}";
    let (_, range, _) = only(json!({ "set": { "city": text } }));
    assert_eq!(&text[range.expect("a range")], "args");
}

#[test]
fn all_problems_come_at_once() {
    let spec = json!({
        "set": { "city": "${{ a.b }}", "units": "${{ c.d + e.f }}" },
        "catches": [{ "kind": "x", "error": { "code": 1 } }],
    });
    assert_eq!(problems(&spec).len(), 5);
}

#[test]
fn a_handler_without_an_output_schema_has_only_the_members_of_results() {
    let spec = json!({ "result": { "content": "${{ result.content }}", "_meta": { "s": "${{ result.summary }}" } } });
    let tool = compile(&spec).expect("a tool");
    let mut handler = weather();
    handler.shift_remove("outputSchema");
    let problems = tool.prove(&handler).expect_err("a problem");
    let text = "_meta.s: `weather:get_weather` has no output schema: write `result.structuredContent.summary`";
    assert_eq!(problems[0].to_string(), format!("result.{text}"));
}

#[test]
fn a_schema_that_speaks_elsewhere_of_its_arguments_cannot_have_fixed_ones() {
    let tool = compile(&json!({ "set": { "units": "metric" } })).expect("a tool");
    let mut handler = weather();
    handler["inputSchema"]["anyOf"] = json!([{ "required": ["units"] }]);
    let problems = tool.prove(&handler).expect_err("a problem");
    assert_eq!(
        problems[0].message,
        "`units` cannot be fixed: the schema of `weather:get_weather` uses `anyOf`; use `inputs` and `arguments`"
    );
}

#[test]
fn clients_cannot_be_expected_to_send_what_is_fixed() {
    let problem = only(json!({
        "set": { "units": "metric" },
        "arguments": { "type": "object", "properties": { "city": {}, "units": {} }, "required": ["city"] },
    }));
    let message = "`units` is fixed by `set`, so clients cannot send it: remove it here";
    assert_eq!(problem, ("arguments".to_owned(), None, message.to_owned()));
}

#[test]
fn clients_see_the_handler_without_what_is_fixed() {
    let definition = |spec: Value| {
        let tool = compile(&spec)
            .expect("a tool")
            .prove(&weather())
            .expect("a proof");
        Value::Object(tool.definition().clone())
    };
    let set = definition(json!({ "set": { "units": "metric" } }));
    assert_eq!(set["name"], "city_weather");
    assert_eq!(set["description"], "The weather.");
    assert_eq!(set["inputSchema"]["required"], json!(["city"]));
    assert_eq!(set["inputSchema"]["additionalProperties"], json!(false));
    assert!(set["inputSchema"]["properties"].get("units").is_none());
    assert!(set.get("outputSchema").is_some());

    let mapped = definition(json!({
        "description": "Mine.",
        "inputs": { "city": "${{ request.arguments.place }}", "units": "metric", "days": "${{ request.arguments.?days }}" },
        "result": { "content": [] },
    }));
    assert_eq!(mapped["description"], "Mine.");
    assert_eq!(
        mapped["inputSchema"],
        json!({
            "type": "object",
            "properties": { "place": { "type": "string" }, "days": { "type": "integer" } },
            "required": ["place"],
            "additionalProperties": false,
        })
    );
    assert!(mapped.get("outputSchema").is_none());
    let same = definition(json!({}));
    assert_eq!(same["inputSchema"], weather()["inputSchema"]);
}

#[test]
fn constants_are_in_no_text() {
    let spec = json!({ "set": { "days": "s3cret", "units": "s3cret" } });
    let texts = format!("{:?}", problems(&spec));
    assert!(!texts.contains("s3cret"), "{texts}");
    let tool = compile(&json!({ "set": { "units": "s3cret" } })).expect("a tool");
    let proven = tool.prove(&weather()).expect("a proof");
    let texts = format!("{tool:?} {:?} {:?}", proven.tool(), proven.definition());
    assert!(!texts.contains("s3cret"), "{texts}");
}
