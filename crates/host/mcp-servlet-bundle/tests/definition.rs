//! What is wrong with the definition of a virtual tool, before any call.
//!
//! `mcp-servlet-server/tests/config_check` has all texts.

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

#[test]
fn a_mistake_has_a_place_and_a_text() {
    for (spec, place, text) in [
        (
            json!({ "handler": "weather" }),
            "handler",
            "expected a member and its tool, such as \"weather:get_weather\"",
        ),
        (
            json!({ "set": { "ctiy": "Oslo" } }),
            "set.ctiy",
            "`weather:get_weather` has no argument `ctiy`; it has `city`, `units` and `days`",
        ),
        (
            json!({ "result": { "content": [{ "type": "text" }] } }),
            "result.content[0]",
            "`text` is missing: a content block of type `text` needs it",
        ),
        (
            json!({ "catches": [{ "error": { "code": 7 } }] }),
            "catches[0].error.code",
            "expected a negative code, found 7",
        ),
        (
            json!({ "inputs": { "city": "${{ request.arguments.cty }}", "units": "m" }, "arguments": { "properties": { "city": {} } } }),
            "inputs.city",
            "there is no argument `cty`; there is `city`",
        ),
    ] {
        let all = problems(&spec);
        let problem = all.first().expect("a problem");
        let found = (problem.place.to_string(), problem.message.as_str());
        assert_eq!(found, (place.to_owned(), text), "{spec}");
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
