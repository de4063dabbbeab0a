//! A servlet: its tools, what it says of itself, and how it answers.

use crate::context::Context;
use crate::error::{Failure, Fault};
use crate::report::{Hints, Report};
use crate::request::{Request, malformed};
use crate::result::ToolResult;
use crate::schema::render::split;
use crate::tool::Entry;

/// What [`export!`](crate::export) makes: the tools of a crate, ready to be described and called.
///
/// In a test it answers without any wasm, through the same code that runs inside a host:
///
/// ```
/// use mcp_servlet::prelude::*;
/// use serde_json::json;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: f64, b: f64) -> f64 { a + b }
///
/// mcp_servlet::export!(static SERVLET = { tools: [add] });
///
/// # fn main() -> Result<(), Fault> {
/// let result = SERVLET.call("add", json!({ "a": 1, "b": 2.5 }))?;
/// assert_eq!(result.content[0].text.as_deref(), Some("3.5"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Servlet {
    description: &'static [u8],
    hints: Hints,
    tools: &'static [Entry],
}

impl Servlet {
    /// A servlet of these tools; `text` is the rendered answer of `describe`, and what goes with it.
    ///
    /// Stops the build if two tools have one name.
    pub const fn new(text: &'static [u8], tools: &'static [Entry]) -> Self {
        crate::unique::check(tools);
        let (description, examples) = split(text);
        Self {
            description,
            hints: Hints::new(description, examples),
            tools,
        }
    }

    /// The answer of the `describe` export, as JSON.
    pub fn description(&self) -> &'static str {
        // It was a `str` before `const` evaluation put it into an array, so the default never is.
        std::str::from_utf8(self.description).unwrap_or_default()
    }

    #[cfg(target_family = "wasm")]
    pub(crate) fn description_bytes(&self) -> &'static [u8] {
        self.description
    }

    /// The answer of the `call` export to a request, both as JSON; `None` is a request that is not text.
    pub(crate) fn answer(&self, context: &Context, request: Option<&str>) -> Result<String, Fault> {
        let mut call = Request::new(self.tools);
        let outcome = call
            .read(request)
            .and_then(|(tool, arguments)| (tool.call)(context, arguments));
        let result = match outcome {
            Ok(result) => result,
            Err(Failure::Malformed(error)) => return Err(malformed(&error)),
            Err(Failure::Fault(fault)) => return Err(fault),
            Err(Failure::Tool(error)) => return error.into_json(),
            Err(failure) => ToolResult::error(&Report::on(
                self.description(),
                self.hints,
                call.tool(),
                &failure,
            )),
        };
        Ok(result.into_json())
    }
}

#[cfg(not(target_family = "wasm"))]
mod native {
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
            let arguments = to_string(&arguments).map_err(|error| {
                Fault::invalid_params(format!("arguments are not JSON: {error}"))
            })?;
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
}
