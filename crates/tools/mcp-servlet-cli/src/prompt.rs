//! `servlet prompt`: shows the messages of a prompt.

use clap::Args;
use mcp_servlet_host::{GetPromptResult, Listed, Servlet};
use mcp_servlet_runtime::{JsonObject, Source};
use serde_json::json;

use crate::{
    arguments::ArgumentOptions, call::print, complete::argument_names, content::write_messages,
    failure::Failure, format::Format, limits::Limits, terminal,
};

/// Fill in a prompt and show its messages
#[derive(Args, Debug)]
pub(crate) struct Prompt {
    /// The servlet: a `.wasm` file or a URL
    file: String,

    /// The prompt to fill in
    #[arg(value_name = "PROMPT")]
    name: String,

    #[command(flatten)]
    arguments: ArgumentOptions,

    /// `json` prints the whole result
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    limits: Limits,
}

impl Prompt {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let servlet = Servlet::load(Source::parse(&self.file), &self.limits.options()?)?;
        let mut prompts = servlet.prompts().iter();
        let prompt = prompts.find(|prompt| prompt.key() == self.name);
        let arguments = self.arguments.read(prompt.map(schema).as_ref())?;
        let result = servlet.get_prompt(&self.name, Some(&arguments));
        match self.format {
            Format::Human => Ok(write_messages(&mut terminal::out(), &result?)?),
            Format::Json => print(result.map(GetPromptResult::into_json)),
        }
    }
}

/// The arguments of a prompt as a schema. All of them are strings.
fn schema(prompt: &Listed) -> JsonObject {
    let names = argument_names(prompt).into_iter();
    let properties: JsonObject = names
        .map(|name| (name, json!({ "type": "string" })))
        .collect();
    JsonObject::from_iter([("properties".to_owned(), properties.into())])
}
