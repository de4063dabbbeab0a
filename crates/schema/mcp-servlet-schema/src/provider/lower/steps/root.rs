//! Turns a root schema with alternatives into a plain object schema.

use serde_json::{Map, Value};

use crate::provider::lower::nulls::listed_values;

/// Merges the properties of all branches into the root. A property that only some alternatives
/// require becomes optional.
pub(super) fn flatten(schema: &mut Value) {
    for keyword in ["if", "then", "else", "not", "enum"] {
        if let Some(branch) = super::remove(schema, keyword)
            && matches!(keyword, "then" | "else")
        {
            merge(schema, branch, false);
        }
    }
    for (keyword, demands) in [("allOf", true), ("anyOf", false), ("oneOf", false)] {
        let Some(Value::Array(branches)) = super::remove(schema, keyword) else {
            continue;
        };
        for mut branch in branches {
            flatten(&mut branch);
            merge(schema, branch, demands);
        }
    }
}

fn merge(schema: &mut Value, mut branch: Value, demands: bool) {
    let (Some(Value::Object(properties)), Value::Object(root)) =
        (super::remove(&mut branch, "properties"), &mut *schema)
    else {
        return require(schema, &branch, demands);
    };
    let known = root
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(known) = known {
        for (name, property) in properties {
            match known.get_mut(&name) {
                None => {
                    known.insert(name, property);
                }
                Some(known) => unite(known, property),
            }
        }
    }
    require(schema, &branch, demands);
}

fn require(schema: &mut Value, branch: &Value, demands: bool) {
    let Some(Value::Array(names)) = branch.get("required").filter(|_| demands) else {
        return;
    };
    let Value::Object(root) = schema else {
        return;
    };
    let required = root
        .entry("required")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(required) = required {
        required.extend(names.iter().cloned());
        required.dedup();
    }
}

/// Merges two schemas of one property. If both list values, as tags do, the result lists the values
/// of both. Otherwise the first schema that is not empty wins.
fn unite(known: &mut Value, other: Value) {
    let values = |schema| listed_values(schema).map(<[Value]>::to_vec);
    let (Some(mut all), Some(others)) = (values(known), values(&other)) else {
        if known.as_object().is_some_and(Map::is_empty) {
            *known = other;
        }
        return;
    };
    for value in others {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    super::remove(known, "const");
    known["enum"] = Value::Array(all);
}
