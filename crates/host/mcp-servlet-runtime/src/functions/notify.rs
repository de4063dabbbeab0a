//! Notifications that servlets send while they run: progress, log messages and changes.
//!
//! The functions are those of hyper-mcp. They take the parameters of the MCP notification, if it
//! has any, as JSON.

use mcp_servlet_call::{Change, JsonObject, Notification};
use wasmtime::{Caller, Error, Linker, Result};

use super::json;
use crate::{
    inspect::{
        USER,
        imports::{
            ELICITATION_COMPLETE, MESSAGE, PROGRESS, PROMPTS_CHANGED, RESOURCE_UPDATED,
            RESOURCES_CHANGED, TOOLS_CHANGED,
        },
    },
    state::State,
    text::MAX_TEXT,
};

/// Makes a notification from its parameters; `None` if they are not valid.
type Make = fn(JsonObject) -> Option<Notification>;

const FUNCTIONS: [(&str, Make); 4] = [
    (PROGRESS, |params| Some(Notification::Progress(params))),
    (MESSAGE, |params| Some(Notification::Message(params))),
    (ELICITATION_COMPLETE, |params| {
        Some(Notification::ElicitationComplete(params))
    }),
    (RESOURCE_UPDATED, |params| {
        let uri = params.get("uri")?.as_str()?;
        Some(Notification::Changed(Change::Resource(uri.to_owned())))
    }),
];

/// Notifications without parameters.
const LISTS: [(&str, Change); 3] = [
    (TOOLS_CHANGED, Change::Tools),
    (PROMPTS_CHANGED, Change::Prompts),
    (RESOURCES_CHANGED, Change::Resources),
];

pub(super) fn link(linker: &mut Linker<State>) -> Result<()> {
    for (name, make) in FUNCTIONS {
        linker.func_wrap_async(USER, name, move |mut caller, (at,): (i64,)| {
            Box::new(async move {
                let notification = make(json::object(&mut caller, name, at, MAX_TEXT as u64)?);
                let wrong = || Error::msg(format!("`{name}` expects a JSON object with a `uri`"));
                notify(&mut caller, notification.ok_or_else(wrong)?).await;
                Ok(())
            })
        })?;
    }
    for (name, change) in LISTS {
        linker.func_wrap_async(USER, name, move |mut caller, ()| {
            let notification = Notification::Changed(change.clone());
            Box::new(async move { notify(&mut caller, notification).await })
        })?;
    }
    Ok(())
}

async fn notify(caller: &mut Caller<'_, State>, notification: Notification) {
    let call = &caller.data().call;
    if let Notification::Progress(_) = notification {
        call.journal.progress.set_own();
    }
    if let Some(listener) = call.listener.clone() {
        listener.notify(notification).await;
    } else {
        tracing::debug!(
            ?notification,
            "notification dropped, because no client listens"
        );
    }
}
