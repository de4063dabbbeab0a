//! The inputs of Visual Studio Code: values that it asks the user for, and keeps in its secret storage.

use std::collections::BTreeSet;

use jsonc_parser::cst::{CstArray, CstNode, CstObject};
use serde_json::{Value, json};

use crate::edit::to_json;

/// The member with the inputs, next to the one with the servers.
const INPUTS: &str = "inputs";

/// Adds the inputs that an entry uses and that the file does not have. Returns false if `inputs` is not a list.
pub(crate) fn add(file: &CstObject, entry: &Value) -> bool {
    let used = used(entry);
    if used.is_empty() {
        return true;
    }
    let Some(inputs) = file.array_value_or_create(INPUTS) else {
        return false;
    };
    let known: Vec<_> = values(&inputs)
        .map(|(_, value)| value["id"].clone())
        .collect();
    for id in used.into_iter().filter(|id| !known.contains(&json!(id))) {
        inputs.append(to_json(&input(&id)));
    }
    true
}

/// Removes inputs that no other server uses. Keeps inputs that differ from what [`add`] writes.
pub(crate) fn remove(file: &CstObject, entry: &Value, others: &Value) {
    let Some(inputs) = file.array_value(INPUTS) else {
        return;
    };
    let others = used(others);
    let mut is_changed = false;
    for id in used(entry).difference(&others) {
        for (node, _) in values(&inputs).filter(|(_, value)| *value == input(id)) {
            node.remove();
            is_changed = true;
        }
    }
    if is_changed
        && inputs.elements().is_empty()
        && let Some(member) = file.get(INPUTS)
    {
        member.remove();
    }
}

fn input(id: &str) -> Value {
    json!({ "type": "promptString", "id": id, "description": id, "password": true })
}

fn values(inputs: &CstArray) -> impl Iterator<Item = (CstNode, Value)> {
    let elements = inputs.elements().into_iter();
    elements.filter_map(|node| {
        let value = node.to_serde_value()?;
        Some((node, value))
    })
}

/// The ids in all `${input:ID}` of a value.
fn used(value: &Value) -> BTreeSet<String> {
    match value {
        Value::String(text) => {
            let rest = text.split("${input:").skip(1);
            let ids = rest.filter_map(|rest| rest.split_once('}'));
            ids.map(|(id, _)| id.to_owned()).collect()
        }
        Value::Array(items) => items.iter().flat_map(used).collect(),
        Value::Object(members) => members.values().flat_map(used).collect(),
        _ => BTreeSet::new(),
    }
}
