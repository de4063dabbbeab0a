//! A servlet: its tools, its description, and its responses.

#[cfg(feature = "schemars")]
use std::sync::OnceLock;

#[cfg(not(target_family = "wasm"))]
use crate::answer::error::Conversion;
use crate::answer::error::Fault;
use crate::answer::tool_result::ToolResult;
use crate::arguments::Failure;
use crate::arguments::report::{Report, ReportHints};
use crate::describe::render::split;
use crate::describe::tool::ToolEntry;
#[cfg(not(target_family = "wasm"))]
use crate::dispatch::features::Features;
use crate::dispatch::request::{Request, malformed};
use crate::host::context::Context;
#[cfg(feature = "schemars")]
use crate::schema::gaps;
use crate::schema::gaps::Generators;
use crate::wire::HYPER_MCP;

/// The static of [`export!`](crate::export): the tools of a crate, ready to be described and called.
///
/// In a test it runs without wasm, through the same code as in a host:
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
/// assert_eq!(result.text(), "3.5");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Servlet {
    description: &'static [u8],
    hints: ReportHints,
    tools: &'static [ToolEntry],
    /// Generates the description if a schema in it is not a constant; other servlets do not link this code.
    #[cfg(feature = "schemars")]
    fill: Option<fn(&Self) -> &'static str>,
    #[cfg(feature = "schemars")]
    generators: &'static Generators,
    #[cfg(feature = "schemars")]
    filled: OnceLock<&'static str>,
    /// In wasm each export refers to the features that it needs, so that no others are linked.
    #[cfg(not(target_family = "wasm"))]
    features: &'static Features,
    #[cfg(not(target_family = "wasm"))]
    needs: &'static [u8],
    #[cfg(not(target_family = "wasm"))]
    errors: Option<Conversion>,
}

impl Servlet {
    /// A servlet with these tools; `text` is the rendered result of `describe` and its extra data.
    pub const fn new(text: &'static [u8], tools: &'static [ToolEntry]) -> Self {
        let (description, examples) = split(text);
        Self {
            description,
            hints: ReportHints::new(description, examples),
            tools,
            #[cfg(feature = "schemars")]
            fill: None,
            #[cfg(feature = "schemars")]
            generators: &Generators::NONE,
            #[cfg(feature = "schemars")]
            filled: OnceLock::new(),
            #[cfg(not(target_family = "wasm"))]
            features: &Features::NONE,
            #[cfg(not(target_family = "wasm"))]
            needs: b"",
            #[cfg(not(target_family = "wasm"))]
            errors: None,
        }
    }

    /// The same servlet with the generators that fill the gaps in its description.
    #[cfg(feature = "schemars")]
    #[must_use]
    pub const fn with_generators(mut self, generators: &'static Generators) -> Self {
        if !generators.is_empty() {
            self.fill = Some(Self::filled);
            self.generators = generators;
            self.hints = self.hints.of_any_schema();
        }
        self
    }

    /// The same servlet: without `schemars`, all schemas are constants.
    #[cfg(not(feature = "schemars"))]
    #[must_use]
    pub const fn with_generators(self, _: &'static Generators) -> Self {
        self
    }

    #[cfg(feature = "schemars")]
    fn filled(&self) -> &'static str {
        if let Some(filled) = self.filled.get() {
            return filled;
        }
        // Not inside of `get_or_init`: after a trap there, it would panic in an instance that a host keeps.
        let text = std::str::from_utf8(self.description).unwrap_or_default();
        let filled = gaps::fill(text, self.generators).leak();
        self.filled.get_or_init(|| filled)
    }

    /// The same servlet with resources, prompts and completion.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub const fn with_features(mut self, features: &'static Features) -> Self {
        self.features = features;
        self
    }

    /// The same servlet with its needs, as rendered JSON.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub const fn with_needs(mut self, needs: &'static [u8]) -> Self {
        self.needs = needs;
        self
    }

    /// The same servlet with a conversion of errors.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub const fn with_errors(mut self, errors: Conversion) -> Self {
        self.errors = Some(errors);
        self
    }

    /// What the servlet declares that it needs, as JSON with the members `config` (a JSON Schema), `hosts`, `paths`,
    /// `calls` and `reads`;
    /// empty if `export!` has none of these sections. In wasm it is the custom section `mcp-servlet:needs`.
    #[cfg(not(target_family = "wasm"))]
    pub fn needs(&self) -> &'static str {
        std::str::from_utf8(self.needs).unwrap_or_default()
    }

    /// The result of the `describe` export, as JSON.
    pub(crate) fn description(&self) -> &'static str {
        #[cfg(feature = "schemars")]
        if let Some(fill) = self.fill {
            return fill(self);
        }
        // `const` evaluation copied the array from a `str`, so the default is never used.
        std::str::from_utf8(self.description).unwrap_or_default()
    }

    #[cfg(target_family = "wasm")]
    pub(crate) fn description_bytes(&self) -> &'static [u8] {
        #[cfg(feature = "schemars")]
        if let Some(fill) = self.fill {
            return fill(self).as_bytes();
        }
        self.description
    }

    /// The response of the `call` export to a request, both as JSON; `None` is a request that is not UTF-8.
    pub(crate) fn answer(&self, context: &Context, request: Option<&str>) -> Result<String, Fault> {
        let mut call = Request::new(self.tools);
        let outcome = call
            .read(request)
            .and_then(|(tool, arguments)| (tool.call)(context, arguments));
        let result = match outcome {
            Ok(result) => result,
            Err(Failure::Malformed(error)) => return Err(malformed(&error)),
            // hyper-mcp does not show faults to the model, so this one becomes the tool's result.
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
mod native;
