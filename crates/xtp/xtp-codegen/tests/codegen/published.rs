//! The rules that XTP publishes about the structure of a document: the keys of an object, and the
//! kinds of their values. They are mostly stricter than the official library, and more lenient in a
//! few cases.

use serde_json::Value;

use crate::library::is_identifier;

/// Adds the problems of a value, with their pointers.
type Rule = fn(&Value, &str, &mut Vec<String>);

/// The problems that the rules find in a document.
pub(crate) fn violations(document: &Value) -> Vec<String> {
    let mut out = Vec::new();
    if document["version"] == "v0" {
        let keys: [(&str, Rule); 2] = [("version", any), ("exports", identifiers)];
        object(document, "#", &["version", "exports"], &keys, &mut out);
        return out;
    }
    let keys: [(&str, Rule); 4] = [
        ("version", version),
        ("exports", exports),
        ("imports", imports),
        ("components", components),
    ];
    object(document, "#", &["version", "exports"], &keys, &mut out);
    out
}

/// An object without further keys.
fn object(
    value: &Value,
    at: &str,
    required: &[&str],
    keys: &[(&str, Rule)],
    out: &mut Vec<String>,
) {
    let Some(entries) = value.as_object() else {
        return out.push(format!("{at}: no object"));
    };
    for key in required.iter().filter(|key| !entries.contains_key(**key)) {
        out.push(format!("{at}: no `{key}`"));
    }
    for (key, value) in entries {
        match keys.iter().find(|(known, _)| known == key) {
            Some((_, rule)) => rule(value, &format!("{at}/{key}"), out),
            None => out.push(format!("{at}: unknown key `{key}`")),
        }
    }
}

/// An object whose keys are identifiers.
fn map(value: &Value, at: &str, rule: Rule, out: &mut Vec<String>) {
    let Some(entries) = value.as_object() else {
        return out.push(format!("{at}: no object"));
    };
    for (key, value) in entries {
        if !is_identifier(key) {
            out.push(format!("{at}: no identifier `{key}`"));
        }
        rule(value, &format!("{at}/{key}"), out);
    }
}

fn list(value: &Value, at: &str, rule: Rule, out: &mut Vec<String>) {
    let Some(items) = value.as_array() else {
        return out.push(format!("{at}: no list"));
    };
    for item in items {
        rule(item, at, out);
    }
}

fn one_of(value: &Value, at: &str, known: &[&str], out: &mut Vec<String>) {
    if !value.as_str().is_some_and(|text| known.contains(&text)) {
        out.push(format!("{at}: expected one of {known:?}, found {value}"));
    }
}

fn string(value: &Value, at: &str, out: &mut Vec<String>) {
    if !value.is_string() {
        out.push(format!("{at}: no string"));
    }
}

fn boolean(value: &Value, at: &str, out: &mut Vec<String>) {
    if !value.is_boolean() {
        out.push(format!("{at}: no boolean"));
    }
}

fn identifier(value: &Value, at: &str, out: &mut Vec<String>) {
    if !value.as_str().is_some_and(is_identifier) {
        out.push(format!("{at}: no identifier {value}"));
    }
}

fn strings(value: &Value, at: &str, out: &mut Vec<String>) {
    list(value, at, string, out);
}

fn identifiers(value: &Value, at: &str, out: &mut Vec<String>) {
    list(value, at, identifier, out);
}

fn any(_: &Value, _: &str, _: &mut Vec<String>) {}

fn version(value: &Value, at: &str, out: &mut Vec<String>) {
    one_of(value, at, &["v1-draft"], out);
}

fn type_name(value: &Value, at: &str, out: &mut Vec<String>) {
    let known = [
        "integer", "string", "number", "boolean", "object", "array", "buffer",
    ];
    one_of(value, at, &known, out);
}

fn object_type(value: &Value, at: &str, out: &mut Vec<String>) {
    one_of(value, at, &["object"], out);
}

fn string_type(value: &Value, at: &str, out: &mut Vec<String>) {
    one_of(value, at, &["string"], out);
}

fn format_name(value: &Value, at: &str, out: &mut Vec<String>) {
    let known = ["int32", "int64", "float", "double", "date-time", "byte"];
    one_of(value, at, &known, out);
}

fn content_type(value: &Value, at: &str, out: &mut Vec<String>) {
    let known = [
        "application/json",
        "application/x-binary",
        "text/plain; charset=utf-8",
    ];
    one_of(value, at, &known, out);
}

fn reference(value: &Value, at: &str, out: &mut Vec<String>) {
    let name = value
        .as_str()
        .and_then(|text| text.strip_prefix("#/components/schemas/"));
    if !name.is_some_and(|name| !name.is_empty() && !name.contains('/')) {
        out.push(format!("{at}: no reference {value}"));
    }
}

fn exports(value: &Value, at: &str, out: &mut Vec<String>) {
    map(value, at, export, out);
}

fn imports(value: &Value, at: &str, out: &mut Vec<String>) {
    map(value, at, import, out);
}

fn components(value: &Value, at: &str, out: &mut Vec<String>) {
    object(value, at, &["schemas"], &[("schemas", schemas)], out);
}

fn schemas(value: &Value, at: &str, out: &mut Vec<String>) {
    map(value, at, schema, out);
}

fn export(value: &Value, at: &str, out: &mut Vec<String>) {
    let keys: [(&str, Rule); 4] = [
        ("description", string),
        ("codeSamples", code_samples),
        ("input", parameter),
        ("output", parameter),
    ];
    object(value, at, &[], &keys, out);
}

fn import(value: &Value, at: &str, out: &mut Vec<String>) {
    let keys: [(&str, Rule); 3] = [
        ("description", string),
        ("input", parameter),
        ("output", parameter),
    ];
    object(value, at, &[], &keys, out);
}

fn code_samples(value: &Value, at: &str, out: &mut Vec<String>) {
    list(value, at, code_sample, out);
}

fn code_sample(value: &Value, at: &str, out: &mut Vec<String>) {
    let keys: [(&str, Rule); 3] = [("lang", string), ("source", string), ("label", string)];
    object(value, at, &["lang", "source"], &keys, out);
}

fn parameter(value: &Value, at: &str, out: &mut Vec<String>) {
    typed(
        value,
        at,
        &[("contentType", content_type), ("description", string)],
        out,
    );
    if value.get("contentType").is_none() {
        out.push(format!("{at}: no `contentType`"));
    }
    if value.get("additionalProperties").is_some() {
        out.push(format!("{at}: no parameter can be a map"));
    }
}

fn schema(value: &Value, at: &str, out: &mut Vec<String>) {
    if value.get("enum").is_some() {
        let keys: [(&str, Rule); 3] = [
            ("type", string_type),
            ("description", string),
            ("enum", identifiers),
        ];
        object(value, at, &["enum"], &keys, out);
    } else {
        let keys: [(&str, Rule); 3] = [
            ("description", string),
            ("properties", properties),
            ("required", strings),
        ];
        object(value, at, &["properties"], &keys, out);
    }
}

fn properties(value: &Value, at: &str, out: &mut Vec<String>) {
    map(value, at, property, out);
}

fn property(value: &Value, at: &str, out: &mut Vec<String>) {
    typed(value, at, &[("description", string)], out);
}

/// A type: a reference, a map, or a value, each with keys of its own.
fn typed(value: &Value, at: &str, more: &[(&str, Rule)], out: &mut Vec<String>) {
    let (required, own): (_, &[(&str, Rule)]) = if value.get("$ref").is_some() {
        ("$ref", &[("$ref", reference)])
    } else if value.get("additionalProperties").is_some() {
        let keys: &[(&str, Rule)] = &[("type", object_type), ("additionalProperties", map_value)];
        ("additionalProperties", keys)
    } else {
        (
            "type",
            &[
                ("type", type_name),
                ("format", format_name),
                ("items", element),
            ],
        )
    };
    let keys: Vec<(&str, Rule)> = [own, more, &[("nullable", boolean as Rule)]]
        .into_iter()
        .flatten()
        .copied()
        .collect();
    object(value, at, &[required], &keys, out);
}

fn map_value(value: &Value, at: &str, out: &mut Vec<String>) {
    if value.get("additionalProperties").is_some() {
        out.push(format!("{at}: a map in a map"));
    }
    typed(value, at, &[], out);
}

fn element(value: &Value, at: &str, out: &mut Vec<String>) {
    if value.get("items").is_some() {
        out.push(format!("{at}: a list in a list"));
    }
    typed(value, at, &[], out);
}
