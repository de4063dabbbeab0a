//! Clients that begin a session, and those that may not.

use axum::{http::request::Parts, response::Response};
use serde_json::Value;

use super::admission::error_response;
use crate::{
    access::caller,
    hooks::{Newcomer, SessionRefusal},
    message::Message,
};

impl Newcomer {
    /// The client that sends a message. `session` is empty if the id is not known yet, or if there is none.
    pub(super) fn of(parts: &Parts, message: &Message, session: &str) -> Self {
        Self {
            session: session.to_owned(),
            client: message.client(),
            caller: caller(&parts.extensions),
            certificate: parts.extensions.get().cloned(),
            headers: parts.headers.clone(),
        }
    }
}

/// More about why a request was refused, for the log.
#[derive(Clone)]
pub(super) struct RefusalDetail(pub(super) String);

impl SessionRefusal {
    /// The response to a request with this id.
    pub(super) fn response(self, id: Option<Value>) -> Response {
        let mut response = error_response(self.status, &self.message, id);
        response.headers_mut().extend(self.headers);
        response.extensions_mut().insert(self.reason);
        if let Some(detail) = self.detail {
            response.extensions_mut().insert(RefusalDetail(detail));
        }
        response
    }
}
