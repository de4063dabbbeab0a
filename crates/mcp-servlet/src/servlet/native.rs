//! A servlet without wasm: what tests call.

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
        self.exchange(context).call(tool, arguments)
    }

    /// Answers a request as the `call` export does, JSON for JSON.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub fn call_raw(&self, context: &Context, request: &[u8]) -> Result<String, Fault> {
        let request = std::str::from_utf8(request).ok();
        begin(context, request.unwrap_or_default());
        let answer = self.answer(context, request);
        context.begin("");
        answer
    }

    /// A client's way to the exports, in this process.
    fn exchange<'a>(
        &'a self,
        context: &'a Context,
    ) -> Exchange<'a, impl Fn(&str, &str) -> Result<String, Fault>> {
        Exchange {
            context,
            export: move |export: &str, input: &str| self.run(context, export, input),
        }
    }

    /// Answers as the export of this name does. One that the wasm lacks has nothing to answer from.
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

    /// Whether the wasm has an export of this name.
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

/// What an export answers to a request.
type Answer = fn(&Features, &Context, Option<&str>) -> Result<String, Fault>;

/// Begins to answer a request.
fn begin(context: &Context, request: &str) {
    #[cfg(feature = "log")]
    crate::logger::install(&context.host);
    context.begin(request);
}
