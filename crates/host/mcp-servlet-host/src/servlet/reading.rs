//! Turns the output of a tool's export into the result of the call.

use std::{collections::BTreeMap, sync::Arc};

use mcp_servlet_call::{CallError, CallErrorKind};
use mcp_servlet_runtime::CheckResults;
use mcp_servlet_schema::{Problem, Schemas};

use crate::{CallToolResult, Shape, compat::read_result};

/// Everything that is needed to read an output.
pub(super) struct Reading {
    pub(super) servlet: String,
    pub(super) tool: String,
    pub(super) export: &'static str,
    pub(super) checks: CheckResults,
    pub(super) schemas: Arc<Schemas>,
    pub(super) shapes: Arc<BTreeMap<String, Shape>>,
}

impl Reading {
    /// Reads an output, checks it, and gives it the shape of the tool.
    pub(super) fn result(self, output: &[u8]) -> Result<CallToolResult, CallError> {
        let shape = self.shapes.get(&self.tool).cloned();
        let result = self.checked(output)?;
        Ok(match shape {
            None => result,
            Some(shape) => shape.apply(result),
        })
    }

    /// Reads an output in any of its forms and checks the structured content.
    fn checked(self, output: &[u8]) -> Result<CallToolResult, CallError> {
        let result = match read_result(output, self.schemas.allow_null_result()) {
            Ok(result) => result,
            Err(Problem { at, message }) => return Err(self.bad(at, message)),
        };
        if self.checks == CheckResults::Off {
            return Ok(result);
        }
        if result.is_error() || result.result_type() != "complete" {
            return Ok(result);
        }
        let Some(problem) = self.schemas.problem(result.structured_content()) else {
            return Ok(result);
        };
        if self.checks == CheckResults::Error {
            return Err(self.bad("/structuredContent".to_owned(), problem));
        }
        tracing::warn!(
            servlet = self.servlet,
            tool = self.tool,
            problem,
            "structured content does not match its schema"
        );
        Ok(result)
    }

    fn bad(self, at: String, problem: String) -> CallError {
        CallErrorKind::BadOutput { at, problem }.at(&self.servlet, Some(self.export))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(output: &serde_json::Value) -> Result<CallToolResult, CallError> {
        let tool = json!({ "inputSchema": {}, "outputSchema": { "required": ["n"] } });
        let schemas = Schemas::of(tool.as_object().expect("an object")).expect("schemas");
        let reading = Reading {
            servlet: "s".to_owned(),
            tool: "t".to_owned(),
            export: "call",
            checks: CheckResults::Error,
            schemas: Arc::new(schemas),
            shapes: Arc::default(),
        };
        reading.result(output.to_string().as_bytes())
    }

    #[test]
    fn structured_content_must_match_unless_the_result_is_an_error_or_an_input_request() {
        for (output, is_ok) in [
            (
                json!({ "content": [], "structuredContent": { "n": 1 } }),
                true,
            ),
            (json!({ "content": [], "structuredContent": {} }), false),
            (json!({ "content": [] }), false),
            (json!({ "content": [], "isError": true }), true),
            (
                json!({ "resultType": "input_required", "inputRequests": {} }),
                true,
            ),
        ] {
            assert_eq!(read(&output).is_ok(), is_ok, "{output}");
        }
    }
}
