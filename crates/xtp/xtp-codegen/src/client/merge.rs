//! `allOf`: several schemas of one value, as one schema.

use serde_json::Value;
use serde_json::map::Entry;

use super::forms::local;
use super::walk::{LEFT_OUT, Members};

/// How many schemas are merged into one.
const MAX_MERGED_SCHEMAS: usize = 256;

/// One schema for a schema with `allOf`; `None` if its members contradict each other.
pub(super) fn merged(members: &Members, root: &Value) -> Option<Members> {
    let mut left = MAX_MERGED_SCHEMAS;
    merge(members, root, &mut left)
}

fn merge(members: &Members, root: &Value, left: &mut usize) -> Option<Members> {
    let mut whole = members.clone();
    let all = whole.shift_remove("allOf");
    let Some(Value::Array(all)) = all else {
        return Some(whole);
    };
    for schema in &all {
        let resolved = resolved(schema, root, left)?;
        *left = left.checked_sub(1)?;
        let part = merge(resolved.as_object()?, root, left)?;
        for (keyword, value) in part {
            if !LEFT_OUT.contains(&&*keyword) {
                add(&mut whole, keyword, value)?;
            }
        }
    }
    Some(whole)
}

/// The schema behind references, which may have no type of their own next to them.
fn resolved<'s>(schema: &'s Value, root: &'s Value, left: &mut usize) -> Option<&'s Value> {
    match schema.get("$ref") {
        Some(reference) => {
            let target = root.pointer(local(reference)?)?;
            *left = left.checked_sub(1)?;
            resolved(target, root, left)
        }
        None => Some(schema),
    }
}

/// Adds a keyword; `None` if the whole has another value for it.
fn add(whole: &mut Members, keyword: String, value: Value) -> Option<()> {
    let decides = [
        "type",
        "const",
        "enum",
        "anyOf",
        "oneOf",
        "items",
        "prefixItems",
        "$ref",
    ];
    match whole.entry(keyword) {
        Entry::Vacant(entry) => {
            entry.insert(value);
        }
        Entry::Occupied(mut entry) => match (&*entry.key().clone(), entry.get_mut(), value) {
            ("properties", Value::Object(properties), Value::Object(more)) => {
                for (name, schema) in more {
                    let before = properties.insert(name, schema.clone());
                    if before.is_some_and(|before| before != schema) {
                        return None;
                    }
                }
            }
            ("required", Value::Array(required), Value::Array(more)) => required.extend(more),
            (keyword, before, value) if decides.contains(&keyword) && *before != value => {
                return None;
            }
            // Of descriptions and bounds, the first counts.
            _ => {}
        },
    }
    Some(())
}
