//! The description of a servlet in all shapes that servlets have used: the output of `describe` or
//! `list_tools`.
//!
//! The first servlets described one tool (`{"name", "description", "inputSchema"}`), later ones a
//! list (`{"tools": […]}`). Current servlets with one tool write both. If there are both, the list
//! counts.

use mcp_servlet_call::JsonObject;
use mcp_servlet_common::shape;
use mcp_servlet_schema::Problem;
use serde_json::Value;

use crate::{LoadError, tool::Tool};

/// The parsed output.
#[derive(Debug, Default)]
pub(crate) struct Description {
    /// The output as text.
    pub(crate) text: String,
    /// The tools, in the servlet's order.
    pub(crate) tools: Vec<Tool>,
    /// Whether the output is a single tool, without a list.
    pub(crate) is_single: bool,
    pub(crate) server_info: Option<JsonObject>,
    pub(crate) instructions: Option<String>,
}

impl Description {
    pub(crate) fn parse(
        servlet: &str,
        export: &'static str,
        output: Vec<u8>,
    ) -> Result<Self, LoadError> {
        let wrong = |Problem { at, message }| LoadError::Description {
            servlet: servlet.to_owned(),
            export,
            at,
            problem: message,
        };
        Self::read(output).map_err(wrong)
    }

    fn read(output: Vec<u8>) -> Result<Self, Problem> {
        let text = String::from_utf8(output).map_err(|error| {
            let at = format!("byte {}", error.utf8_error().valid_up_to());
            Problem::new(at, "not UTF-8")
        })?;
        let json = serde_json::from_str(&text).map_err(|error| Problem::syntax(&error))?;
        let Value::Object(mut json) = json else {
            return Err(Problem::expected("top level", "an object", Some(&json)));
        };
        // A list that is null is empty, unless the output is a tool by itself.
        let is_single = match json.get("tools") {
            None => true,
            Some(tools) => tools.is_null() && json.contains_key("name"),
        };
        if is_single {
            json.shift_remove("tools");
            shape::TOOL.drop_nulls(&mut json);
        } else {
            shape::drop_nulls("tools/list", &mut json);
        }
        let mut server_info = optional(&mut json, "serverInfo", "an object", into_object)?;
        if let Some(server_info) = &mut server_info {
            shape::IMPLEMENTATION.drop_nulls(server_info);
        }
        let instructions = optional(&mut json, "instructions", "a string", into_string)?;
        Ok(Self {
            text,
            is_single,
            tools: tools(json)?,
            server_info,
            instructions,
        })
    }
}

fn tools(mut json: JsonObject) -> Result<Vec<Tool>, Problem> {
    match json.shift_remove("tools") {
        None => Ok(vec![Tool::new(json)?]),
        Some(Value::Array(tools)) => {
            let tools = tools.into_iter().enumerate();
            tools.map(|(at, tool)| listed(at, tool)).collect()
        }
        other => Err(Problem::expected("/tools", "an array", other.as_ref())),
    }
}

fn listed(at: usize, tool: Value) -> Result<Tool, Problem> {
    match tool {
        Value::Object(tool) => {
            Tool::new(tool).map_err(|problem| problem.within(&format!("/tools/{at}")))
        }
        other => Err(Problem::expected(
            format!("/tools/{at}"),
            "an object",
            Some(&other),
        )),
    }
}

/// Removes and returns a member that may be absent or null.
fn optional<T>(
    json: &mut JsonObject,
    key: &str,
    what: &str,
    read: impl Fn(Value) -> Result<T, Value>,
) -> Result<Option<T>, Problem> {
    match json.shift_remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let read = read(value).map(Some);
            read.map_err(|other| Problem::expected(format!("/{key}"), what, Some(&other)))
        }
    }
}

fn into_object(value: Value) -> Result<JsonObject, Value> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(other),
    }
}

fn into_string(value: Value) -> Result<String, Value> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Result<Description, String> {
        Description::parse("s", "describe", text.into()).map_err(|error| error.to_string())
    }

    fn names(text: &str) -> Vec<String> {
        let tools = parse(text).expect("a description").tools;
        tools.iter().map(|tool| tool.name().to_owned()).collect()
    }

    #[test]
    fn reads_a_single_tool() {
        assert_eq!(
            names(r#"{"name":"greet","description":"d","inputSchema":{"type":"object"}}"#),
            ["greet"]
        );
    }

    #[test]
    fn reads_a_list_in_its_order() {
        let list = r#"{"tools":[{"name":"b","inputSchema":{}},{"name":"a","inputSchema":{}}]}"#;
        assert_eq!(names(list), ["b", "a"]);
        assert_eq!(names(r#"{"tools":[]}"#), [""; 0]);
    }

    #[test]
    fn prefers_the_list_to_the_single_tool() {
        let union = r#"{"name":"old","inputSchema":{},"tools":[{"name":"new","inputSchema":{}}],
            "serverInfo":{"name":"S","version":"1"},"instructions":"Ask."}"#;
        let description = parse(union).expect("a description");
        assert_eq!(description.tools[0].name(), "new");
        assert_eq!(description.instructions.as_deref(), Some("Ask."));
        assert_eq!(description.server_info.expect("info")["version"], "1");
    }

    #[test]
    fn keeps_fields_it_does_not_know_and_their_order() {
        let text = r#"{"tools":[{"x":1,"name":"a","inputSchema":{"properties":{"z":{},"b":{}}},"execution":{}}]}"#;
        let tool = parse(text).expect("a description").tools.remove(0);
        let json = serde_json::to_string(tool.json()).expect("JSON");
        assert_eq!(format!("{{\"tools\":[{json}]}}"), text);
    }

    #[test]
    fn nulls_of_generated_code_are_absent() {
        let tool = r#"{"name":"say","title":null,"description":"d","inputSchema":{"type":"object",
            "properties":{"title":{"type":"string","format":null,"default":null}}},"outputSchema":null,"annotations":null}"#;
        let clean = json!({ "name": "say", "description": "d", "inputSchema": { "type": "object",
            "properties": { "title": { "type": "string", "default": null } } } });
        for text in [tool.to_owned(), format!("{{\"tools\":[{tool}]}}")] {
            let tool = parse(&text).expect("a description").tools.remove(0);
            assert_eq!(Value::from(tool.json().clone()), clean, "{text}");
        }
        let text = r#"{"tools":null,"serverInfo":{"name":"S","version":"1","title":null}}"#;
        let description = parse(text).expect("a description");
        assert_eq!(description.tools, []);
        let info = json!({ "name": "S", "version": "1" });
        assert_eq!(description.server_info.map(Value::from), Some(info));
    }

    #[test]
    fn error_has_the_pointer_of_an_invalid_description() {
        for (text, error) in [
            ("", "line 1 column 0: EOF while parsing a value"),
            ("{\"tools\":[}", "line 1 column 11: expected value"),
            ("[]", "top level: expected an object, found an array"),
            ("{}", "/name: expected a string, found nothing"),
            (
                r#"{"tools":7}"#,
                "/tools: expected an array, found an integer",
            ),
            (
                r#"{"tools":[{"name":"a","inputSchema":{}},{"name":3}]}"#,
                "/tools/1/name: expected a string, found an integer",
            ),
            (
                r#"{"tools":[{"name":"a"}]}"#,
                "/tools/0/inputSchema: expected an object, found nothing",
            ),
            (
                r#"{"name":"","inputSchema":{}}"#,
                "/name: the name is empty",
            ),
            (
                r#"{"tools":[],"instructions":[]}"#,
                "/instructions: expected a string, found an array",
            ),
        ] {
            let expected = format!("`s` has an invalid description: output of `describe`, {error}");
            assert_eq!(parse(text).err(), Some(expected), "{text}");
        }
    }
}
