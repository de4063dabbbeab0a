//! What is wrong with the definition of a virtual tool, before any call.
//!
//! `mcp-servlet-server/tests/config_check` has all texts.

mod support;

use mcp_servlet_bundle::JsonObject;
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
    let problems = tool.prove(&[&handler]).expect_err("a problem");
    let text = "_meta.s: `weather:get_weather` has no output schema: write `result.structuredContent.summary`";
    assert_eq!(problems[0].to_string(), format!("result.{text}"));
}

/// All problems, as `PLACE: MESSAGE`.
fn texts(spec: &Value) -> Vec<String> {
    let problems = problems(spec);
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn arguments_that_are_passed_on_fit_the_handler() {
    let required = ["city", "units"];
    let arguments = |days: Value| {
        let properties = json!({ "city": {}, "units": {}, "days": days });
        json!({ "arguments": { "properties": properties, "required": required } })
    };
    let only_city = json!({ "properties": { "city": {} }, "required": ["city"] });
    for (spec, expected) in [
        (
            arguments(json!({ "type": "string" })),
            "arguments.properties.days: the argument `days` is {\"type\":\"string\"}, but `weather:get_weather` takes {\"type\":\"integer\"} for `days`",
        ),
        (
            json!({ "arguments": { "properties": { "city": {}, "units": {}, "day": {} }, "required": required } }),
            "arguments.properties.day: `weather:get_weather` has no argument `day`; it has `city`, `units` and `days`",
        ),
        (
            json!({ "arguments": { "properties": { "city": {}, "units": {} }, "required": ["units"] } }),
            "arguments.properties.city: `arguments` must require `city`: `weather:get_weather` needs it",
        ),
        (
            json!({ "arguments": only_city }),
            "arguments: `weather:get_weather` needs `units`, which `arguments` does not have",
        ),
        (
            json!({ "arguments": only_city, "set": { "days": 2 } }),
            "arguments: `weather:get_weather` needs `units`, which neither `arguments` nor `set` has",
        ),
    ] {
        assert_eq!(texts(&spec), [expected], "{spec}");
    }
    for valid in [
        arguments(json!({ "type": ["integer", "null"] })),
        arguments(json!({ "enum": [1, 2] })),
        json!({ "arguments": only_city, "set": { "units": "m" } }),
        json!({ "arguments": { "$ref": "#/$defs/all", "$defs": { "all": { "required": required } } } }),
    ] {
        let tool = compile(&valid).expect("a tool");
        let proven = tool.prove(&[&weather()]);
        assert!(proven.is_ok(), "{valid}: {proven:?}");
    }
}

#[test]
fn an_argument_is_required_if_an_input_that_the_handler_requires_is_nothing_else() {
    let inputs = |path: &str| json!({ "city": format!("${{{{ {path} }}}}"), "units": "m" });
    let arguments = json!({ "properties": { "place": {} } });
    let spec = json!({ "inputs": inputs("request.arguments.place"), "arguments": arguments });
    let expected = "`arguments` must require `place`: `inputs.city` is only this argument, and `weather:get_weather` needs it";
    let at = "arguments.properties.place";
    assert_eq!(texts(&spec), [format!("{at}: {expected}")]);
    let days = "${{ request.arguments.days }}";
    let spec = json!({ "set": { "city": days, "units": "m" } });
    let expected = "set.city: `arguments` must require `days`: `set.city` is only this argument, and `weather:get_weather` needs it";
    assert_eq!(texts(&spec), [expected]);
    for path in [
        "request.arguments.?place",
        "'in ' + request.arguments.place",
    ] {
        let spec = json!({ "inputs": inputs(path), "arguments": arguments });
        let tool = compile(&spec).expect("a tool");
        assert!(tool.prove(&[&weather()]).is_ok(), "{path}");
    }
}

#[test]
fn all_arguments_together_are_known_if_one_is() {
    let text = "${{ text(request.arguments) }}";
    let (place, range, message) = only(json!({ "inputs": { "city": text, "units": "m" } }));
    assert_eq!(place, "inputs.city");
    assert_eq!(&text[range.expect("a range")], "arguments");
    let expected =
        "the arguments are not known: no input is only `request.arguments.NAME`; set `arguments`";
    assert_eq!(message, expected);
    let inputs = json!({ "city": "${{ request.arguments.city }}", "units": text });
    let tool = compile(&json!({ "inputs": inputs })).expect("a tool");
    assert!(tool.prove(&[&weather()]).is_ok());
}

const SUMMARY: &str = "${{ result.summary }}";

#[test]
fn content_blocks_have_the_members_of_their_types() {
    for (block, expected) in [
        (
            json!({ "type": "text", "text": 7 }),
            ".text: expected a string, found an integer",
        ),
        (
            json!({ "type": "image", "data": SUMMARY, "mimeType": [] }),
            ".mimeType: expected a string, found an array",
        ),
        (
            json!("a${{ result.summary }}"),
            ": a content block needs a `type`: `text`, `image`, `audio`, `resource_link` and `resource`",
        ),
        (
            json!({ "type": "resource", "resource": "a:b" }),
            ".resource: expected an object, found a string",
        ),
        (
            json!({ "type": "resource", "resource": { "uri": SUMMARY } }),
            ".resource: expected either `text` or `blob`",
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "a:b", "text": "a", "blob": "b" } }),
            ".resource: expected either `text` or `blob`",
        ),
        (
            json!({ "type": "resource", "resource": { "text": "a", "blob": SUMMARY } }),
            ".resource: `uri` is missing: a resource needs it",
        ),
    ] {
        let spec = json!({ "result": { "content": [SUMMARY, block] } });
        let expected = format!("result.content[1]{expected}");
        assert_eq!(texts(&spec), [expected], "{spec}");
    }
    for valid in [
        json!({ "type": "resource", "resource": { "uri": "a:b", "text": SUMMARY, "blob": SUMMARY } }),
        json!({ "type": SUMMARY, "text": 7 }),
    ] {
        let spec = json!({ "result": { "content": [valid] } });
        assert!(compile(&spec).is_ok(), "{spec}");
    }
}

#[test]
fn constants_in_results_have_the_types_of_mcp() {
    for (result, expected) in [
        (
            json!({ "content": [], "isError": "yes" }),
            "result.isError: expected a boolean, found a string",
        ),
        (
            json!({ "content": [], "_meta": 1 }),
            "result._meta: expected an object, found an integer",
        ),
    ] {
        let spec = json!({ "result": result });
        assert_eq!(texts(&spec), [expected], "{spec}");
    }
    // A wrong expression has only one message.
    let spec = json!({ "result": { "content": "${{ ) }}", "isError": "${{ ) }}" } });
    assert_eq!(texts(&spec).len(), 2, "{:?}", texts(&spec));
}

#[test]
fn constants_in_structured_content_match_the_output_schema() {
    let output = json!({
        "type": "object",
        "properties": {
            "days": { "type": "array", "items": { "type": "integer" } },
            "wind": { "type": "object", "required": ["speed"] },
        },
        "required": ["days"],
    });
    let spec = |structured: Value| {
        let result = json!({ "content": [], "structuredContent": structured });
        json!({ "result": result, "output": output })
    };
    for (structured, expected) in [
        (
            json!({ "days": [1, SUMMARY, "s3cret"] }),
            ".days[2]: `output` takes {\"type\":\"integer\"} here, found a string",
        ),
        (
            json!({ "days": 7, "wind": SUMMARY }),
            ".days: `output` takes {\"type\":\"array\",\"items\":{\"type\":\"integer\"}} here, found an integer",
        ),
        (
            json!({ "days": [], "wind": { "from": SUMMARY } }),
            ".wind: `speed` is missing: `output` requires it",
        ),
        (json!({}), ": `days` is missing: `output` requires it"),
    ] {
        let spec = spec(structured);
        let expected = format!("result.structuredContent{expected}");
        assert_eq!(texts(&spec), [expected], "{spec}");
    }
    for valid in [json!(SUMMARY), json!({ "days": [1, SUMMARY] })] {
        let spec = spec(valid);
        assert!(compile(&spec).is_ok(), "{spec}");
    }
    // The structured content of an error does not have to match.
    let mut error = spec(json!(7));
    error["result"]["isError"] = json!(true);
    assert!(compile(&error).is_ok());
}

/// A handler whose arguments refer to each other.
fn trip() -> JsonObject {
    let mut handler = weather();
    handler["inputSchema"] = json!({
        "type": "object",
        "properties": {
            "from": { "type": "string" },
            "to": { "$ref": "#/properties/from" },
            "via": { "type": "array", "items": { "$ref": "#/$defs/stop" } },
            "day": { "$ref": "#/$defs/day" },
        },
        "$defs": {
            "stop": { "properties": { "at": { "$ref": "#/properties/from" } } },
            "day": { "type": "integer" },
        },
    });
    handler
}

#[test]
fn references_lead_to_what_clients_see() {
    let prove = |spec: &Value| {
        let proven = compile(spec).expect("a tool").prove(&[&trip()]);
        let problems = proven.err().unwrap_or_default();
        let texts = problems.iter().map(ToString::to_string);
        texts.collect::<Vec<_>>()
    };
    let problem = |place: &str, argument: &str| {
        format!(
            "{place}: the schema of the argument `{argument}` refers to `#/properties/from` in the schema of `weather:get_weather`, which clients do not see: set `arguments`"
        )
    };
    let argument = |name: &str| format!("${{{{ request.arguments.{name} }}}}");
    for (spec, expected) in [
        (
            json!({ "set": { "from": "Oslo" } }),
            vec![problem("set", "to"), problem("set", "via")],
        ),
        (
            json!({ "inputs": { "to": argument("goal"), "from": "Oslo" } }),
            vec![problem("inputs.to", "goal")],
        ),
        // Another argument has the name now.
        (
            json!({ "inputs": { "day": argument("from"), "to": argument("to") } }),
            vec![problem("inputs.to", "to")],
        ),
    ] {
        assert_eq!(prove(&spec), expected, "{spec}");
    }
    let all = ["from", "to", "via"].map(|name| (name.to_owned(), Value::from(argument(name))));
    let all = JsonObject::from_iter(all);
    for valid in [
        json!({ "set": { "day": 1 } }),
        json!({ "set": { "to": "Oslo" } }),
        json!({ "inputs": { "day": argument("day") } }),
        json!({ "inputs": all }),
        json!({ "set": { "from": "Oslo" }, "arguments": { "properties": { "to": {} } } }),
    ] {
        assert_eq!(prove(&valid), [""; 0], "{valid}");
    }
}

#[test]
fn a_schema_that_speaks_elsewhere_of_its_arguments_cannot_have_fixed_ones() {
    let tool = compile(&json!({ "set": { "units": "metric" } })).expect("a tool");
    let mut handler = weather();
    handler["inputSchema"]["anyOf"] = json!([{ "required": ["units"] }]);
    let problems = tool.prove(&[&handler]).expect_err("a problem");
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
            .prove(&[&weather()])
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
    let proven = tool.prove(&[&weather()]).expect("a proof");
    let texts = format!("{tool:?} {:?} {:?}", proven.tool(), proven.definition());
    assert!(!texts.contains("s3cret"), "{texts}");
}
