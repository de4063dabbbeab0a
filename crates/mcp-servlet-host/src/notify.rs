//! What servlets tell their client while they run: how far they are, and lines for its log.
//!
//! The functions are those of hyper-mcp, `notify_progress` and `notify_logging_message`. Each takes the parameters of
//! MCP's notification as JSON.

use std::sync::{Arc, Mutex, PoisonError};

use extism::{CurrentPlugin, Error, Function, PTR, UserData, Val};

use crate::{HttpRequest, HttpResponse, JsonObject, inspect::Module};

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
}

/// Who hears what a call tells while it runs.
pub trait Listener: std::fmt::Debug + Send + Sync {
    /// Takes a notification, on the thread that runs the call: as long as this takes, the call waits.
    fn hear(&self, notification: Notification);

    /// Answers an HTTP request in the place of the network. `None` leaves it to the network, as far as the options of
    /// the servlet allow that.
    fn answer_http(&self, _request: &HttpRequest) -> Option<HttpResponse> {
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

/// What the parameters of a function are the parameters of.
type Make = fn(JsonObject) -> Notification;

const FUNCTIONS: [(&str, Make); 2] = [
    ("notify_progress", Notification::Progress),
    (MESSAGE, Notification::Message),
];

/// The functions of hyper-mcp that ask the client.
const QUESTIONS: [&str; 3] = ["create_elicitation", "create_message", "list_roots"];

/// Whether servlets can import a function of that name from [`USER`].
pub(crate) fn is_known(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, _)| *known == name) || QUESTIONS.contains(&name)
}

/// Those of the functions that `module` imports.
pub(crate) fn functions(module: &Module, ear: &Ear) -> Vec<Function> {
    let chosen = FUNCTIONS
        .into_iter()
        .filter(|(name, _)| module.imports(USER, name));
    chosen
        .map(|(name, notification)| function(name, notification, ear.clone()))
        .collect()
}

fn function(name: &'static str, notification: Make, ear: Ear) -> Function {
    let tell = move |plugin: &mut CurrentPlugin, inputs: &[Val], _: &mut [Val], _: UserData<()>| {
        let handle = inputs.first().and_then(|at| plugin.memory_from_val(at));
        let handle = handle.ok_or_else(|| Error::msg(format!("`{name}` got no memory")))?;
        let params = serde_json::from_slice(plugin.memory_bytes(handle)?);
        let params =
            params.map_err(|error| Error::msg(format!("`{name}` takes a JSON object: {error}")))?;
        ear.hear(notification(params));
        plugin.memory_free(handle)
    };
    Function::new(name, [PTR], [], UserData::default(), tell).with_namespace(USER)
}
