//! Calls of tools through a session.

use std::io::Write as _;

use mcp_servlet_client::{CallOptions, CallResult, Error, Event, List, Progress, Session};
use mcp_servlet_host::CallToolResult;
use mcp_servlet_runtime::JsonObject;
use serde_json::{Value, json, value::RawValue};

use super::{Call, any_text, failed_if_error, feedback, select, show, signature};
use crate::{
    failure::{Failure, Kind},
    format::Format,
    session::{entries, find, unknown},
    terminal,
};

/// Calls a tool, or lists the tools.
pub(super) async fn call(session: &Session, call: &Call, words: &[String]) -> Result<(), Failure> {
    let Some((tool, words)) = words.split_first() else {
        let tools = entries(session, List::Tools).await?;
        return Ok(signature::list(&mut terminal::out(), tools.iter())?);
    };
    let schema = if call.arguments.need_schema(words) {
        Some(input_schema(session, tool).await?)
    } else {
        None
    };
    let arguments = call.arguments.read(words, schema.as_ref())?;
    let options = CallOptions::new().on_progress(|one| feedback::show_progress(&params(&one)));
    let options = match call.request_meta()? {
        meta if meta.is_empty() => options,
        meta => options.meta(meta),
    };
    let result = listen(session, tool, arguments, &options).await?;
    if call.format == Format::Json && call.select.is_none() {
        writeln!(terminal::json(), "{}", result.raw.get())?;
    }
    let shown = CallToolResult::new(members(&result.raw)?);
    call.save(&shown)?;
    match (&call.select, call.format) {
        (Some(pointer), _) => select(shown.json(), pointer),
        (None, Format::Json) => failed_if_error(shown.json()),
        (None, Format::Human) => show(&shown, |_| None),
    }
}

/// The schema of a tool's arguments. If it is missing or wrong, all arguments are text.
async fn input_schema(session: &Session, tool: &str) -> Result<JsonObject, Failure> {
    match find(session, List::Tools, "name", tool).await? {
        Ok(mut entry) => match entry.remove("inputSchema") {
            Some(Value::Object(schema)) => Ok(schema),
            _ => Ok(any_text()),
        },
        Err(known) => Err(unknown("tool", tool, &known)),
    }
}

/// Calls a tool, and shows what the server logs meanwhile.
async fn listen(
    session: &Session,
    tool: &str,
    arguments: JsonObject,
    options: &CallOptions,
) -> Result<CallResult, Error> {
    let mut events = session.events();
    let mut calling = std::pin::pin!(session.call_with(tool, arguments.into(), options));
    loop {
        tokio::select! {
            biased;
            Some(Ok(event)) = events.next() => {
                if let Event::Log { level, logger, data } = event {
                    let params = json!({ "level": level, "logger": logger, "data": data });
                    feedback::show_message(params.as_object().expect("it is an object"));
                }
            }
            result = &mut calling => return result,
        }
    }
}

/// The parameters of `notifications/progress`.
fn params(progress: &Progress) -> JsonObject {
    JsonObject::from_iter([
        ("progress".to_owned(), progress.progress.into()),
        ("total".to_owned(), progress.total.into()),
        ("message".to_owned(), progress.message.clone().into()),
    ])
}

/// The members of a result.
pub(crate) fn members(raw: &RawValue) -> Result<JsonObject, Failure> {
    serde_json::from_str(raw.get()).map_err(|error| {
        let message = format!("the result cannot be shown: {error}");
        Failure::with_help(Kind::Servlet, message, "print it with `--format json`")
    })
}
