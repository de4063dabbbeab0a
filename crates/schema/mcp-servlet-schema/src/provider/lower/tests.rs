//! Schemas before and after each step.

use serde_json::{Value, json};

use super::*;

fn lowered(provider: Provider, schema: Value) -> Value {
    let mut tool = json!({ "name": "t", "inputSchema": schema });
    lower(provider, tool.as_object_mut().expect("an object"));
    tool["inputSchema"].take()
}

fn argument(provider: Provider, schema: Value) -> Value {
    let schema = json!({ "type": "object", "properties": { "a": schema } });
    lowered(provider, schema)["properties"]["a"].take()
}

#[test]
fn references_become_what_they_refer_to() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "$ref": "#/$defs/Range", "description": "where" },
            "b": { "$ref": "#/$defs/Tree" },
        },
        "$defs": {
            "Range": { "type": "object", "description": "a range", "properties": { "from": { "type": "integer" } } },
            "Tree": { "type": "object", "properties": { "left": { "$ref": "#/$defs/Tree" } } },
        },
    });
    let lowered = lowered(Provider::Anthropic, schema);
    assert_eq!(
        lowered,
        json!({
            "type": "object",
            "properties": {
                "a": { "description": "where", "type": "object", "properties": { "from": { "type": "integer" } } },
                "b": { "type": "object", "properties": { "left": {} } },
            },
        })
    );
}

#[test]
fn references_cannot_make_a_schema_endless() {
    let mut definitions = serde_json::Map::new();
    for at in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/{}", at + 1) });
        definitions.insert(
            at.to_string(),
            json!({ "properties": { "a": next, "b": next } }),
        );
    }
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/0" } }, "$defs": definitions });
    let text = lowered(Provider::Gemini, schema).to_string();
    assert!(text.len() < 1 << 20, "{} bytes", text.len());
}

#[test]
fn alternatives_at_the_root_become_optional_properties() {
    let schema = json!({
        "type": "object",
        "oneOf": [
            { "properties": { "kind": { "const": "circle" }, "radius": { "type": "number" } }, "required": ["kind", "radius"] },
            { "properties": { "kind": { "const": "square" }, "side": { "type": "number" } }, "required": ["kind", "side"] },
        ],
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "kind": { "enum": ["circle", "square"] },
            "radius": { "type": "number" },
            "side": { "type": "number" },
        },
    });
    assert_eq!(lowered(Provider::Anthropic, schema), expected);
}

#[test]
fn gemini_gets_single_types_and_enums_of_strings() {
    for (schema, expected) in [
        (
            json!({ "type": ["string", "null"] }),
            json!({ "type": "string" }),
        ),
        (
            json!({ "type": ["string", "integer"] }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
        ),
        (
            json!({ "type": "integer", "enum": [1, 2], "description": "how many" }),
            json!({ "type": "integer", "description": "how many\nOne of 1, 2." }),
        ),
        (
            json!({ "type": "string", "enum": [] }),
            json!({ "type": "string" }),
        ),
        (
            json!({ "type": "string", "enum": ["a"] }),
            json!({ "type": "string", "enum": ["a"] }),
        ),
        (
            json!({ "type": "string", "format": "uri", "examples": ["x:"], "x-order": 1 }),
            json!({ "type": "string" }),
        ),
        (
            json!({ "type": "array", "prefixItems": [{ "type": "integer" }, { "type": "integer" }], "minItems": 2 }),
            json!({ "type": "array", "minItems": 2, "items": { "type": "integer" } }),
        ),
        (
            json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX }),
            json!({ "type": "integer", "minimum": 0 }),
        ),
    ] {
        assert_eq!(
            argument(Provider::Gemini, schema.clone()),
            expected,
            "{schema}"
        );
    }
}

#[test]
fn a_property_that_is_named_like_a_keyword_stays() {
    let schema = json!({ "type": "object", "properties": { "examples": { "type": "string" }, "$ref": { "type": "string" } } });
    let lowered = lowered(Provider::Gemini, schema);
    let names: Vec<_> = lowered["properties"]
        .as_object()
        .expect("properties")
        .keys()
        .collect();
    assert_eq!(names, ["examples", "$ref"]);
}

#[test]
fn openai_gets_closed_objects_and_short_descriptions() {
    let inner = json!({ "type": "object", "properties": {} });
    let map = json!({ "type": ["object", "null"], "additionalProperties": { "type": "string" } });
    assert_eq!(
        argument(Provider::OpenAi, inner)["additionalProperties"],
        false
    );
    assert_eq!(argument(Provider::OpenAi, map.clone()), map);
    let mut tool = json!({ "description": "ä".repeat(2000), "inputSchema": { "type": "object" } });
    lower(Provider::OpenAi, tool.as_object_mut().expect("an object"));
    assert_eq!(
        tool["description"]
            .as_str()
            .map(|text| text.chars().count()),
        Some(1024)
    );
}

#[test]
fn openai_gets_required_properties_that_may_be_null() {
    for (schema, expected) in [
        (
            json!({ "type": "string" }),
            json!({ "type": ["string", "null"] }),
        ),
        (
            json!({ "type": ["string", "integer"] }),
            json!({ "type": ["string", "integer", "null"] }),
        ),
        (
            json!({ "type": ["string", "null"] }),
            json!({ "type": ["string", "null"] }),
        ),
        (json!({}), json!({})),
        (json!(true), json!(true)),
        (
            json!({ "type": "string", "enum": ["a"], "default": "a" }),
            json!({ "type": ["string", "null"], "enum": ["a", null], "default": "a" }),
        ),
        (
            json!({ "description": "d", "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }, { "type": "null" }], "description": "d" }),
        ),
        (
            json!({ "type": "string", "const": "a" }),
            json!({ "anyOf": [{ "type": "string", "const": "a" }, { "type": "null" }] }),
        ),
        (
            json!({ "enum": ["a", null] }),
            json!({ "enum": ["a", null] }),
        ),
        (
            json!({ "type": "string", "enum": ["a", null] }),
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
        ),
        (
            json!({ "type": ["string", "null"], "enum": ["a"] }),
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
        ),
        (
            json!({ "type": "object", "properties": { "b": { "type": "integer" } } }),
            json!({
                "type": ["object", "null"], "properties": { "b": { "type": ["integer", "null"] } },
                "additionalProperties": false, "required": ["b"],
            }),
        ),
    ] {
        assert_eq!(
            argument(Provider::OpenAi, schema.clone()),
            expected,
            "{schema}"
        );
    }
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } }, "required": ["b"] });
    let schema = lowered(Provider::OpenAi, schema);
    assert_eq!(schema["required"], json!(["a", "b"]));
    assert_eq!(schema["properties"]["b"], json!({ "type": "string" }));
}

#[test]
fn null_stays_where_the_variant_of_the_value_requires_it() {
    let variant = |tag: &str, payload: &Value, required: &[&str]| {
        let properties = json!({ "kind": { "const": tag }, "v": payload });
        json!({ "type": "object", "properties": properties, "required": required })
    };
    let mut tool = json!({ "name": "t", "inputSchema": { "type": "object", "properties": { "shape": { "anyOf": [
        variant("x", &json!({ "type": ["string", "null"] }), &["kind", "v"]),
        variant("y", &json!({ "type": "integer" }), &["kind"]),
        variant("z", &json!({ "type": "integer" }), &[]),
    ] } } } });
    let undo = lower(Provider::OpenAi, tool.as_object_mut().expect("an object"))
        .expect("a schema with optional properties");
    let passed_on = |given: Value| json!(*undo.arguments(given.as_object().expect("an object")));
    let required = json!({ "shape": { "kind": "x", "v": null } });
    assert_eq!(passed_on(required.clone()), required);
    let optional = json!({ "shape": { "kind": "y", "v": null } });
    assert_eq!(passed_on(optional), json!({ "shape": { "kind": "y" } }));
    let no_tag = json!({ "shape": { "kind": null, "v": 1 } });
    assert_eq!(passed_on(no_tag), json!({ "shape": { "v": 1 } }));
}

#[test]
fn removes_null_for_optional_properties() {
    let inner = json!({ "type": "object", "properties": { "x": { "type": "integer" } } });
    let mut tool = json!({ "name": "t", "inputSchema": {
        "type": "object",
        "required": ["needed"],
        "properties": {
            "needed": { "type": "string" },
            "text": { "type": "string" },
            "nullable": { "type": ["string", "null"] },
            "any": {},
            "inner": { "$ref": "#/$defs/Inner" },
            "list": { "type": "array", "items": inner },
            "map": { "type": "object", "additionalProperties": inner },
            "either": { "anyOf": [inner, { "type": "string" }] },
        },
        "$defs": { "Inner": inner },
    } });
    let undo = lower(Provider::OpenAi, tool.as_object_mut().expect("an object"))
        .expect("a schema with optional properties");
    let given = json!({
        "needed": null, "text": null, "nullable": null, "any": null, "unknown": null,
        "inner": { "x": null }, "list": [{ "x": null }, { "x": 1 }], "map": { "k": { "x": null } }, "either": { "x": null },
    });
    let kept = json!({
        "needed": null, "nullable": null, "any": null, "unknown": null,
        "inner": {}, "list": [{}, { "x": 1 }], "map": { "k": {} }, "either": {},
    });
    let arguments = undo.arguments(given.as_object().expect("an object"));
    assert_eq!(json!(*arguments), kept);
    let without = json!({ "needed": "a", "list": [{ "x": 1 }] });
    let arguments = undo.arguments(without.as_object().expect("an object"));
    assert!(matches!(arguments, Cow::Borrowed(_)));
    assert_eq!(
        lower(Provider::Gemini, tool.as_object_mut().expect("an object")),
        None
    );
}
