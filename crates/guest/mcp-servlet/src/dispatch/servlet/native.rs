//! The exports of a servlet, run natively for tests.

use mcp_servlet_json::RawJson;

use super::Servlet;
use crate::answer::error::{Converting, Fault};
use crate::dispatch::features::Features;
use crate::host::context::Context;
use crate::json::Children;

impl Servlet {
    /// Valid arguments of the tool, as in the error that the model gets for invalid ones. `None` if there is no
    /// such tool, or if no example is known for its schema.
    pub fn example(&self, tool: &str) -> Option<RawJson> {
        let index = self.tools.iter().position(|entry| entry.name == tool)?;
        let (_, example) = Children::new(self.hints.examples).nth(index)?;
        RawJson::parse(example)
            .ok()
            .filter(|example| example.get() != "null")
    }

    /// Runs the export with this name. An export that the wasm lacks has an empty table.
    pub(crate) fn run(
        &self,
        context: &Context,
        export: &str,
        input: &[u8],
    ) -> Result<String, Fault> {
        let features = self.features;
        let input = std::str::from_utf8(input).ok();
        #[cfg(feature = "log")]
        crate::host::logger::install(&context.host);
        context.begin(input.unwrap_or_default());
        let _converting = Converting::begin(self.errors);
        let output = match export {
            "describe" => Ok(self.description().to_owned()),
            "list_resources" => Ok(features.list_resources(context).into_owned()),
            "list_resource_templates" => Ok(features.lists().templates.to_owned()),
            "list_prompts" => Ok(features.lists().prompts.to_owned()),
            "read_resource" => Features::read_resource(features, context, input),
            "get_prompt" => Features::get_prompt(features, context, input),
            "complete" => Features::complete(features, context, input),
            "call" => self.answer(context, input),
            _ => Err(Fault::internal(format!(
                "the servlet does not export `{export}`"
            ))),
        };
        context.begin("");
        output
    }

    /// Whether the wasm has an export with this name.
    pub(crate) fn exports(&self, export: &str) -> bool {
        matches!(export, "describe" | "call") || self.features.has(export)
    }
}
