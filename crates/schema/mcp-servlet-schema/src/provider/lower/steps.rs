//! The steps that rewrite a schema.

mod inline;
mod root;

use serde_json::{Value, json};

use super::{is_gemini_keyword, nulls, remove};
use crate::{
    keywords::{LIST, MAP, SCHEMA},
    provider::{BOUNDS, MAX_DESCRIPTION, MAX_SAFE_INTEGER},
};

/// A step that rewrites a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    InlineReferences,
    FlattenRoot,
    SplitTypeLists,
    DropOtherEnums,
    DropLargeBounds,
    DropExamples,
    GiveItems,
    CloseObjects,
    RequireAll,
    DropFormats,
    KeepGeminiKeywords,
    ShortenDescription,
}

impl Step {
    pub(super) const ALL: [Self; 12] = [
        Self::InlineReferences,
        Self::FlattenRoot,
        Self::SplitTypeLists,
        Self::DropOtherEnums,
        Self::DropLargeBounds,
        Self::DropExamples,
        Self::GiveItems,
        Self::CloseObjects,
        Self::RequireAll,
        Self::DropFormats,
        Self::KeepGeminiKeywords,
        Self::ShortenDescription,
    ];

    /// The description of the step in the guide.
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::InlineReferences => {
                "`$ref` becomes the schema that it refers to, or any value if that schema contains itself"
            }
            Self::FlattenRoot => {
                "`anyOf`, `oneOf`, `allOf`, `not`, `enum`, `if` at the root: the properties of the branches become optional ones"
            }
            Self::SplitTypeLists => {
                "a list of types becomes one type without `null`, or `anyOf` of several"
            }
            Self::DropOtherEnums => {
                "empty enums, and enums of values that are not strings, move to the description"
            }
            Self::DropLargeBounds => "bounds beyond 2^53 are left out",
            Self::DropExamples => "`examples` and `x-…` are left out",
            Self::GiveItems => {
                "tuples become lists of any of their types; arrays without `items` get `items: {}`"
            }
            Self::CloseObjects => "objects get `additionalProperties: false`, unless they are maps",
            Self::RequireAll => {
                "all properties are required, and optional ones take `null`; the server removes such a `null` from a call"
            }
            Self::DropFormats => {
                "formats of strings other than `enum` and `date-time` are left out"
            }
            Self::KeepGeminiKeywords => {
                "keywords that Gemini's `parameters` does not support are left out"
            }
            Self::ShortenDescription => "descriptions of tools are cut after 1,024 characters",
        }
    }

    pub(super) fn take(self, schema: &mut Value) {
        match self {
            Self::InlineReferences => inline::inline(schema),
            Self::FlattenRoot => root::flatten(schema),
            Self::SplitTypeLists => each(schema, &split_type_list),
            Self::DropOtherEnums => each(schema, &drop_other_enum),
            Self::DropLargeBounds => each(schema, &drop_large_bounds),
            Self::DropExamples => each(schema, &|schema| {
                retain(schema, |key| key != "examples" && !key.starts_with("x-"));
            }),
            Self::GiveItems => each(schema, &give_items),
            Self::CloseObjects => each(schema, &close),
            Self::RequireAll => each(schema, &nulls::require_all),
            Self::DropFormats => each(schema, &drop_format),
            Self::KeepGeminiKeywords => each(schema, &|schema| retain(schema, is_gemini_keyword)),
            Self::ShortenDescription => {}
        }
    }
}

/// Rewrites a schema and all schemas in it, the outer ones first.
fn each(schema: &mut Value, rewrite: &dyn Fn(&mut Value)) {
    rewrite(schema);
    for (key, value) in schema.as_object_mut().into_iter().flatten() {
        let key = key.as_str();
        match value {
            Value::Array(list) if LIST.contains(&key) => {
                for one in list {
                    each(one, rewrite);
                }
            }
            Value::Object(map) if MAP.contains(&key) => {
                for one in map.values_mut() {
                    each(one, rewrite);
                }
            }
            value if SCHEMA.contains(&key) => each(value, rewrite),
            _ => {}
        }
    }
}

fn retain(schema: &mut Value, keep: impl Fn(&str) -> bool) {
    if let Value::Object(schema) = schema {
        schema.retain(|key, _| keep(key));
    }
}

fn split_type_list(schema: &mut Value) {
    let Value::Array(types) = &schema["type"] else {
        return;
    };
    let types: Vec<Value> = types.iter().filter(|ty| *ty != "null").cloned().collect();
    match &*types {
        [] => schema["type"] = "null".into(),
        [one] => schema["type"] = one.clone(),
        several if schema.get("anyOf").is_none() => {
            let branches = several.iter().map(|ty| json!({ "type": ty }));
            schema["anyOf"] = branches.collect();
            remove(schema, "type");
        }
        // The branches have the types.
        _ => {
            remove(schema, "type");
        }
    }
}

fn drop_other_enum(schema: &mut Value) {
    let Some(Value::Array(values)) = schema.get("enum") else {
        return;
    };
    if !values.is_empty() && values.iter().all(Value::is_string) {
        return;
    }
    let words: Vec<_> = values.iter().map(Value::to_string).collect();
    remove(schema, "enum");
    if words.is_empty() {
        return;
    }
    let words = format!("One of {}.", words.join(", "));
    schema["description"] = match schema["description"].as_str() {
        Some(text) => format!("{text}\n{words}").into(),
        None => words.into(),
    };
}

fn drop_large_bounds(schema: &mut Value) {
    for key in BOUNDS {
        let is_large = |bound: &Value| {
            bound
                .as_f64()
                .is_some_and(|bound| bound.abs() > MAX_SAFE_INTEGER)
        };
        if schema.get(key).is_some_and(is_large) {
            remove(schema, key);
        }
    }
}

fn give_items(schema: &mut Value) {
    if schema["type"] != "array" || schema["items"].is_object() {
        return;
    }
    let prefix = remove(schema, "prefixItems");
    let listed = prefix.or_else(|| remove(schema, "items").filter(Value::is_array));
    let mut kinds: Vec<Value> = Vec::new();
    for kind in listed.iter().filter_map(Value::as_array).flatten() {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    schema["items"] = match kinds.len() {
        0 => json!({}),
        1 => kinds.remove(0),
        _ => json!({ "anyOf": kinds }),
    };
}

fn close(schema: &mut Value) {
    let is_object = schema["type"] == "object" && schema.get("properties").is_some();
    if is_object && schema.get("additionalProperties").is_none() {
        schema["additionalProperties"] = false.into();
    }
}

fn drop_format(schema: &mut Value) {
    let is_known = |format: &Value| format == "enum" || format == "date-time";
    if schema["type"] == "string" && schema.get("format").is_some_and(|format| !is_known(format)) {
        remove(schema, "format");
    }
}

/// Cuts a long description and marks the end with `…`.
pub(super) fn shorten(text: &mut String) {
    if text.chars().count() > MAX_DESCRIPTION {
        *text = text.chars().take(MAX_DESCRIPTION - 1).collect();
        text.push('…');
    }
}
