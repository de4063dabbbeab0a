//! Arguments from the command line.

use std::io::{self, Read as _};

use clap::Args;
use mcp_servlet_runtime::JsonObject;
use mcp_servlet_schema::parse_arguments;
use serde_json::Value;

use crate::failure::{Failure, Kind};

/// Arguments for a tool or a prompt.
#[derive(Args, Debug)]
pub(crate) struct ArgumentOptions {
    /// Arguments by their schema, `key:=json` for any JSON; or `-` to read them all as JSON from standard input
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,

    /// All arguments as a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "arguments")]
    json: Option<String>,
}

impl ArgumentOptions {
    /// Parses the arguments according to a schema. Without a schema there are none, because the
    /// tool or prompt does not exist; the call reports that.
    pub(crate) fn read(&self, schema: Option<&JsonObject>) -> Result<JsonObject, Failure> {
        match (&self.json, self.arguments.as_slice()) {
            (Some(text), _) => object(text, "--json"),
            (None, [only]) if only == "-" => {
                let mut text = String::new();
                io::stdin().read_to_string(&mut text).map_err(|error| {
                    Failure::new(Kind::Usage, format!("cannot read standard input: {error}"))
                })?;
                object(&text, "standard input")
            }
            (None, given) => match schema {
                Some(schema) => Ok(parse_arguments(schema, given)?),
                None => Ok(JsonObject::new()),
            },
        }
    }
}

fn object(text: &str, origin: &str) -> Result<JsonObject, Failure> {
    let problem = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => return Ok(object),
        Ok(_) => "not a JSON object".to_owned(),
        Err(error) => format!("not JSON: {error}"),
    };
    let help = r#"write all arguments as {"key": "value"}"#;
    let message = format!("{origin} is {problem}");
    Err(Failure::with_help(Kind::Usage, message, help))
}
