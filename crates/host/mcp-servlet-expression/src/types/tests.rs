//! Types of schemas, and which types fit.

use serde_json::{Value, json};

use super::*;

/// A type in full. An object ends with `~` if its schema does not speak of others, and with `…` if it may have others.
pub(crate) fn shown(found: &Type) -> String {
    let Some(kinds) = found.kinds() else {
        return "any".to_owned();
    };
    let mut parts = Vec::new();
    if kinds.has(Kinds::ABSENT) {
        parts.push("absent".to_owned());
    }
    for name in kinds.names() {
        parts.push(
            match (name, found.optional_items(), found.members_of_object()) {
                ("array", Some(items), _) => format!("[{}]", shown(items)),
                ("object", _, Some(object)) => format!("{{{}}}", shown_members(object)),
                _ => name.to_owned(),
            },
        );
    }
    parts.join(" | ")
}

fn shown_members(object: &ObjectType) -> String {
    let members = object.members.iter().map(|(name, member)| {
        let mark = if member.is_required { "" } else { "?" };
        format!("{name}{mark}: {}", shown(&member.value))
    });
    let others = match object.others {
        Others::None => None,
        Others::Unnamed => Some("~"),
        Others::Any => Some("…"),
    };
    let parts: Vec<_> = members.chain(others.map(str::to_owned)).collect();
    parts.join(", ")
}

fn type_of(schema: &Value) -> Type {
    Type::of_schema(schema, schema)
}

fn of_text(schema: &str) -> Type {
    type_of(&serde_json::from_str(schema).expect(schema))
}

/// Schemas and their types, as [`shown`] writes them.
const SCHEMAS: &[(&str, &str)] = &[
    ("true", "any"),
    ("{}", "any"),
    ("false", ""),
    (r#"{"type":"string","pattern":"^a"}"#, "string"),
    (r#"{"type":["integer","null"]}"#, "integer | null"),
    (r#"{"type":["integer","number"]}"#, "number"),
    (r#"{"type":"text"}"#, "any"),
    (r#"{"type":1}"#, "any"),
    (r#"{"enum":["a",1,2.0]}"#, "integer | string"),
    (r#"{"enum":["a"],"type":["string","null"]}"#, "string"),
    (r#"{"const":1.5}"#, "number"),
    (r#"{"const":{"a":[true]}}"#, "{a: [boolean]}"),
    (
        r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
        "null | string",
    ),
    (r#"{"oneOf":[{"type":"string"},{}]}"#, "any"),
    (r#"{"allOf":[{"type":"string"}]}"#, "any"),
    (r#"{"type":"array"}"#, "[any]"),
    (r#"{"type":"array","items":{"type":"string"}}"#, "[string]"),
    (
        r#"{"type":"array","items":{"type":"string"},"prefixItems":[{}]}"#,
        "[any]",
    ),
    (r#"{"type":"array","items":[{}]}"#, "[any]"),
    (r#"{"type":"object"}"#, "{…}"),
    (r#"{"type":"object","required":["a"]}"#, "{a: any, …}"),
    (
        r#"{"type":"object","properties":{"a":{"type":"null"}}}"#,
        "{a?: null, ~}",
    ),
    (
        r#"{"type":"object","properties":{"a":{}},"required":["a"]}"#,
        "{a: any, ~}",
    ),
    (r#"{"type":"object","additionalProperties":false}"#, "{}"),
    (
        r#"{"type":"object","properties":{"a":{}},"additionalProperties":false}"#,
        "{a?: any}",
    ),
    (
        r#"{"type":"object","properties":{"a":{}},"additionalProperties":{}}"#,
        "{a?: any, …}",
    ),
    (
        r#"{"type":"object","properties":{"a":{}},"patternProperties":{}}"#,
        "{a?: any, …}",
    ),
    (
        r#"{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]}]}"#,
        "{a?: any, …}",
    ),
    (
        r#"{"type":"object","additionalProperties":false,"patternProperties":{}}"#,
        "{…}",
    ),
    (
        r#"{"properties":{"a":{}}}"#,
        "[any] | boolean | null | number | {a?: any, ~} | string",
    ),
    (
        r##"{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}],"$defs":{
            "a":{"type":"object","properties":{"a":{"type":"string"},"c":{"type":"null"}},"required":["a","c"],"additionalProperties":false},
            "b":{"type":"object","properties":{"b":{},"c":{"type":"string"}},"required":["b","c"],"additionalProperties":false}
        }}"##,
        "{a?: string, c: null | string, b?: any}",
    ),
    (
        r##"{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}],"$defs":{
            "a":{"type":"object","properties":{"a":{"type":"string"}}},
            "b":{"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":false}
        }}"##,
        "{a?: string, b?: any, ~}",
    ),
    (
        r#"{"anyOf":[{"type":"object","properties":{"a":{}}}],"properties":{"b":{}}}"#,
        "{a?: any, …}",
    ),
    (
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##,
        "string",
    ),
    (
        r##"{"$ref":"#/$defs/a","properties":{"b":{}},"$defs":{"a":{"type":"object","properties":{"a":{}}}}}"##,
        "{a?: any, …}",
    ),
    (r##"{"$ref":"#/$defs/a"}"##, "any"),
    (r#"{"$ref":"https://example.com"}"#, "any"),
    (r##"{"$ref":"#"}"##, "any"),
    (
        r#"{"type":"array","items":{"$id":"https://example.com","type":"null"}}"#,
        "[any]",
    ),
];

#[test]
fn schemas_have_types() {
    for (schema, expected) in SCHEMAS {
        assert_eq!(shown(&of_text(schema)), *expected, "{schema}");
    }
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    let part = || json!({ "$ref": "#" });
    let properties =
        json!({ "left": part(), "right": part(), "a": { "type": "array", "items": part() } });
    let tree = json!({ "type": "object", "properties": properties });
    assert_eq!(type_of(&tree).to_string(), r#"{"type":"object"}"#);
    let many: Vec<_> = (0..100).map(|_| part()).collect();
    assert_eq!(type_of(&json!({ "anyOf": many })), Type::ANY);
}

#[test]
fn only_some_parts_of_large_schemas_are_looked_at() {
    let names: Vec<_> = (0..100_000).map(|number| number.to_string()).collect();
    let properties: Value = names.iter().map(|name| (name.clone(), json!({}))).collect();
    for schema in [
        json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false }),
        json!({ "type": "object", "required": names }),
        json!({ "const": properties }),
    ] {
        let found = type_of(&schema);
        let object = found.members_of_object().expect("an object");
        assert!(object.members.len() <= 1000);
        assert_eq!(object.others, Others::Any);
    }
}

#[test]
fn types_are_shown_as_schemas() {
    for (found, expected) in [
        (Type::ANY, "{}"),
        (Type::string(), r#"{"type":"string"}"#),
        (Type::string().or_absent(), r#"{"type":"string"}"#),
        (
            Type::string().or(&Type::null()),
            r#"{"type":["null","string"]}"#,
        ),
        (Type::integer().or(&Type::number()), r#"{"type":"number"}"#),
        (
            Type::number().or(&Type::boolean()),
            r#"{"type":["boolean","number"]}"#,
        ),
        (Type::list(Type::string()), r#"{"type":"array"}"#),
        (Type::object([("a", Type::null())]), r#"{"type":"object"}"#),
    ] {
        assert_eq!(found.to_string(), expected);
    }
}

#[test]
fn a_type_can_get_members() {
    let found = of_text(r#"{"type":"object","properties":{"a":{},"b":{"type":"string"}}}"#)
        .with("a", Type::integer())
        .with("c", Type::null().or_absent());
    assert_eq!(shown(&found), "{a: integer, b?: string, c?: null, ~}");
    assert_eq!(found.members().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(shown(&Type::ANY.with("a", Type::null())), "{a: null, …}");
}

/// Types of values, types that are expected, and whether they fit.
const KINDS: &[(&str, &str, &str)] = &[
    (r#""string""#, r#""string""#, "fits"),
    (r#""string""#, r#""integer""#, "misfit"),
    (r#""integer""#, r#""number""#, "fits"),
    (r#""number""#, r#""integer""#, "unproved"),
    (r#""string""#, r#"["string","integer"]"#, "fits"),
    (r#"["string","integer"]"#, r#""string""#, "unproved"),
    (r#"["string","boolean"]"#, r#""integer""#, "misfit"),
    (r#""null""#, r#""string""#, "fits"),
    (r#"["null","string"]"#, r#""string""#, "fits"),
    (r#"["null","string"]"#, r#""integer""#, "misfit"),
    (r#"["null","string"]"#, r#"["null","integer"]"#, "unproved"),
    (r#""array""#, r#""object""#, "misfit"),
    (r#""array""#, r#""array""#, "fits"),
    (r#""object""#, r#""object""#, "fits"),
];

#[test]
fn types_fit_if_each_kind_is_accepted() {
    let of_kinds = |kinds: &str| of_text(&format!(r#"{{"type":{kinds}}}"#));
    for (value, into, expected) in KINDS {
        let fit = of_kinds(value).fit(&of_kinds(into));
        assert_eq!(
            shown_fit(&fit).split(':').next(),
            Some(*expected),
            "{value} for {into}"
        );
    }
    assert_eq!(Type::ANY.fit(&Type::string()), Fit::Unproved);
    assert_eq!(Type::string().fit(&Type::ANY), Fit::Fits);
    let absent = Type::string().or_absent();
    assert_eq!(absent.fit(&Type::string()), Fit::Fits);
    assert!(matches!(absent.fit(&Type::integer()), Fit::Misfit(_)));
}

fn shown_fit(fit: &Fit) -> String {
    let misfit = match fit {
        Fit::Fits => return "fits".to_owned(),
        Fit::Unproved => return "unproved".to_owned(),
        Fit::Misfit(misfit) => misfit,
    };
    let reason = match &misfit.reason {
        Reason::Type { found, wanted } => format!("{} for {}", shown(found), shown(wanted)),
        Reason::Missing => "missing".to_owned(),
        Reason::Unexpected => "unexpected".to_owned(),
    };
    format!("misfit: {} {reason}", misfit.pointer)
}

#[test]
fn parts_of_a_value_fit_if_they_are_always_there() {
    let (string, integer, list) = (Type::string, Type::integer, Type::list);
    let a = |value: Type| Type::object([("a", value)]);
    let open = |value: Type| Type::ANY.with("a", value);
    let other = || Type::object([("b", string())]);
    let unnamed = of_text(r#"{"type":"object","properties":{"b":{}}}"#);
    for (value, into, expected) in [
        (list(string()), list(string()), "fits"),
        (list(string()), list(integer()), "unproved"),
        (list(Type::never()), list(integer()), "fits"),
        (a(string()), a(string()), "fits"),
        (a(string()), a(integer()), "misfit: /a string for integer"),
        (a(other()), a(open(string())), "misfit: /a/a missing"),
        (a(Type::null()), a(integer()), "misfit: /a null for integer"),
        (
            a(string().or_absent()),
            a(integer().or_absent()),
            "unproved",
        ),
        (a(string().or_absent()), a(string()), "unproved"),
        (other(), open(string()), "misfit: /a missing"),
        (other(), open(string().or_absent()), "fits"),
        (unnamed.clone(), a(string()), "unproved"),
        (a(string()), unnamed, "fits"),
        (
            a(string()),
            Type::object([("b", integer().or_absent())]),
            "misfit: /a unexpected",
        ),
        (a(Type::ANY), a(string()), "unproved"),
        (Type::ANY.with("b", string()), open(string()), "unproved"),
        (
            a(string()).or(&string()),
            a(integer()),
            "misfit:  {a: string} | string for {a: integer}",
        ),
        (
            a(string()).or(&integer()),
            a(integer()).or(&integer()),
            "unproved",
        ),
    ] {
        let fit = shown_fit(&value.fit(&into));
        assert_eq!(fit, expected, "{} for {}", shown(&value), shown(&into));
    }
    let named = |value| Type::object([("x/y~", value)]);
    let fit = named(string()).fit(&named(integer()));
    assert_eq!(shown_fit(&fit), "misfit: /x~1y~0 string for integer");
}
