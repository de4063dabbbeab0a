//! Notifications that servlets send while they run: progress, log messages and changes.

use std::{pin::Pin, time::Duration};

use crate::{HttpFailure, HttpRequest, HttpResponse, JsonObject};

/// An MCP notification of a servlet, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Notification {
    /// `notifications/progress`
    Progress(JsonObject),
    /// `notifications/message`
    Message(JsonObject),
    /// `notifications/elicitation/complete`
    ElicitationComplete(JsonObject),
    /// A list or a resource has changed.
    Changed(Change),
}

/// What has changed, so that clients may want to request it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources, or of resource templates.
    Resources,
    /// The resource with this URI.
    Resource(String),
}

/// What a run of an export took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The time, without the wait for an instance.
    pub time: Duration,
    /// The memory that the instance had in the end, in bytes, without the first MiB of messages. `None` if it had no other
    /// memory, or if there was no instance.
    ///
    /// Memory does not shrink, so with `Isolation::Shared` this includes what earlier calls of the instance have added.
    pub memory: Option<u64>,
    /// The fuel: see [`Limits::fuel`](crate::Limits::fuel). `None` if it was not counted, or if the call was
    /// stopped at the time limit or before its start.
    pub fuel: Option<u64>,
    /// The size of the input in bytes.
    pub input: u64,
    /// The size of the output in bytes; 0 if the run failed.
    pub output: u64,
}

/// A notification on its way.
pub type Sending<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Receives what a call sends while it runs, and what it took.
pub trait Listener: std::fmt::Debug + Send + Sync {
    /// Handles a notification. The call waits until the future is complete, and drops it if the call is stopped.
    fn notify(&self, notification: Notification) -> Sending<'_>;

    /// Handles the end of the run. It is not called if the run was cancelled.
    fn ended(&self, _usage: &Usage) {}

    /// Whether [`answer_http`](Self::answer_http) is called. If so, requests are copied for it.
    fn answers_http(&self) -> bool {
        false
    }

    /// Answers an HTTP request, or fails it, instead of the network. `None` sends the request to
    /// the network, if the options of the servlet allow that.
    fn answer_http(&self, _request: &HttpRequest) -> Option<Result<HttpResponse, HttpFailure>> {
        None
    }
}
