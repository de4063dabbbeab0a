//! A servlet without wasm: what tests call.

mod surface;

use mcp_servlet_json::{RawJson, from_str, to_string, write_string};
use mcp_servlet_types::{CallToolResult, ServletDescription};
use serde::Serialize;

use super::Servlet;
use crate::context::Context;
use crate::error::Fault;
use crate::json::Children;

impl Servlet {
    /// What the servlet says of itself.
    #[allow(clippy::missing_panics_doc, reason = "a bug of ours, not a condition")]
    pub fn describe(&self) -> ServletDescription {
        from_str(self.description()).expect("`export!` renders a valid description")
    }

    /// Arguments that fit the schema of the tool, as the model is shown when others did not; `None` if there is
    /// no such tool, or no telling from a schema written by hand.
    pub fn example(&self, tool: &str) -> Option<RawJson> {
        let index = self.tools.iter().position(|entry| entry.name == tool)?;
        let (_, example) = Children::of(self.hints.examples).nth(index)?;
        RawJson::parse(example)
            .ok()
            .filter(|example| example.get() != "null")
    }

    /// Calls a tool as a host would, with a [`Context`] that has nothing configured.
    ///
    /// # Errors
    ///
    /// The fault that a client would get as a JSON-RPC error. A tool that answers with an error
    /// is an `Ok` with `is_error`.
    pub fn call(&self, tool: &str, arguments: impl Serialize) -> Result<CallToolResult, Fault> {
        self.call_with(&Context::default(), tool, arguments)
    }

    /// Calls a tool with a context from [`testing`](crate::testing), which also answers what the tool asks.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub fn call_with(
        &self,
        context: &Context,
        tool: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, Fault> {
        let arguments = to_string(&arguments)
            .map_err(|error| Fault::invalid_params(format!("arguments are not JSON: {error}")))?;
        let mut params = String::from("\"name\":");
        write_string(&mut params, tool);
        params.push_str(",\"arguments\":");
        params.push_str(&arguments);
        let answer = context.converse(|extras| {
            let request = format!("{{\"params\":{{{params},{extras}}}}}");
            self.call_raw(context, request.as_bytes())
        })?;
        from_str(&answer).map_err(|error| {
            Fault::internal(format!("the result is not a CallToolResult: {error}"))
        })
    }

    /// Answers a request as the `call` export does, JSON for JSON.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub fn call_raw(&self, context: &Context, request: &[u8]) -> Result<String, Fault> {
        let request = std::str::from_utf8(request).ok();
        context.begin(request.unwrap_or_default());
        let answer = self.answer(context, request);
        context.begin("");
        answer
    }
}
