//! Rewrites a schema of schemars for all clients, by the rules that `#[derive(Schema)]` follows too.

use serde_json::{Map, Value, json};

use super::Place;
use crate::schema::words::Words;

type Object = Map<String, Value>;

/// The schema as an object without references and boolean schemas. In arguments, no property is nullable
/// and every one has a description.
pub(super) fn schema(schema: Value, place: Place) -> Object {
    let mut root = object(schema);
    for name in ["$schema", "$id", "title"] {
        root.remove(name);
    }
    let definitions = root.remove("$defs").unwrap_or_default();
    let is_input = matches!(place, Place::Arguments | Place::Argument);
    let rules = Rules {
        definitions,
        is_input,
    };
    rules.apply(&mut root, is_input);
    if place == Place::Arguments {
        root.insert("type".to_owned(), "object".into());
        root.entry("properties").or_insert_with(|| json!({}));
    }
    root
}

/// A schema that is `true` or `false`, as an object.
fn object(schema: Value) -> Object {
    match schema {
        Value::Object(object) => object,
        Value::Bool(false) => Object::from_iter([("not".to_owned(), json!({}))]),
        _ => Object::new(),
    }
}

struct Rules {
    /// Definitions of recursive types only; all others are inlined.
    definitions: Value,
    is_input: bool,
}

impl Rules {
    /// Rewrites a schema, without its `null` if that means that the value is left out.
    fn apply(&self, schema: &mut Object, without_null: bool) {
        self.cut_recursion(schema);
        self.merge_single(schema, without_null);
        if without_null {
            drop_null(schema);
        }
        collapse_constants(schema);
        name_type(schema);
        drop_unknown_format(schema);
        self.apply_inside(schema, without_null);
        name_common_type(schema);
    }

    /// Ends a recursive type: the schema only says what kind of value it is.
    fn cut_recursion(&self, schema: &mut Object) {
        let Some(Value::String(target)) = schema.remove("$ref") else {
            return;
        };
        let name = target.rsplit('/').next().unwrap_or_default();
        let declared = self.definitions.get(name).and_then(|of| of.get("type"));
        schema
            .entry("type")
            .or_insert_with(|| declared.cloned().unwrap_or_else(|| "object".into()));
    }

    /// Replaces `allOf`, `anyOf` or `oneOf` with one schema by that schema. `without_null`, `null` does not count.
    fn merge_single(&self, schema: &mut Object, without_null: bool) {
        for name in ["allOf", "anyOf", "oneOf"] {
            let Some(Value::Array(variants)) = schema.get_mut(name) else {
                continue;
            };
            if without_null {
                variants.retain(|variant| variant.get("type") != Some(&json!("null")));
            }
            if let [only] = &mut variants[..] {
                let only = object(only.take());
                schema.remove(name);
                for (key, value) in only {
                    schema.entry(key).or_insert(value);
                }
                self.cut_recursion(schema);
            }
        }
    }

    fn apply_inside(&self, schema: &mut Object, without_null: bool) {
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            for (name, property) in properties {
                self.replace(property, self.is_input);
                if let (true, Value::Object(property)) = (self.is_input, property) {
                    let words = || Words::split(name).or(name).into();
                    property.entry("description").or_insert_with(words);
                }
            }
        }
        tuple_to_list(schema);
        for name in ["anyOf", "oneOf", "allOf"] {
            if let Some(Value::Array(variants)) = schema.get_mut(name) {
                for variant in variants {
                    self.replace(variant, without_null);
                }
            }
        }
        for name in ["items", "not", "contains", "propertyNames"] {
            if let Some(inner) = schema.get_mut(name) {
                self.replace(inner, false);
            }
        }
        if let Some(Value::Object(patterns)) = schema.get_mut("patternProperties") {
            patterns
                .values_mut()
                .for_each(|inner| self.replace(inner, false));
        }
        match schema.get_mut("additionalProperties") {
            Some(Value::Bool(true)) => drop(schema.remove("additionalProperties")),
            Some(inner @ Value::Object(_)) => self.replace(inner, false),
            _ => {}
        }
    }

    fn replace(&self, schema: &mut Value, without_null: bool) {
        let mut inner = object(schema.take());
        self.apply(&mut inner, without_null);
        *schema = Value::Object(inner);
    }
}

/// A property that is optional is left out, never `null`.
fn drop_null(schema: &mut Object) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|ty| ty != "null");
        if let [only] = &mut types[..] {
            let only = only.take();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}

/// Turns constants into an enum whose description explains each of them.
fn collapse_constants(schema: &mut Object) {
    for name in ["oneOf", "anyOf"] {
        let Some(Value::Array(variants)) = schema.get(name) else {
            continue;
        };
        let constants = variants.iter().map(constants);
        let Some(constants) = constants.collect::<Option<Vec<_>>>() else {
            continue;
        };
        let mut lines: Vec<_> = schema
            .get("description")
            .and_then(Value::as_str)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let (mut values, mut has_notes) = (Vec::new(), false);
        for (inside, note) in constants {
            if let (Some(note), [Value::String(value)]) = (note, &inside[..]) {
                lines.push(format!("- `{value}`: {note}"));
                has_notes = true;
            }
            values.extend(inside);
        }
        if has_notes {
            schema.insert("description".to_owned(), lines.join("\n").into());
        }
        schema.remove(name);
        schema.insert("enum".to_owned(), values.into());
    }
}

/// The values of a schema that only has these, and its description.
fn constants(schema: &Value) -> Option<(Vec<Value>, Option<&str>)> {
    let schema = schema.as_object()?;
    let known = ["type", "const", "enum", "description", "title"];
    if schema.keys().any(|key| !known.contains(&key.as_str())) {
        return None;
    }
    let values = match (schema.get("const"), schema.get("enum")) {
        (Some(value), None) => vec![value.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        _ => return None,
    };
    Some((values, schema.get("description").and_then(Value::as_str)))
}

/// Adds the `type` that follows from `enum` or `const`.
fn name_type(schema: &mut Object) {
    if schema.contains_key("type") {
        return;
    }
    let values = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.as_slice(),
        (_, Some(value)) => std::slice::from_ref(value),
        _ => return,
    };
    let mut types: Vec<_> = values.iter().map(type_of).collect();
    types.dedup();
    if let [ty] = types[..] {
        schema.insert("type".to_owned(), ty.into());
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Moves the common type of all variants to the schema, as the root of arguments must be an object.
fn name_common_type(schema: &mut Object) {
    if schema.contains_key("type") {
        return;
    }
    for name in ["anyOf", "oneOf"] {
        if let Some(Value::Array(variants)) = schema.get(name) {
            let mut types = variants.iter().map(|variant| variant.get("type"));
            let first = types.next().flatten().cloned();
            if let Some(common) = first.filter(|first| types.all(|ty| ty == Some(first))) {
                schema.insert("type".to_owned(), common);
                return;
            }
        }
    }
}

/// Drops formats that JSON Schema does not define, such as `uint32`: clients do not know them.
fn drop_unknown_format(schema: &mut Object) {
    let known = [
        "date-time",
        "date",
        "time",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "uuid",
        "regex",
        "json-pointer",
    ];
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| !known.contains(&format)) {
        schema.remove("format");
    }
}

/// Turns a tuple into a list of the same length, because many clients support only one schema for all items.
fn tuple_to_list(schema: &mut Object) {
    let Some(Value::Array(mut items)) = schema.remove("prefixItems") else {
        return;
    };
    let count = items.len();
    items.dedup();
    let item = match &mut items[..] {
        [only] => only.take(),
        _ => json!({ "anyOf": items }),
    };
    schema.insert("items".to_owned(), item);
    schema.insert("minItems".to_owned(), count.into());
    schema.insert("maxItems".to_owned(), count.into());
}
