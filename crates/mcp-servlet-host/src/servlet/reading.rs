//! From what a tool's export gave to the result of the call.

use std::sync::Arc;

use crate::{CallError, CallToolResult, CheckResults, compat::read_result, schema::Schemas};

/// What one output is read by.
pub(super) struct Reading {
    pub(super) servlet: String,
    pub(super) tool: String,
    pub(super) export: &'static str,
    pub(super) checks: CheckResults,
    pub(super) schemas: Arc<Schemas>,
}

impl Reading {
    /// Reads whatever shape the output has, and checks structured content.
    pub(super) fn result(self, output: &[u8]) -> Result<CallToolResult, CallError> {
        let result = match read_result(output) {
            Ok(result) => result,
            Err((at, problem)) => return Err(self.bad(at, problem)),
        };
        if self.checks == CheckResults::Off {
            return Ok(result);
        }
        let Some(problem) = self.schemas.problem(&result) else {
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
        CallError::BadOutput {
            servlet: self.servlet,
            export: self.export,
            at,
            problem,
        }
    }
}
