//! `servlet call`: one call of one tool.

use std::{
    io::{self, Read as _, Write as _},
    path::PathBuf,
};

use clap::Args;
use mcp_servlet_host::{CallError, CallToolResult, JsonObject, Servlet, parse_arguments};
use serde_json::{Value, json};

use crate::{
    cli::Format,
    content::write_result,
    failure::{Failure, Kind},
    limits::Limits,
};

/// Call a tool and show its answer
#[derive(Args, Debug)]
pub(crate) struct Call {
    /// The servlet's `.wasm` file
    file: PathBuf,

    /// The tool to call
    tool: String,

    /// Arguments by the tool's schema, `key:=json` for any JSON; or `-` to read them all as JSON from standard input
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,

    /// All arguments as a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "arguments")]
    json: Option<String>,

    /// `json` prints the whole result
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    limits: Limits,
}

impl Call {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let servlet = Servlet::load(&self.file, &self.limits.options())?;
        let arguments = self.read_arguments(&servlet)?;
        let result = servlet.call(&self.tool, Some(&arguments));
        match self.format {
            Format::Human => show(&result?),
            Format::Json => print(result),
        }
    }

    fn read_arguments(&self, servlet: &Servlet) -> Result<JsonObject, Failure> {
        match (&self.json, self.arguments.as_slice()) {
            (Some(text), _) => object(text, "--json"),
            (None, [only]) if only == "-" => {
                let mut text = String::new();
                io::stdin().read_to_string(&mut text).map_err(|error| {
                    Failure::new(Kind::Usage, format!("cannot read standard input: {error}"))
                })?;
                object(&text, "standard input")
            }
            (None, given) => match servlet.tool(&self.tool) {
                Some(tool) => Ok(parse_arguments(tool.input_schema(), given)?),
                // The call itself says so.
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

fn show(result: &CallToolResult) -> Result<(), Failure> {
    if result.is_error() {
        write_result(&mut io::stderr().lock(), result)?;
        return Err(Failure::ToolError);
    }
    Ok(write_result(&mut io::stdout().lock(), result)?)
}

fn print(result: Result<CallToolResult, CallError>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match result {
        Ok(result) => {
            let failed = result.is_error();
            writeln!(out, "{}", Value::Object(result.into_json()))?;
            if failed {
                Err(Failure::ToolError)
            } else {
                Ok(())
            }
        }
        Err(error) => {
            let fault = error.to_fault();
            let mut json = json!({"code": fault.code, "message": fault.message});
            if let Some(data) = fault.data {
                json["data"] = data;
            }
            writeln!(out, "{}", json!({ "error": json }))?;
            Err(error.into())
        }
    }
}
