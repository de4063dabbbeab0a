//! Native calls of a servlet, for tests.

pub(crate) mod exchange;
mod features;

use mcp_servlet_json::{RawJson, from_str};
use mcp_servlet_types::{CallToolResult, ServletDescription};
use serde::Serialize;

use self::exchange::Exchange;
use super::Servlet;
use crate::context::Context;
use crate::error::Fault;
use crate::features::Features;
use crate::json::Children;

impl Servlet {
    /// The description of the servlet.
    #[allow(clippy::missing_panics_doc, reason = "a bug of ours, not a condition")]
    pub fn describe(&self) -> ServletDescription {
        from_str(self.description()).expect("`export!` renders a valid description")
    }

    /// Valid arguments of the tool, as in the error that the model gets for invalid ones. `None` if there is no
    /// such tool, or if they cannot be derived from a handwritten schema.
    pub fn example(&self, tool: &str) -> Option<RawJson> {
        let index = self.tools.iter().position(|entry| entry.name == tool)?;
        let (_, example) = Children::of(self.hints.examples).nth(index)?;
        RawJson::parse(example)
            .ok()
            .filter(|example| example.get() != "null")
    }

    /// Calls a tool like a host, with an empty [`Context`].
    ///
    /// # Errors
    ///
    /// The fault that a client would get as a JSON-RPC error. A tool that returns an error
    /// is an `Ok` with `is_error`.
    pub fn call(&self, tool: &str, arguments: impl Serialize) -> Result<CallToolResult, Fault> {
        self.call_with(&Context::default(), tool, arguments)
    }

    /// Calls a tool with a context from [`testing`](crate::testing), which also answers the tool's
    /// requests for input.
    ///
    /// # Errors
    ///
    /// Like [`call`](Self::call).
    pub fn call_with(
        &self,
        context: &Context,
        tool: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, Fault> {
        self.exchange(context).call(tool, arguments)
    }

    /// Handles a request like the `call` export: JSON in, JSON out.
    ///
    /// # Errors
    ///
    /// Like [`call`](Self::call).
    pub fn call_raw(&self, context: &Context, request: &[u8]) -> Result<String, Fault> {
        let request = std::str::from_utf8(request).ok();
        begin(context, request.unwrap_or_default());
        let answer = self.answer(context, request);
        context.begin("");
        answer
    }

    /// Calls the exports in this process, for a client.
    fn exchange<'a>(
        &'a self,
        context: &'a Context,
    ) -> Exchange<'a, impl Fn(&str, &str) -> Result<String, Fault>> {
        Exchange {
            context,
            export: move |export: &str, input: &str| self.run(context, export, input),
        }
    }

    /// Runs the export with this name. An export that the wasm lacks has an empty table.
    pub(crate) fn run(
        &self,
        context: &Context,
        export: &str,
        input: &str,
    ) -> Result<String, Fault> {
        let features = self.features;
        let list = |text| Ok(String::from_utf8_lossy(text).into_owned());
        let answer: Answer = match export {
            "describe" => return Ok(self.description().to_owned()),
            "list_resources" => return list(features.resources.text),
            "list_resource_templates" => return list(features.templates.text),
            "list_prompts" => return list(features.prompts.text),
            "read_resource" => Features::read_resource,
            "get_prompt" => Features::get_prompt,
            "complete" => Features::complete,
            _ => return self.call_raw(context, input.as_bytes()),
        };
        begin(context, input);
        let answered = answer(features, context, Some(input));
        context.begin("");
        answered
    }

    /// Whether the wasm has an export with this name.
    pub(crate) fn exports(&self, export: &str) -> bool {
        let features = self.features;
        let (resources, templates) = (features.resources.entries, features.templates.entries);
        match export {
            "describe" | "call" => true,
            "list_resources" => !resources.is_empty(),
            "list_resource_templates" => !templates.is_empty(),
            "read_resource" => !(resources.is_empty() && templates.is_empty()),
            "list_prompts" | "get_prompt" => !features.prompts.entries.is_empty(),
            "complete" => !features.completions.is_empty(),
            _ => false,
        }
    }
}

/// The implementation of an export.
type Answer = fn(&Features, &Context, Option<&str>) -> Result<String, Fault>;

/// Starts a request.
fn begin(context: &Context, request: &str) {
    #[cfg(feature = "log")]
    crate::logger::install(&context.host);
    context.begin(request);
}
