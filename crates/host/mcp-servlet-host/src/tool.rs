//! A tool as its servlet described it.

use std::borrow::Cow;

use mcp_servlet_call::JsonObject;
use mcp_servlet_schema::{Problem, Provider, Undo, lower};
use serde_json::Value;

use crate::Shape;

/// A tool of a servlet.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    name: String,
    json: JsonObject,
    /// Converts arguments back if the schema was rewritten for a provider.
    undo: Option<Undo>,
    /// The output schema that results no longer match once they are shaped.
    unshaped: Option<Value>,
    /// Whether its remote only runs it as a task.
    is_remote_task: bool,
}

impl Tool {
    /// Takes a tool from its description.
    ///
    /// # Errors
    /// A required member is missing or has the wrong type.
    pub fn new(json: JsonObject) -> Result<Self, Problem> {
        let name = match json.get("name") {
            Some(Value::String(name)) if name.is_empty() => {
                return Err(Problem::new("/name", "the name is empty"));
            }
            Some(Value::String(name)) => name.clone(),
            other => return Err(Problem::expected("/name", "a string", other)),
        };
        match json.get("inputSchema") {
            Some(Value::Object(_)) => Ok(Self {
                name,
                json,
                undo: None,
                unshaped: None,
                is_remote_task: false,
            }),
            other => Err(Problem::expected("/inputSchema", "an object", other)),
        }
    }

    /// Checks that the type of the input schema is `object`, or missing. Some clients refuse the whole list because of one tool with
    /// another type. Values other than a string or a list make the schema invalid, and are not checked here.
    ///
    /// # Errors
    /// It has another type.
    pub fn check_input_type(&self) -> Result<(), Problem> {
        let kind = self
            .input_schema()
            .get("type")
            .filter(|kind| kind.is_string() || kind.is_array());
        let Some(found) = kind.filter(|kind| *kind != "object") else {
            return Ok(());
        };
        let message = format!("expected \"object\", found {found}");
        Err(Problem::new("/inputSchema/type", message))
    }

    /// The definition for clients. `execution` is not for them if the task stays between host and remote.
    pub(crate) fn definition(&self) -> Cow<'_, JsonObject> {
        let mut json = Cow::Borrowed(&self.json);
        if self.is_remote_task {
            json.to_mut().shift_remove("execution");
        }
        json
    }

    /// The tool as clients see it, under another name.
    pub(crate) fn renamed(&self, name: String) -> Self {
        let mut tool = self.clone();
        tool.json = self.definition().into_owned();
        tool.json.insert("name".to_owned(), name.clone().into());
        tool.name = name;
        tool
    }

    /// Notes that its remote only runs it as a task of MCP 2025-11-25. Calls wait for the result.
    pub fn set_remote_task(&mut self) {
        self.is_remote_task = true;
    }

    /// Whether its remote only runs it as a task.
    pub fn is_remote_task(&self) -> bool {
        self.is_remote_task
    }

    /// Takes away the output schema if shaped results may no longer match it.
    pub fn set_shape(&mut self, shape: &Shape) {
        if self
            .json
            .get("outputSchema")
            .is_some_and(|schema| shape.breaks(schema))
        {
            self.unshaped = self.json.shift_remove("outputSchema");
        }
    }

    /// The output schema of results before they are shaped.
    pub(crate) fn unshaped_output_schema(&self) -> Option<&Value> {
        self.unshaped
            .as_ref()
            .or_else(|| self.json.get("outputSchema"))
    }

    /// Rewrites the input schema for a provider.
    pub(crate) fn lower(&mut self, provider: Provider) {
        self.undo = lower(provider, &mut self.json);
    }

    /// The arguments of a call for the servlet's schema, which differ if the schema was rewritten.
    pub(crate) fn arguments<'a>(&self, arguments: &'a JsonObject) -> Cow<'a, JsonObject> {
        match &self.undo {
            Some(undo) => undo.arguments(arguments),
            None => Cow::Borrowed(arguments),
        }
    }

    /// The name that clients use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The title for people, if there is one.
    pub fn title(&self) -> Option<&str> {
        let annotations = self
            .json
            .get("annotations")
            .and_then(|notes| notes.get("title"));
        self.json.get("title").or(annotations)?.as_str()
    }

    /// The description.
    pub fn description(&self) -> Option<&str> {
        self.json.get("description")?.as_str()
    }

    /// The JSON Schema of the arguments.
    pub fn input_schema(&self) -> &JsonObject {
        static EMPTY: std::sync::LazyLock<JsonObject> = std::sync::LazyLock::new(JsonObject::new);
        self.json
            .get("inputSchema")
            .and_then(Value::as_object)
            .unwrap_or(&EMPTY)
    }

    /// Whether it is declared to change nothing.
    pub fn is_read_only(&self) -> bool {
        let annotations = self.json.get("annotations");
        annotations.is_some_and(|annotations| annotations["readOnlyHint"] == true)
    }

    /// Whether the value of its results is the member `result` of the structured content.
    pub(crate) fn wraps_result(&self) -> bool {
        let schema = self.json.get("outputSchema");
        schema.is_some_and(|schema| schema["x-fastmcp-wrap-result"] == true)
    }

    /// All members, as the servlet wrote them.
    pub fn json(&self) -> &JsonObject {
        &self.json
    }
}
