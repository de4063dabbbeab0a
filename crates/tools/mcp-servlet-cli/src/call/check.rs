//! `--check`: whether the arguments and the result of a call match the schemas of the tool.

use mcp_servlet_call::JsonObject;
use mcp_servlet_client::ErrorKind;
use mcp_servlet_host::CallToolResult;
use mcp_servlet_schema::Schemas;

use crate::failure::{Failure, Kind};

/// What a failure of a check counts as.
const KIND: Kind = Kind::Server(ErrorKind::Schema);

/// The schemas of a tool.
pub(super) struct SchemaCheck(Schemas);

impl SchemaCheck {
    /// Fails if a schema of the tool is not valid.
    pub(super) fn of(tool: &JsonObject) -> Result<Self, Failure> {
        Schemas::of(tool).map(Self).map_err(|problem| {
            let message = format!("a schema of the tool is not valid: {problem}");
            Failure::with_help(KIND, message, "call the tool without `--check`")
        })
    }

    pub(super) fn arguments(&self, arguments: &JsonObject) -> Result<(), Failure> {
        let checked = self.0.arguments(false, Some(arguments));
        checked.map(drop).map_err(|message| {
            let help =
                "nothing was sent; correct the arguments, or call the tool without `--check`";
            Failure::with_help(KIND, message, help)
        })
    }

    /// Checks a result that has been printed.
    pub(super) fn result(&self, result: &CallToolResult) -> Result<(), Failure> {
        let Some(problem) = self.0.problem(result.json().get("structuredContent")) else {
            return Ok(());
        };
        let message = format!("the structured content of the result is wrong: {problem}");
        let help = "the server does not keep to the output schema of the tool";
        Failure::with_help(KIND, message, help).report();
        Err(Failure::Shown(KIND))
    }
}
