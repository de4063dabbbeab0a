//! A virtual tool that fits its handlers.

use mcp_servlet_schema::{Schemas, Validator};
use serde_json::Value;

use crate::{
    JsonObject,
    input_schema::InputSchema,
    problem::{Place, Problem},
    spec::VirtualTool,
};

/// A virtual tool that fits its handlers.
#[derive(Debug)]
pub struct Proven {
    pub(crate) tool: VirtualTool,
    pub(crate) definition: JsonObject,
    pub(crate) schemas: Schemas,
    /// What is known about the handler of each step.
    pub(crate) handlers: Vec<HandlerSchema>,
    pub(crate) output: Option<Validator>,
    pub(crate) reads_client: bool,
    pub(crate) warnings: Vec<Problem>,
    pub(crate) unproved: Vec<Problem>,
    pub(crate) inferred_output: Option<Value>,
}

/// What is known about the handler of a step.
#[derive(Debug)]
pub(crate) struct HandlerSchema {
    pub(crate) input_schema: InputSchema,
    /// Checks the arguments; `None` if the schema cannot be applied within the limits.
    pub(crate) inputs: Option<Validator>,
    pub(crate) is_read_only: bool,
}

impl Proven {
    /// The virtual tool.
    pub fn tool(&self) -> &VirtualTool {
        &self.tool
    }

    /// What is most likely a mistake.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Inputs that the handlers may not take. Each call checks them.
    pub fn unproved(&self) -> &[Problem] {
        &self.unproved
    }

    /// The schema that was inferred for the structured content, and the place of that content. `None` if the tool declares a schema, or
    /// nothing could be inferred.
    pub fn inferred_output(&self) -> Option<(Place, &Value)> {
        let place = Place::of("result").key("structuredContent");
        Some((place, self.inferred_output.as_ref()?))
    }

    /// Whether a step changes nothing, as its handler says.
    pub fn is_read_only(&self, step: usize) -> bool {
        self.handlers[step].is_read_only
    }

    /// Whether an expression reads the metadata or the session of a request. Otherwise a [`Request`](crate::Request) needs
    /// neither.
    pub fn reads_client(&self) -> bool {
        self.reads_client
    }

    /// Whether the check of these arguments takes so long that [`accepted`](Self::accepted) should run on a blocking thread.
    pub fn takes_long(&self, arguments: Option<&JsonObject>) -> bool {
        self.schemas.takes_long(arguments)
    }

    /// The schemas of the tool, as clients see them.
    pub fn schemas(&self) -> &Schemas {
        &self.schemas
    }

    /// The definition for `tools/list`.
    pub fn definition(&self) -> &JsonObject {
        &self.definition
    }
}
