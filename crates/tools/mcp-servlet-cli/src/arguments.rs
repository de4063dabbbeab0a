//! Arguments from the command line.

use std::io::{self, Read as _};

use clap::Args;
use mcp_catalog::repeated_member;
use mcp_servlet_call::JsonObject;
use mcp_servlet_schema::parse_arguments;
use serde_json::Value;

use crate::{
    failure::{Failure, Kind},
    terminal::one_line,
};

// Arguments for a tool or a prompt.
// Not a doc comment: clap would use it as the description of the command.
#[derive(Args, Debug)]
pub(crate) struct ArgumentOptions {
    /// `key=value`, read as its type in the schema, or `key:=JSON`; a single `-` reads one JSON object from standard input
    #[arg(value_name = "KEY=VALUE")]
    words: Vec<String>,

    /// All arguments as a JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON", conflicts_with = "words")]
    json: Option<String>,
}

impl ArgumentOptions {
    /// The words of the command line, in which arguments follow other words.
    pub(crate) fn words(&self, before: [&Option<String>; 2]) -> Vec<String> {
        let before = before.into_iter().flatten();
        before.chain(&self.words).cloned().collect()
    }

    /// Reads the arguments. Ctrl-C must still end the process, because this may wait for standard input.
    pub(crate) fn read<'a>(&self, words: &'a [String]) -> Result<Arguments<'a>, Failure> {
        match (&self.json, words) {
            (Some(text), []) if text == "-" => from_standard_input(),
            (Some(text), []) => object(text, "`--json`").map(Arguments::Object),
            (Some(_), _) => {
                let message = "arguments cannot be used with `--json`";
                Err(Failure::new(Kind::Usage, message))
            }
            (None, [only]) if only == "-" => from_standard_input(),
            (None, words) => Ok(Arguments::Words(words)),
        }
    }
}

/// Arguments that have been read.
#[derive(Clone, Debug)]
pub(crate) enum Arguments<'a> {
    /// All of them as one JSON object.
    Object(JsonObject),
    /// Words such as `key=value`, whose types the schema decides.
    Words(&'a [String]),
}

impl Arguments<'_> {
    /// Whether the schema of the tool decides what the arguments are.
    pub(crate) fn need_schema(&self) -> bool {
        matches!(self, Self::Words(_))
    }

    /// Parses words according to a schema. Without a schema there are no arguments, because the
    /// tool or prompt does not exist; the call reports that.
    pub(crate) fn parse(self, schema: Option<&JsonObject>) -> Result<JsonObject, Failure> {
        match (self, schema) {
            (Self::Object(object), _) => Ok(object),
            (Self::Words(words), Some(schema)) => Ok(parse_arguments(schema, words)?),
            (Self::Words(_), None) => Ok(JsonObject::new()),
        }
    }
}

fn from_standard_input() -> Result<Arguments<'static>, Failure> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| {
        Failure::new(Kind::Usage, format!("cannot read standard input: {error}"))
    })?;
    object(&text, "standard input").map(Arguments::Object)
}

fn object(text: &str, origin: &str) -> Result<JsonObject, Failure> {
    if let Some(member) = repeated_member(text) {
        let message = format!("{origin} has two values at `{}`", one_line(&member));
        return Err(Failure::with_help(
            Kind::Usage,
            message,
            "leave out one of them",
        ));
    }
    let problem = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => return Ok(object),
        Ok(_) => "not a JSON object".to_owned(),
        Err(error) => format!("not JSON: {error}"),
    };
    let help = r#"write all arguments as {"key": "value"}"#;
    let message = format!("{origin} is {problem}");
    Err(Failure::with_help(Kind::Usage, message, help))
}
