//! Notifications that servlets send while they run: progress, log messages and changes.

use crate::{
    exchange::{HttpFailure, HttpRequest, HttpResponse},
    json::JsonObject,
};

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

/// Receives what a call sends while it runs.
pub trait Listener: std::fmt::Debug + Send + Sync {
    /// Handles a notification. It runs on the thread of the call, so the call waits until it returns.
    fn notify(&self, notification: Notification);

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
