//! The rules of the strictest readers of tool descriptions, applied to every description in these tests.
//!
//! Every property of arguments has a `type`, a string, and a description. Two kinds of schema cannot have a
//! `type`: one that accepts any JSON, and a union (`anyOf`) of values of several types. In results, and for the items
//! of lists and the values of maps, `type` may be a pair with `null`, and descriptions are optional.

use mcp_servlet::Servlet;
use serde_json::Value;

/// The description, if it follows the rules.
pub(crate) fn checked_description(servlet: &'static Servlet) -> Value {
    let description: Value =
        serde_json::from_str(&servlet.client().request("describe", "").unwrap()).unwrap();
    servlet.client().describe().unwrap();
    for tool in description["tools"].as_array().unwrap() {
        check_tool(tool);
        check_example(servlet, tool);
    }
    description
}

/// The example that the model reads must be valid.
fn check_example(servlet: &'static Servlet, tool: &Value) {
    let Some(example) = servlet.example(tool["name"].as_str().unwrap()) else {
        return;
    };
    let example: Value = serde_json::from_str(example.get()).unwrap();
    let schema = &tool["inputSchema"];
    let validator = jsonschema::draft202012::options().should_validate_formats(true);
    if let Err(error) = validator.build(schema).unwrap().validate(&example) {
        panic!("{example} is an example for {schema}: {error}");
    }
}

fn check_tool(tool: &Value) {
    for key in ["name", "description"] {
        let text = tool[key].as_str().unwrap();
        assert!(!text.is_empty() && text == text.trim(), "{key}: {text:?}");
    }
    let input = &tool["inputSchema"];
    assert_eq!(input["type"], "object", "{input}");
    assert!(
        input["properties"].is_object(),
        "no `properties` in {input}"
    );
    check_schema(input, Side::Input, false);
    compile(input);
    if let Some(output) = tool.get("outputSchema") {
        check_schema(output, Side::Output, true);
        compile(output);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Input,
    Output,
}

/// Both drafts that MCP's versions name must accept the schema, by their meta-schemas.
fn compile(schema: &Value) {
    for result in [
        jsonschema::draft7::new(schema),
        jsonschema::draft202012::new(schema),
    ] {
        if let Err(error) = result {
            panic!("{error} in {schema}");
        }
    }
}

/// Checks a schema, which may accept null as well if it is `nullable`.
fn check_schema(schema: &Value, side: Side, nullable: bool) {
    let object = schema
        .as_object()
        .unwrap_or_else(|| panic!("not an object: {schema}"));
    assert!(!object.contains_key("$schema"), "{schema}");
    check_type(schema, nullable);
    if let Some(text) = object.get("description") {
        let text = text.as_str().unwrap();
        assert!(!text.is_empty() && text == text.trim(), "{schema}");
    }
    if object.get("type").is_some_and(|ty| ty == "array") {
        assert!(
            object.contains_key("items"),
            "an array without `items`: {schema}"
        );
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = object.get(key).filter(|inner| !inner.is_boolean()) {
            check_schema(inner, side, true);
        }
    }
    for variant in object
        .get("anyOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        check_schema(variant, side, nullable);
    }
    check_properties(schema, side);
}

fn check_type(schema: &Value, nullable: bool) {
    match &schema["type"] {
        Value::String(_) => {}
        Value::Array(pair) if nullable => {
            assert!(
                pair.len() == 2 && pair[1] == "null" && pair[0] != "null",
                "{schema}"
            );
        }
        Value::Null => {
            let words = ["description", "default", "examples"];
            let is_any = schema
                .as_object()
                .unwrap()
                .keys()
                .all(|key| words.contains(&&**key));
            assert!(
                is_any || schema["anyOf"].is_array(),
                "no `type` in {schema}"
            );
        }
        _ => panic!("no `type` in {schema}"),
    }
}

fn check_properties(schema: &Value, side: Side) {
    let properties = schema["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        assert!(
            side == Side::Output || property["description"].is_string(),
            "{name} in {schema}"
        );
        check_schema(property, side, side == Side::Output);
    }
    let required = schema["required"].as_array();
    for (index, name) in required.into_iter().flatten().enumerate() {
        let name = name.as_str().unwrap();
        assert!(
            properties.is_some_and(|known| known.contains_key(name)),
            "{name} in {schema}"
        );
        assert!(
            !required.unwrap()[..index].contains(&name.into()),
            "{name} twice in {schema}"
        );
    }
}
