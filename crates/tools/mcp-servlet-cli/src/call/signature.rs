//! Tools in one line each: `forecast city=string [days=integer]  The weather of a city.`

use std::io::{self, Write};

use mcp_servlet_call::JsonObject;
use mcp_servlet_schema::schema_in_words;
use serde_json::Value;

use crate::terminal::one_line;

/// Lists tools with their arguments and the first line of their descriptions.
pub(super) fn list<'a>(
    out: &mut impl Write,
    tools: impl Iterator<Item = &'a JsonObject>,
) -> io::Result<()> {
    let rows: Vec<_> = tools.map(|tool| (signature(tool), about(tool))).collect();
    if rows.is_empty() {
        return writeln!(out, "no tools");
    }
    for (signature, about) in rows {
        writeln!(out, "{signature}")?;
        if !about.is_empty() {
            writeln!(out, "    {about}")?;
        }
    }
    Ok(())
}

fn signature(tool: &JsonObject) -> String {
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    let mut signature = one_line(name).into_owned();
    let schema = tool.get("inputSchema").and_then(Value::as_object);
    for argument in schema.into_iter().flat_map(arguments) {
        signature += " ";
        signature += &one_line(&argument);
    }
    signature
}

/// The form of each argument on the command line, with optional ones in brackets.
fn arguments(schema: &JsonObject) -> Vec<String> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    properties
        .map(|(name, property)| {
            let argument = format!("{name}={}", schema_in_words(schema, property));
            if is_required(name) {
                argument
            } else {
                format!("[{argument}]")
            }
        })
        .collect()
}

fn about(tool: &JsonObject) -> String {
    let text = tool.get("description").and_then(Value::as_str);
    let line = text.and_then(|text| text.lines().next());
    one_line(line.unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn optional_arguments_are_in_brackets() {
        let tool = json!({
            "name": "forecast",
            "inputSchema": {
                "properties": { "city": { "type": "string" }, "days": { "type": "integer" } },
                "required": ["city"],
            },
        });
        let tool = tool.as_object().expect("an object");
        assert_eq!(signature(tool), "forecast city=string [days=integer]");
    }
}
