//! A virtual tool that fits its handler.

use mcp_servlet_schema::{Schemas, Validator};

use crate::{JsonObject, input_schema::InputSchema, spec::VirtualTool};

/// A virtual tool that fits its handler.
#[derive(Debug)]
pub struct Proven {
    pub(crate) tool: VirtualTool,
    pub(crate) definition: JsonObject,
    pub(crate) schemas: Schemas,
    /// Checks the arguments of the handler; `None` if its schema cannot be applied within the limits.
    pub(crate) inputs: Option<Validator>,
    /// The handler's input schema.
    pub(crate) input_schema: InputSchema,
    pub(crate) output: Option<Validator>,
    pub(crate) reads_client: bool,
}

impl Proven {
    /// The virtual tool.
    pub fn tool(&self) -> &VirtualTool {
        &self.tool
    }

    /// Whether an expression reads the metadata or the session of a request. Otherwise a [`Request`](crate::Request) needs
    /// neither.
    pub fn reads_client(&self) -> bool {
        self.reads_client
    }

    /// Whether the check of these arguments takes so long that [`prepare`](Self::prepare) should run on a blocking thread.
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
