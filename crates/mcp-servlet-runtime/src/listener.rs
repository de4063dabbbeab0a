//! What servlets tell their client while they run: how far they are, lines for its log, and what has changed.

use crate::{
    exchange::{HttpFailure, HttpRequest, HttpResponse},
    json::JsonObject,
};

/// Something that a servlet tells its client: the parameters of a notification of MCP.
#[derive(Clone, Debug, PartialEq)]
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

/// Something that clients may want to ask for again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources, or of resource templates.
    Resources,
    /// What is stored under this address.
    Resource(String),
}

/// Who hears what a call tells while it runs.
pub trait Listener: std::fmt::Debug + Send + Sync {
    /// Takes a notification, on the thread that runs the call: as long as this takes, the call waits.
    fn notify(&self, notification: Notification);

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
