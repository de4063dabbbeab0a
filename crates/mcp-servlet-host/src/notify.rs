//! What servlets tell their client while they run: how far they are, lines for its log, and what has changed.
//!
//! The functions are those of hyper-mcp. Each takes the parameters of MCP's notification as JSON, if it has some.

use std::sync::{Arc, Mutex, PoisonError};

use extism::{CurrentPlugin, Error, Function, PTR, UserData, Val};

use crate::{HttpFailure, HttpRequest, HttpResponse, JsonObject, inspect::Module, serve::Change};

/// The module that servlets import them from.
pub(crate) const USER: &str = "extism:host/user";

/// Something that a servlet tells its client: the parameters of a notification of MCP.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notification {
    /// `notifications/progress`
    Progress(JsonObject),
    /// `notifications/message`
    Message(JsonObject),
    /// `notifications/elicitation/complete`
    ElicitationComplete(JsonObject),
    /// A list, or a resource.
    Changed(Change),
}

/// Who hears what a call tells while it runs.
pub trait Listener: std::fmt::Debug + Send + Sync {
    /// Takes a notification, on the thread that runs the call: as long as this takes, the call waits.
    fn hear(&self, notification: Notification);

    /// Whether [`answer_http`](Self::answer_http) is asked: requests are copied for it.
    fn answers_http(&self) -> bool {
        false
    }

    /// Answers an HTTP request, or fails it, instead of the network. `None` leaves it to the network, as far as the
    /// options of the servlet allow that.
    fn answer_http(&self, _request: &HttpRequest) -> Option<Result<HttpResponse, HttpFailure>> {
        None
    }
}

/// Who listens to the call that a slot runs.
#[derive(Clone, Default)]
pub(crate) struct Ear(Arc<Mutex<Option<Arc<dyn Listener>>>>);

impl Ear {
    pub(crate) fn set(&self, listener: Option<Arc<dyn Listener>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = listener;
    }

    pub(crate) fn listener(&self) -> Option<Arc<dyn Listener>> {
        let listener = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listener.clone()
    }

    fn hear(&self, notification: Notification) {
        if let Some(listener) = self.listener() {
            listener.hear(notification);
        } else {
            tracing::debug!(?notification, "nobody listens");
        }
    }
}

/// The function that writes to the log of the client.
pub(crate) const MESSAGE: &str = "notify_logging_message";

/// The function that says how far a call is.
pub(crate) const PROGRESS: &str = "notify_progress";

/// The function that says that the list of prompts has changed.
pub(crate) const PROMPTS_CHANGED: &str = "notify_prompt_list_changed";

const RESOURCE_UPDATED: &str = "notify_resource_updated";

/// What the parameters of a function are the parameters of, if they are what they must be.
type Make = fn(JsonObject) -> Option<Notification>;

const FUNCTIONS: [(&str, Make); 4] = [
    (PROGRESS, |params| Some(Notification::Progress(params))),
    (MESSAGE, |params| Some(Notification::Message(params))),
    ("notify_url_elicitation_completed", |params| {
        Some(Notification::ElicitationComplete(params))
    }),
    (RESOURCE_UPDATED, |params| {
        let uri = params.get("uri")?.as_str()?;
        Some(Notification::Changed(Change::Resource(uri.to_owned())))
    }),
];

/// Those without parameters.
const LISTS: [(&str, Change); 3] = [
    ("notify_tool_list_changed", Change::Tools),
    (PROMPTS_CHANGED, Change::Prompts),
    ("notify_resource_list_changed", Change::Resources),
];

/// Whether servlets can import a function of that name from [`USER`].
pub(crate) fn is_known(name: &str) -> bool {
    let functions = FUNCTIONS.iter().map(|(known, _)| known);
    functions
        .chain(LISTS.iter().map(|(known, _)| known))
        .any(|known| *known == name)
}

/// Whether a module can say that one of its lists has changed.
pub(crate) fn changes_lists(module: &Module) -> bool {
    LISTS.iter().any(|(name, _)| module.imports(USER, name))
}

/// Whether a module can say that something of its own has changed, which it must then remember.
pub(crate) fn changes(module: &Module) -> bool {
    changes_lists(module) || module.imports(USER, RESOURCE_UPDATED)
}

/// Those of the functions that `module` imports.
pub(crate) fn functions(module: &Module, ear: &Ear) -> Vec<Function> {
    let telling = FUNCTIONS
        .into_iter()
        .filter(|(name, _)| module.imports(USER, name));
    let changing = LISTS
        .into_iter()
        .filter(|(name, _)| module.imports(USER, name));
    telling
        .map(|(name, make)| telling_function(name, make, ear.clone()))
        .chain(changing.map(|(name, change)| changing_function(name, change, ear.clone())))
        .collect()
}

fn telling_function(name: &'static str, make: Make, ear: Ear) -> Function {
    let tell = move |plugin: &mut CurrentPlugin, inputs: &[Val], _: &mut [Val], _: UserData<()>| {
        let params = params(name, plugin, inputs)?;
        let notification = make(params);
        let wrong = || Error::msg(format!("`{name}` takes a JSON object with a `uri`"));
        ear.hear(notification.ok_or_else(wrong)?);
        Ok(())
    };
    Function::new(name, [PTR], [], UserData::default(), tell).with_namespace(USER)
}

fn changing_function(name: &'static str, change: Change, ear: Ear) -> Function {
    let tell = move |_: &mut CurrentPlugin, _: &[Val], _: &mut [Val], _: UserData<()>| {
        ear.hear(Notification::Changed(change.clone()));
        Ok(())
    };
    Function::new(name, [], [], UserData::default(), tell).with_namespace(USER)
}

/// The JSON object that a function got; its memory is the host's now, and freed.
pub(crate) fn params(
    name: &str,
    plugin: &mut CurrentPlugin,
    inputs: &[Val],
) -> Result<JsonObject, Error> {
    let handle = inputs.first().and_then(|at| plugin.memory_from_val(at));
    let handle = handle.ok_or_else(|| Error::msg(format!("`{name}` got no memory")))?;
    let params = serde_json::from_slice(plugin.memory_bytes(handle)?);
    plugin.memory_free(handle)?;
    params.map_err(|error| Error::msg(format!("`{name}` takes a JSON object: {error}")))
}
