//! `servlet call`: calls a tool.

mod feedback;

use std::{io::Write as _, sync::Arc};

use clap::Args;
use mcp_servlet_host::{CallToolResult, Servlet, Tool};
use mcp_servlet_runtime::{CallError, JsonObject, RequestMeta, Source};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use self::feedback::Feedback;
use crate::{
    arguments::ArgumentOptions,
    content::write_result,
    failure::{Failure, indented},
    format::Format,
    limits::Limits,
    terminal::{self, note},
};

/// Call a tool and show its result
///
/// Standard error shows progress and what the servlet writes to the client's log while it runs.
#[derive(Args, Debug)]
pub(crate) struct Call {
    /// The servlet: a `.wasm` file or a URL
    file: String,

    /// The tool to call
    tool: String,

    #[command(flatten)]
    arguments: ArgumentOptions,

    /// `json` prints the whole result
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    limits: Limits,
}

impl Call {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let servlet = Servlet::load(Source::parse(&self.file), &self.limits.options()?)?;
        let schema = servlet.tool(&self.tool).map(Tool::input_schema);
        let arguments = self.arguments.read(schema)?;
        let result = call(&servlet, &self.tool, &arguments)?;
        match self.format {
            Format::Human => show(&servlet, &result?),
            Format::Json => print(result.map(CallToolResult::into_json)),
        }
    }
}

/// Calls a tool as a client that asks for progress notifications.
fn call(
    servlet: &Servlet,
    tool: &str,
    arguments: &JsonObject,
) -> Result<Result<CallToolResult, CallError>, Failure> {
    let mut request_meta = RequestMeta::default();
    request_meta.listener = Some(Arc::new(Feedback));
    if servlet.reports_progress() {
        let meta = [("progressToken".to_owned(), json!("servlet call"))];
        request_meta.meta = Some(JsonObject::from_iter(meta));
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(servlet.call_with(tool, Some(arguments), &request_meta)))
}

fn show(servlet: &Servlet, result: &CallToolResult) -> Result<(), Failure> {
    if result.is_error() {
        write_result(&mut terminal::err(), result)?;
        if let Some(help) = servlet.help(result) {
            note(format_args!("  help: {}", indented(&help, "        ")));
        }
        return Err(Failure::ToolError);
    }
    Ok(write_result(&mut terminal::out(), result)?)
}

/// Prints an MCP result as JSON, or the error.
pub(crate) fn print(result: Result<JsonObject, CallError>) -> Result<(), Failure> {
    let mut out = terminal::json();
    match result {
        Ok(result) => {
            let failed = result.get("isError") == Some(&Value::Bool(true));
            writeln!(out, "{}", Value::Object(result))?;
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
