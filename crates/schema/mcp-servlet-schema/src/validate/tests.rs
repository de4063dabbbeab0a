//! Validation: errors, messages and limits.

use serde_json::{Value, json};

use super::*;

fn schemas(input: &Value, output: &Value) -> Result<Schemas, String> {
    let tool = json!({ "name": "t", "inputSchema": input, "outputSchema": output });
    Schemas::of(tool.as_object().expect("an object")).map_err(|error| error.to_string())
}

fn check_with(coerce: bool, schema: &Value, arguments: &Value) -> Result<Value, String> {
    let schemas = schemas(schema, &Value::Null).expect("a schema");
    let checked = schemas.arguments(coerce, arguments.as_object())?;
    Ok(checked.map_or(Value::Null, Value::Object))
}

/// The message for wrong arguments, without the example.
fn complaint(schema: &Value, arguments: &Value) -> String {
    let text = check_with(false, schema, arguments).expect_err("wrong");
    let text = text.strip_prefix("invalid arguments: ").expect("the start");
    text.split('\n').next().unwrap_or_default().to_owned()
}

fn object(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

#[test]
fn reports_the_position_the_schema_and_the_value() {
    let schema = object(&json!({ "list": { "type": "array", "items": { "type": "number" } } }));
    assert_eq!(
        complaint(&schema, &json!({ "list": [1, "two"] })),
        r#"`/list/1` must match {"type":"number"}, got "two""#
    );
    let mut schema = object(&json!({ "a/b": { "type": "string" } }));
    schema["required"] = json!(["a/b"]);
    assert_eq!(
        complaint(&schema, &json!({})),
        r#"`/a~1b` is missing; it must match {"type":"string"}"#
    );
    assert_eq!(
        complaint(&schema, &json!({ "a_b": "" })),
        "`/a_b` is unknown; known are `a/b`"
    );
    schema["additionalProperties"] = json!(false);
    for names in [&["a_b"][..], &["a_b", "c"]] {
        let given: JsonObject = names
            .iter()
            .map(|name| ((*name).to_owned(), json!("")))
            .collect();
        let unknown: Vec<_> = names
            .iter()
            .map(|name| format!("`/{name}` is unknown; known are `a/b`"))
            .collect();
        assert_eq!(
            complaint(&schema, &Value::Object(given)),
            unknown.join("; ")
        );
    }
    assert_eq!(
        complaint(&schema, &json!({ "a/b": "", "c": 1 })),
        "`/c` is unknown; known are `a/b`"
    );
    let schema = object(&json!({ "n": { "maximum": 3 } }));
    assert_eq!(
        complaint(&schema, &json!({ "n": 4 })),
        r#"`/n` must match {"maximum":3}, got 4: it is greater than the maximum of 3"#
    );
}

#[test]
fn knows_properties_of_other_parts_of_the_schema() {
    let properties = json!({ "by": { "type": "string" }, "phone": { "type": "string" } });
    for condition in [
        json!({ "required": ["phone"] }),
        json!({ "properties": { "phone": { "minLength": 1 } }, "required": ["phone"] }),
    ] {
        for part in [
            json!({ "allOf": [condition] }),
            json!({ "if": true, "then": condition }),
            json!({ "if": false, "else": condition }),
            json!({ "dependentSchemas": { "by": condition } }),
        ] {
            let mut schema = object(&properties);
            let members = part.as_object().expect("keywords").clone();
            schema.as_object_mut().expect("a schema").extend(members);
            let text = complaint(&schema, &json!({ "by": "phone" }));
            assert!(text.starts_with("`/phone` is missing"), "{part}: {text}");
        }
    }
}

#[test]
fn reports_mistakes_of_the_matching_variant() {
    let variant = |tag: &str, field: &str| {
        json!({ "type": "object", "required": ["kind", field],
            "properties": { "kind": { "enum": [tag] }, field: { "type": "integer" } } })
    };
    let schema = object(&json!({ "v": { "anyOf": [variant("a", "x"), variant("b", "y")] } }));
    assert_eq!(
        complaint(&schema, &json!({ "v": { "kind": "b" } })),
        r#"`/v/y` is missing; it must match {"type":"integer"}"#
    );
    let text = complaint(&schema, &json!({ "v": { "kind": "c" } }));
    assert!(text.starts_with("`/v` must match {\"anyOf\""), "{text}");
}

#[test]
fn shows_an_example_only_if_it_fits() {
    let schema =
        object(&json!({ "name": { "type": "string" }, "n": { "type": "integer", "minimum": 7 } }));
    let text = check_with(false, &schema, &json!({ "name": 1 })).expect_err("wrong");
    assert!(
        text.ends_with("\nvalid arguments: {\"name\":\"text\",\"n\":7}"),
        "{text}"
    );
    let schema = object(&json!({ "name": { "type": "string", "pattern": "^[0-9]{9}$" } }));
    let text = check_with(false, &schema, &json!({ "name": 1 })).expect_err("wrong");
    assert!(!text.contains("valid arguments: {"), "{text}");
}

#[test]
fn whole_numbers_are_integers_in_any_notation() {
    let schema = object(&json!({ "i": { "type": "integer" } }));
    for text in ["12.0", "1e3", "1.50e2", "-0.0"] {
        let arguments = serde_json::from_str(&format!(r#"{{"i":{text}}}"#)).expect("JSON");
        let checked = check_with(false, &schema, &arguments);
        assert_eq!(checked, Ok(arguments));
    }
    assert_eq!(
        complaint(&schema, &json!({ "i": 12.5 })),
        r#"`/i` must match {"type":"integer"}, got 12.5"#
    );
}

#[test]
fn refuses_whole_numbers_that_may_have_been_rounded() {
    let either = json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] });
    let schema = object(&json!({
        "i": { "type": ["integer", "null"], "minimum": 1 }, "list": { "type": "array", "items": either }, "n": { "type": "number" }, "any": {}, "union": {
            "oneOf": [
                { "properties": { "kind": { "const": "count" }, "value": { "type": "integer" } } },
                { "properties": { "kind": { "const": "amount" }, "value": { "type": "number", "minimum": 1 } } },
            ],
        },
    }));
    let read = |text: &str| serde_json::from_str(text).expect("JSON");
    for text in [
        r#"{"i":9007199254740993}"#,
        r#"{"i":9007199254740991.0}"#,
        r#"{"n":9007199254740993.0,"any":1e300}"#,
        r#"{"union":{"kind":"amount","value":1e17}}"#,
    ] {
        let arguments = read(text);
        assert_eq!(check_with(false, &schema, &arguments), Ok(arguments));
    }
    let rounded =
        "without a fraction or an exponent: a float of 2^53 or more may have been rounded";
    let range = "from -2^63 to 2^64-1";
    for (text, at, expected, got) in [
        (
            r#"{"i":9007199254740993.0}"#,
            "/i",
            rounded,
            "; got 9.007199254740992e15",
        ),
        (r#"{"i":1e17}"#, "/i", rounded, "; got 1e17"),
        (
            r#"{"list":["a",-9007199254740993.0]}"#,
            "/list/1",
            rounded,
            "; got -9.007199254740992e15",
        ),
        (r#"{"i":100000000000000000000}"#, "/i", range, ", got 1e20"),
        (r#"{"list":[-1.5e19]}"#, "/list/0", range, ", got -1.5e19"),
    ] {
        let message = format!("`{at}` must be an integer {expected}{got}");
        assert_eq!(complaint(&schema, &read(text)), message);
    }
}

#[test]
fn converts_strings_to_numbers_only_if_enabled() {
    let schema = object(&json!({
        "i": { "type": "integer" }, "n": { "type": ["number", "null"] }, "b": { "type": "boolean" },
        "s": { "type": "string" }, "l": { "type": "array", "items": { "type": "integer" } },
    }));
    let given = json!({ "i": "10", "n": "1.5", "b": "true", "s": "10", "l": ["1.0", 2, "1e2"] });
    let expected = json!({ "i": 10, "n": 1.5, "b": true, "s": "10", "l": [1, 2, 100] });
    assert_eq!(check_with(true, &schema, &given), Ok(expected));
    assert!(check_with(false, &schema, &given).is_err());
    for wrong in [
        json!({ "i": "1.5" }),
        json!({ "i": "ten" }),
        json!({ "b": "yes" }),
    ] {
        assert!(check_with(true, &schema, &wrong).is_err(), "{wrong}");
    }
}

#[test]
fn accepts_null_for_a_missing_property() {
    let mut schema = object(&json!({ "a": object(&json!({ "b": { "type": "integer" } })) }));
    schema["required"] = json!(["a"]);
    let given = json!({ "a": { "b": null } });
    assert_eq!(check_with(false, &schema, &given), Ok(given));
    let text = complaint(&schema, &json!({ "a": null }));
    assert!(
        text.starts_with("`/a` must match") && text.ends_with("got null"),
        "{text}"
    );
}

#[test]
fn knows_both_dialects() {
    let tuple =
        json!({ "type": "array", "items": [{ "type": "integer" }], "additionalItems": false });
    let mut old = object(&json!({ "t": tuple }));
    old["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    assert_eq!(
        complaint(&old, &json!({ "t": ["x"] })),
        r#"`/t/0` must match {"type":"integer"}, got "x""#
    );
    let new = object(&json!({ "t": { "prefixItems": [{ "type": "integer" }], "items": false } }));
    assert!(complaint(&new, &json!({ "t": [1, 2] })).contains("/t"));
}

#[test]
fn invalid_schema_error_has_pointer() {
    for (schema, problem) in [
        (
            object(&json!({ "a": { "type": "strnig" } })),
            "/inputSchema/properties/a/type",
        ),
        (object(&json!({ "a": { "pattern": "(" } })), "pattern"),
        (
            json!({ "$schema": "https://example.com/mine" }),
            "/inputSchema",
        ),
        (
            object(&json!({ "a": { "$ref": "https://example.com/x.json" } })),
            "/inputSchema/properties/a/$ref: `https://example.com/x.json` is in another document, which is not fetched",
        ),
        (
            json!({ "anyOf": [{ "$ref": "#/$defs/a~1b" }], "$defs": { "a/b": { "items": { "$ref": "x://y" } } } }),
            "/inputSchema/$defs/a~1b/items/$ref: ",
        ),
    ] {
        let error = schemas(&schema, &Value::Null).expect_err("a bad schema");
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_validator_says_why_it_does_not_apply_a_schema() {
    for (schema, problem) in [
        (json!({ "type": 7 }), "/type: "),
        (
            json!({ "anyOf": [{ "$ref": "#" }, { "items": { "$ref": "#" } }] }),
            "cannot be applied within the limits: it refers to itself in several ways at once",
        ),
        (
            json!({ "$ref": "#/$defs/a" }),
            "cannot be applied within the limits: a reference has no target",
        ),
    ] {
        let error = Validator::new(&schema).expect_err("a bad schema");
        assert!(error.to_string().starts_with(problem), "{error}");
    }
}

#[test]
fn structured_content_is_checked_if_there_is_a_schema() {
    let schema = json!({ "type": "object", "required": ["n"] });
    let schemas = schemas(&json!({}), &schema).expect("schemas");
    assert_eq!(schemas.problem(Some(&json!({ "n": 1 }))), None);
    let problem = schemas.problem(Some(&json!({})));
    assert!(problem.is_some_and(|text| text.contains("/n")));
    assert!(schemas.problem(None).is_some());
}

#[test]
fn schemas_that_could_take_for_ever_are_not_applied() {
    // Each level applies the next level twice: 2^60 ways.
    let mut doubling = object(&json!({ "a": { "$ref": "#/$defs/d0" } }));
    for level in 0..60 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        doubling["$defs"][format!("d{level}")] = json!({ "allOf": [next, next] });
    }
    doubling["$defs"]["d60"] = json!({ "type": "string" });
    // Two branches at every level of the value.
    let way = json!({ "properties": { "a": { "$ref": "#/$defs/n" } } });
    let mut forking = object(&json!({ "a": { "$ref": "#/$defs/n" } }));
    forking["$defs"] = json!({ "n": { "anyOf": [way, way, { "type": "string" }] } });
    // Endless recursion.
    let mut endless = object(&json!({ "a": { "$ref": "#/$defs/n" } }));
    endless["$defs"] = json!({ "n": { "allOf": [{ "$ref": "#/$defs/n" }] } });
    let mut value = json!(1);
    for _ in 0..100 {
        value = json!({ "a": value });
    }
    for schema in [doubling, forking, endless] {
        assert_eq!(check_with(false, &schema, &value), Ok(value.clone()));
    }
}

#[test]
fn recursion_that_goes_one_way_is_followed() {
    let mut tree = object(&json!({ "tree": { "$ref": "#/$defs/tree" } }));
    tree["$defs"] = json!({ "tree": { "type": "object", "properties": {
        "children": { "type": "array", "items": { "$ref": "#/$defs/tree" } } } } });
    let wrong = json!({ "tree": { "children": [{ "children": [7] }] } });
    let text = complaint(&tree, &wrong);
    assert!(
        text.starts_with("`/tree/children/0/children/0` must match"),
        "{text}"
    );
}

#[test]
fn expressions_that_backtrack_for_ever_give_up() {
    let schema = object(&json!({ "a": { "pattern": r"^(a+)+(?=b)$" } }));
    let text = complaint(&schema, &json!({ "a": "a".repeat(200) }));
    assert!(text.starts_with("`/a` must match"), "{text}");
}

#[test]
fn values_that_are_too_large_are_refused() {
    let variants: Vec<_> = (0..5000).map(|at| json!({ "const": at })).collect();
    let schema = object(&json!({ "a": { "items": { "anyOf": variants } } }));
    let text = complaint(&schema, &json!({ "a": vec![-1; 10_000] }));
    assert!(text.contains("too large to check"), "{text}");
}

#[test]
fn a_linear_schema_accepts_values_as_they_are() {
    let schema = json!({ "properties": { "a": { "type": "string", "pattern": "^x+$" } } });
    let validator = Validator::linear(&schema).expect("a schema");
    for (value, expected) in [
        (json!({ "a": "xx" }), true),
        (json!({ "a": "xy" }), false),
        // `check` accepts null for a member that may be absent.
        (json!({ "a": null }), false),
        (json!({}), true),
    ] {
        assert_eq!(validator.accepts(&value), Some(expected), "{value}");
    }
    assert!(validator.check_value(&json!({ "a": null })).is_ok());
    for pattern in ["(x)\\1", "x(?=y)"] {
        Validator::new(&json!({ "pattern": pattern })).expect("a schema");
        Validator::linear(&json!({ "pattern": pattern })).expect_err("a problem");
    }
}
