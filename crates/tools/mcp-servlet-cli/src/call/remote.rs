//! Calls of tools through a session.

use std::{borrow::Cow, io::Write as _};

use mcp_servlet_call::JsonObject;
use mcp_servlet_client::{
    CallOptions, CallResult, Error, Event, LOG_LEVEL, List, Progress, Session,
};
use mcp_servlet_host::CallToolResult;
use serde_json::{Value, json, value::RawValue};

use super::{
    Call, any_text, check::SchemaCheck, failed_if_error, feedback, request_meta, select, show,
    signature,
};
use crate::{
    arguments::Arguments,
    failure::{Failure, Kind, both},
    session::{PASS_JSON, entries, find, unknown},
    terminal::{self, note, one_line},
};

/// Lists the tools.
pub(super) async fn list(session: &Session) -> Result<(), Failure> {
    let tools = entries(session, List::Tools).await?;
    Ok(signature::list(&mut terminal::out(), tools.iter())?)
}

/// Calls a tool, and shows its result.
pub(super) async fn call(
    session: &Session,
    call: &Call,
    tool: &str,
    arguments: Arguments<'_>,
) -> Result<(), Failure> {
    let entry = if call.check || arguments.need_schema() {
        Some(entry(session, tool).await?)
    } else {
        None
    };
    let arguments = arguments.parse(entry.as_ref().map(input_schema).as_deref())?;
    let check = entry
        .filter(|_| call.check)
        .as_ref()
        .map(SchemaCheck::of)
        .transpose()?;
    if let Some(check) = &check {
        check.arguments(&arguments)?;
    }
    let mut meta = request_meta(&call.meta)?;
    if session.server().is_stateless() {
        meta.entry(LOG_LEVEL).or_insert_with(|| json!("info"));
    }
    let mut options = CallOptions::new()
        .on_progress(|one| feedback::show_progress(&params(&one)))
        .meta(meta);
    if call.trust_hints {
        options = options.trust_hints();
    }
    let CallResult { raw, is_error, .. } = listen(session, tool, arguments, &options).await?;
    if call.prints_json() {
        writeln!(terminal::json(), "{}", raw.get())?;
        // Nothing needs its members, which may be wrong.
        if !call.check && call.save.is_none() {
            return if is_error {
                Err(Failure::ToolError)
            } else {
                Ok(())
            };
        }
    }
    let result = CallToolResult::new(members(&raw)?);
    let shown = match &call.select {
        Some(pointer) => select(&result, pointer, |_| None),
        None if call.prints_json() => failed_if_error(result.json()),
        None => show(&result, |_| None),
    };
    let checked = shown.and_then(|()| check.map_or(Ok(()), |check| check.result(&result)));
    both(checked, call.save(&result))
}

/// A tool as the server lists it.
async fn entry(session: &Session, tool: &str) -> Result<JsonObject, Failure> {
    let found = find(session, List::Tools, "name", tool, Some(PASS_JSON)).await?;
    found.map_err(|known| unknown("tool", tool, &known))
}

/// The schema of a tool's arguments. If it is missing or wrong, all arguments are text.
fn input_schema(entry: &JsonObject) -> Cow<'_, JsonObject> {
    match entry.get("inputSchema") {
        Some(Value::Object(schema)) => Cow::Borrowed(schema),
        _ => Cow::Owned(any_text()),
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
            Some(event) = events.next() => match event {
                Ok(Event::Log { level, logger, data }) => {
                    let params = json!({ "level": level, "logger": logger, "data": data });
                    feedback::show_message(params.as_object().expect("it is an object"));
                }
                Ok(_) => {}
                // Messages are missing, and others follow.
                Err(error) => note(format_args!("warning: {}", one_line(error.message()))),
            },
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
