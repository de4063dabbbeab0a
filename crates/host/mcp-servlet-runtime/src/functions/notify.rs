//! Notifications that servlets send while they run: progress, log messages and changes.
//!
//! The functions are those of hyper-mcp. They take the parameters of the MCP notification, if it
//! has any, as JSON.

use std::sync::{Arc, Mutex};

use extism::{CurrentPlugin, Error, Function, PTR, UserData, Val};

use crate::{
    inspect::{
        Module, USER,
        imports::{
            ELICITATION_COMPLETE, MESSAGE, PROGRESS, PROMPTS_CHANGED, RESOURCE_UPDATED,
            RESOURCES_CHANGED, TOOLS_CHANGED,
        },
    },
    json::JsonObject,
    listener::{Change, Listener, Notification},
    lock::lock,
};

/// The listener of the call that a slot runs.
#[derive(Clone, Default)]
pub(crate) struct CurrentListener(Arc<Mutex<Option<Arc<dyn Listener>>>>);

impl CurrentListener {
    pub(crate) fn set(&self, listener: Option<Arc<dyn Listener>>) {
        *lock(&self.0) = listener;
    }

    pub(crate) fn listener(&self) -> Option<Arc<dyn Listener>> {
        lock(&self.0).clone()
    }

    fn notify(&self, notification: Notification) {
        if let Some(listener) = self.listener() {
            listener.notify(notification);
        } else {
            tracing::debug!(
                ?notification,
                "notification dropped, because no client listens"
            );
        }
    }
}

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

/// The functions that `module` imports.
pub(crate) fn functions(module: &Module, listener: &CurrentListener) -> Vec<Function> {
    let telling = FUNCTIONS
        .into_iter()
        .filter(|(name, _)| module.imports(USER, name));
    let changing = LISTS
        .into_iter()
        .filter(|(name, _)| module.imports(USER, name));
    telling
        .map(|(name, make)| telling_function(name, make, listener.clone()))
        .chain(changing.map(|(name, change)| changing_function(name, change, listener.clone())))
        .collect()
}

fn telling_function(name: &'static str, make: Make, listener: CurrentListener) -> Function {
    let notify =
        move |plugin: &mut CurrentPlugin, inputs: &[Val], _: &mut [Val], _: UserData<()>| {
            let params = params(name, plugin, inputs)?;
            let notification = make(params);
            let wrong = || Error::msg(format!("`{name}` expects a JSON object with a `uri`"));
            listener.notify(notification.ok_or_else(wrong)?);
            Ok(())
        };
    Function::new(name, [PTR], [], UserData::default(), notify).with_namespace(USER)
}

fn changing_function(name: &'static str, change: Change, listener: CurrentListener) -> Function {
    let notify = move |_: &mut CurrentPlugin, _: &[Val], _: &mut [Val], _: UserData<()>| {
        listener.notify(Notification::Changed(change.clone()));
        Ok(())
    };
    Function::new(name, [], [], UserData::default(), notify).with_namespace(USER)
}

/// Reads the JSON object that a function got, and frees its memory.
pub(crate) fn params(
    name: &str,
    plugin: &mut CurrentPlugin,
    inputs: &[Val],
) -> Result<JsonObject, Error> {
    let handle = inputs.first().and_then(|at| plugin.memory_from_val(at));
    let handle =
        handle.ok_or_else(|| Error::msg(format!("`{name}` expects an offset in memory")))?;
    let params = serde_json::from_slice(plugin.memory_bytes(handle)?);
    plugin.memory_free(handle)?;
    params.map_err(|error| Error::msg(format!("`{name}` expects a JSON object: {error}")))
}
