//! `servlet prompt`: shows the messages of a prompt.

use std::io::Write as _;

use clap::Args;
use mcp_servlet_call::JsonObject;
use mcp_servlet_client::{List, Session};
use mcp_servlet_host::{GetPromptResult, Servlet};
use mcp_servlet_runtime::{Source, block_on};
use serde_json::{Value, json};

use crate::{
    arguments::{ArgumentOptions, Arguments},
    call::{members, print},
    complete::argument_names,
    content::write_messages,
    failure::Failure,
    format::Format,
    session::{PASS_JSON, ServerOptions, find, missing, unknown},
    terminal,
};

#[derive(Args, Debug)]
pub(crate) struct Prompt {
    /// A `.wasm` file, a folder of them, a `servlet.toml`, a URL, or the name of a server in the configuration of an MCP client
    target: Option<String>,

    /// The prompt to fill in
    #[arg(value_name = "PROMPT")]
    name: Option<String>,

    #[command(flatten)]
    arguments: ArgumentOptions,

    /// `json` prints the whole result
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    server: ServerOptions,
}

impl Prompt {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let words = self.arguments.words([&self.target, &self.name]);
        let (target, words) = self.server.target(words)?;
        let Some((name, words)) = words.split_first() else {
            return Err(missing("the name of a prompt"));
        };
        let arguments = self.arguments.read(words)?;
        match self.server.module(&target) {
            Some(source) => self.run_in_process(source, name, arguments),
            None => self
                .server
                .with_session(&target, self.format, async |session| {
                    self.run_remotely(session, name, arguments).await
                }),
        }
    }

    fn run_in_process(
        &self,
        source: Source,
        name: &str,
        arguments: Arguments<'_>,
    ) -> Result<(), Failure> {
        let servlet = Servlet::load(source, &self.server.limits.options()?)?;
        let mut prompts = servlet.prompts().iter();
        let prompt = prompts.find(|prompt| prompt.key() == name);
        let schema = prompt.map(|prompt| schema(prompt.json()));
        let arguments = arguments.parse(schema.as_ref())?;
        let result = block_on(servlet.get_prompt(name, Some(&arguments)));
        match self.format {
            Format::Human => Ok(write_messages(&mut terminal::document(), &result?)?),
            Format::Json => print(result.map(GetPromptResult::into_json)),
        }
    }

    async fn run_remotely(
        &self,
        session: &Session,
        name: &str,
        arguments: Arguments<'_>,
    ) -> Result<(), Failure> {
        let prompt = if arguments.need_schema() {
            match find(session, List::Prompts, "name", name, Some(PASS_JSON)).await? {
                Ok(prompt) => Some(schema(&prompt)),
                Err(known) => return Err(unknown("prompt", name, &known)),
            }
        } else {
            None
        };
        let arguments = arguments.parse(prompt.as_ref())?.into_iter();
        let texts = arguments.map(|(name, value)| (name, argument_as_text(value)));
        let result = session.prompt(name, texts).await?;
        if self.format == Format::Json {
            return Ok(writeln!(terminal::json(), "{}", result.raw.get())?);
        }
        let result = GetPromptResult::new(members(&result.raw)?);
        Ok(write_messages(&mut terminal::document(), &result)?)
    }
}

/// An argument as text, which all arguments of prompts are.
fn argument_as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// The arguments of a prompt as a schema. All of them are strings.
fn schema(prompt: &JsonObject) -> JsonObject {
    let names = argument_names(prompt).into_iter();
    let properties: JsonObject = names
        .map(|name| (name, json!({ "type": "string" })))
        .collect();
    JsonObject::from_iter([("properties".to_owned(), properties.into())])
}
