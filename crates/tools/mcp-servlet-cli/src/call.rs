//! `servlet call`: calls a tool.

mod check;
mod feedback;
mod record;
mod remote;
mod save;
mod signature;

use std::{io::Write as _, path::PathBuf, sync::Arc};

use clap::Args;
use mcp_servlet_call::{CallError, JsonObject, RequestMeta};
use mcp_servlet_host::{CallToolResult, Servlet, Tool};
use mcp_servlet_runtime::block_on;
use mcp_servlet_schema::parse_arguments;
use serde_json::{Value, json};

pub(crate) use self::remote::members;
use self::{feedback::Feedback, record::Recording};
use crate::{
    arguments::{ArgumentOptions, Arguments},
    content::{write_result, write_text},
    failure::{Failure, Kind, both, indented},
    format::Format,
    session::{ServerOptions, Target},
    terminal::{self, note},
};

#[derive(Args, Debug)]
pub(crate) struct Call {
    /// A `.wasm` file, a folder of them, a `servlet.toml`, a URL, or the name of a server in the configuration of an MCP client
    target: Option<String>,

    /// The tool to call
    tool: Option<String>,

    #[command(flatten)]
    arguments: ArgumentOptions,

    /// A member of `_meta` of the request, `KEY:=JSON` for any JSON; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    meta: Vec<String>,

    /// With `--retry`, send the call again if the tool has the annotation `idempotentHint` or `readOnlyHint`. Only for servers
    /// that you trust
    #[arg(long, requires = "retry")]
    trust_hints: bool,

    /// Print only the part of the result at this JSON pointer, such as /structuredContent/total
    #[arg(long, value_name = "POINTER", value_parser = pointer)]
    select: Option<String>,

    /// Write images, audio and binary resources of the result to new files in this folder
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,

    /// Check the arguments against the input schema of the tool before the call, and the structured content of the result against
    /// the output schema. For a `.wasm` file, both are always checked
    #[arg(long)]
    check: bool,

    /// Print the whole result of a tool that has a `shape` in the `servlet.toml`
    #[arg(long)]
    raw: bool,

    /// Write what the calls of the servlet return to this file, as JSON for its tests. Only for servlets
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// `json` prints the whole result
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    server: ServerOptions,
}

impl Call {
    pub(crate) fn run(mut self) -> Result<(), Failure> {
        let words = self.arguments.words([&self.target, &self.tool]);
        let (target, words) = self.server.target(words)?;
        let recording = self.recording(&target)?;
        self.server.is_raw = self.raw_result(&target)?;
        let (tool, words) = match words.split_first() {
            Some((tool, words)) => (Some(&**tool), words),
            None => (None, &[][..]),
        };
        let arguments = self.arguments.read(words)?;
        if let Some(folder) = &self.save {
            save::create(folder)?;
        }
        let module = self.server.module(&target);
        if let Some(source) = module.filter(|_| recording.is_none()) {
            let servlet = Servlet::load(source, &self.server.limits.options()?)?;
            // Requests of a servlet reach the user through a session.
            if servlet.module().input_requests.is_empty() {
                return self.call_directly(&servlet, tool, arguments);
            }
        }
        self.server
            .with_session(&target, self.format, async |session| {
                let Some(tool) = tool else {
                    return remote::list(session).await;
                };
                let called = remote::call(session, &self, tool, arguments).await;
                let recorded = recording.map_or(Ok(()), |recording| recording.write());
                both(called, recorded)
            })
    }

    /// Whether the result stays without its shape, which only a configuration gives it.
    fn raw_result(&self, target: &Target) -> Result<bool, Failure> {
        if self.raw && !target.is_config() {
            let message = "`--raw` only applies to a `servlet.toml`";
            return Err(Failure::new(Kind::Usage, message));
        }
        Ok(self.raw)
    }

    /// Begins to record what `--record` asks for.
    fn recording(&mut self, target: &Target) -> Result<Option<Arc<Recording>>, Failure> {
        let Some(path) = &self.record else {
            return Ok(None);
        };
        if target.is_server() {
            let message = "`--record` only applies to servlets";
            return Err(Failure::new(Kind::Usage, message));
        }
        let recording = Arc::new(Recording::new(path.clone()));
        self.server.recorder = Some(Arc::clone(&recording) as _);
        Ok(Some(recording))
    }

    fn call_directly(
        &self,
        servlet: &Servlet,
        tool: Option<&str>,
        arguments: Arguments<'_>,
    ) -> Result<(), Failure> {
        let Some(tool) = tool else {
            let tools = servlet.tools().iter().map(Tool::json);
            return Ok(signature::list(&mut terminal::out(), tools)?);
        };
        let schema = servlet.tool(tool).map(Tool::input_schema);
        let arguments = arguments.parse(schema)?;
        let result = match call(servlet, tool, &arguments, request_meta(&self.meta)?) {
            Err(error) if self.prints_json() => return print(Err(error)),
            result => result?,
        };
        let help = |result: &CallToolResult| servlet.help(result);
        let shown = match &self.select {
            Some(pointer) => select(&result, pointer, help),
            None if self.prints_json() => print(Ok(result.json().clone())),
            None => show(&result, help),
        };
        both(shown, self.save(&result))
    }

    /// Whether the output is the whole result as JSON.
    fn prints_json(&self) -> bool {
        self.format == Format::Json && self.select.is_none()
    }

    /// Saves what `--save` asks for.
    fn save(&self, result: &CallToolResult) -> Result<(), Failure> {
        match &self.save {
            Some(folder) => save::save(folder, result),
            None => Ok(()),
        }
    }
}

/// The members of `_meta` from the command line.
pub(crate) fn request_meta(words: &[String]) -> Result<JsonObject, Failure> {
    Ok(parse_arguments(&any_text(), words)?)
}

/// A schema that allows any argument as text, and with `:=` as JSON.
fn any_text() -> JsonObject {
    let text = json!({ "type": "string" });
    JsonObject::from_iter([("additionalProperties".to_owned(), text)])
}

/// Calls a tool as a client that asks for progress notifications.
fn call(
    servlet: &Servlet,
    tool: &str,
    arguments: &JsonObject,
    mut meta: JsonObject,
) -> Result<CallToolResult, CallError> {
    let mut request_meta = RequestMeta::default();
    request_meta.listener = Some(Arc::new(Feedback));
    if servlet.reports_progress() {
        meta.insert("progressToken".to_owned(), json!("servlet call"));
    }
    request_meta.meta = Some(meta).filter(|meta| !meta.is_empty());
    block_on(servlet.call_with(tool, Some(arguments), &request_meta))
}

fn show(
    result: &CallToolResult,
    help: impl FnOnce(&CallToolResult) -> Option<String>,
) -> Result<(), Failure> {
    if result.is_error() {
        // Its reader may have closed it.
        let _ = write_result(&mut terminal::err(), result);
        if let Some(help) = help(result) {
            note(format_args!("  help: {}", indented(&help, "        ")));
        }
        return Err(Failure::ToolError);
    }
    Ok(write_result(&mut terminal::document(), result)?)
}

/// Prints an MCP result as JSON, or the error.
pub(crate) fn print(result: Result<JsonObject, CallError>) -> Result<(), Failure> {
    let mut out = terminal::json();
    match result {
        Ok(result) => {
            writeln!(out, "{}", Value::Object(result.clone()))?;
            failed_if_error(&result)
        }
        Err(error) => {
            let fault = error.to_rpc_error();
            let mut json = json!({"code": fault.code, "message": fault.message});
            if let Some(data) = fault.data {
                json["data"] = data;
            }
            writeln!(out, "{}", json!({ "error": json }))?;
            Err(error.into())
        }
    }
}

/// Prints a part of a result: a string as text, anything else as JSON. The error of a tool is shown if it has no such part.
fn select(
    result: &CallToolResult,
    pointer: &str,
    help: impl FnOnce(&CallToolResult) -> Option<String>,
) -> Result<(), Failure> {
    let value = Value::Object(result.json().clone());
    match value.pointer(pointer) {
        None if result.is_error() => return show(result, help),
        None => {
            let message = format!("the result has nothing at `{pointer}`");
            let help = "`--format json` prints the whole result";
            return Err(Failure::with_help(Kind::Usage, message, help));
        }
        Some(Value::String(text)) => write_text(&mut terminal::document(), text)?,
        Some(part) => writeln!(terminal::json(), "{part}")?,
    }
    failed_if_error(result.json())
}

fn failed_if_error(result: &JsonObject) -> Result<(), Failure> {
    match result.get("isError") {
        Some(Value::Bool(true)) => Err(Failure::ToolError),
        _ => Ok(()),
    }
}

fn pointer(text: &str) -> Result<String, String> {
    if text.is_empty() || text.starts_with('/') {
        return Ok(text.to_owned());
    }
    Err(format!("expected a JSON pointer such as `/{text}`"))
}
