//! A servlet: its tools, what it says of itself, and how it answers.

use crate::context::Context;
use crate::error::{Failure, Fault};
use crate::report::{Hints, Report};
use crate::request::{Request, malformed};
use crate::result::ToolResult;
use crate::schema::render::split;
#[cfg(not(target_family = "wasm"))]
use crate::surface::Surface;
use crate::tool::Entry;
use crate::wire::HYPER_MCP;

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
    /// In wasm each export refers to what it needs, so that nothing else is there.
    #[cfg(not(target_family = "wasm"))]
    surface: &'static Surface,
}

impl Servlet {
    /// A servlet of these tools; `text` is the rendered answer of `describe`, and what goes with it.
    ///
    /// Stops the build if two tools have one name.
    pub const fn new(text: &'static [u8], tools: &'static [Entry]) -> Self {
        crate::unique::check_tools(tools);
        let (description, examples) = split(text);
        Self {
            description,
            hints: Hints::new(description, examples),
            tools,
            #[cfg(not(target_family = "wasm"))]
            surface: &Surface::NONE,
        }
    }

    /// The same with resources, prompts and completion.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub const fn with_surface(self, surface: &'static Surface) -> Self {
        Self { surface, ..self }
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
            // From its host, the model would learn of no error.
            Err(Failure::Fault(fault)) if HYPER_MCP && fault.code() == Fault::INVALID_PARAMS => {
                ToolResult::error(fault.message())
            }
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
pub(crate) mod native;
