//! The arguments of a prompt as a JSON Schema.

use serde_json::{Value, json};

use crate::{
    JsonObject,
    catalog::Schema,
    diagnostic::{Severity, code},
    entry::{Entry, unexpected},
};

/// An object of strings. Other members of an argument, such as `description` and `default`, become
/// keywords.
pub(crate) fn input(arguments: Vec<Value>, entry: &mut Entry) -> Schema {
    let mut properties = JsonObject::new();
    let mut required = Vec::new();
    for (index, argument) in arguments.into_iter().enumerate() {
        let pointer = format!("/arguments/{index}");
        let (name, argument) = match read_argument(argument) {
            Ok(argument) => argument,
            Err(problem) => {
                entry.problem(code::BAD_ARGUMENT, Severity::Error, &pointer, problem);
                continue;
            }
        };
        if properties.contains_key(&name) {
            let problem = format!("another argument has the name `{name}`");
            entry.problem(code::BAD_ARGUMENT, Severity::Warning, &pointer, problem);
            continue;
        }
        if argument.get("required") == Some(&Value::Bool(true)) {
            required.push(Value::from(&*name));
        }
        properties.insert(name, property(argument));
    }
    let mut json = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        json["required"] = required.into();
    }
    Schema { json, error: None }
}

/// The name of an argument, and its members.
fn read_argument(argument: Value) -> Result<(String, JsonObject), String> {
    match argument {
        Value::Object(mut argument) => match argument.shift_remove("name") {
            Some(Value::String(name)) => Ok((name, argument)),
            Some(other) => Err(format!("`name`: {}", unexpected("a string", &other))),
            None => Err("has no `name`".to_owned()),
        },
        other => Err(unexpected("an object", &other)),
    }
}

/// MCP has strings as arguments only, so a `type` of the server does not count.
fn property(argument: JsonObject) -> Value {
    let others = argument
        .into_iter()
        .filter(|(name, value)| !["required", "type"].contains(&&**name) && !value.is_null());
    let mut property = JsonObject::new();
    property.insert("type".to_owned(), "string".into());
    property.extend(others);
    Value::Object(property)
}
