//! Notifications of the calls that a servlet makes.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use mcp_servlet_call::{Callee, JsonObject, Listener, Notification, Sending, Usage};
use serde_json::Value;

/// The progress that calls of a servlet have reported.
#[derive(Debug, Default)]
pub(crate) struct CalleeProgress {
    /// Whether the servlet itself reports progress.
    is_own: AtomicBool,
    count: AtomicU64,
}

impl CalleeProgress {
    /// Records that the servlet itself has reported progress. From now on, that of its calls is dropped.
    pub(crate) fn set_own(&self) {
        self.is_own.store(true, Relaxed);
    }
}

/// Passes on what a callee sends, with its name.
#[derive(Debug)]
pub(crate) struct CalleeListener {
    outer: Arc<dyn Listener>,
    name: String,
    token: Option<Value>,
    progress: Arc<CalleeProgress>,
    usage: OnceLock<Usage>,
}

impl CalleeListener {
    pub(crate) fn new(
        outer: Arc<dyn Listener>,
        callee: &Callee,
        token: Option<Value>,
        progress: Arc<CalleeProgress>,
    ) -> Self {
        Self {
            outer,
            name: callee.to_string(),
            token,
            progress,
            usage: OnceLock::new(),
        }
    }

    /// What the call took, if that is known.
    pub(crate) fn usage(&self) -> Option<&Usage> {
        self.usage.get()
    }

    /// The progress of a callee as progress of the call. Each notification counts as one step, because calls that follow each
    /// other would begin anew.
    fn progress(&self, params: &JsonObject) -> Option<JsonObject> {
        let token = self.token.clone()?;
        if self.progress.is_own.load(Relaxed) {
            return None;
        }
        let count = self.progress.count.fetch_add(1, Relaxed) + 1;
        let message = match params.get("message").and_then(Value::as_str) {
            Some(message) => format!("{}: {message}", self.name),
            None => self.name.clone(),
        };
        Some(JsonObject::from_iter([
            ("progressToken".to_owned(), token),
            ("progress".to_owned(), count.into()),
            ("message".to_owned(), message.into()),
        ]))
    }
}

impl Listener for CalleeListener {
    fn notify(&self, notification: Notification) -> Sending<'_> {
        match notification {
            Notification::Progress(params) => match self.progress(&params) {
                Some(params) => self.outer.notify(Notification::Progress(params)),
                None => Box::pin(std::future::ready(())),
            },
            other => self.outer.notify(other),
        }
    }

    fn ended(&self, usage: &Usage) {
        // A call ends only once.
        let _ = self.usage.set(*usage);
    }
}
