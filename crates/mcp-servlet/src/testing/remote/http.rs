//! HTTP of the wasm, answered in the test.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::{HttpRequest, HttpResponse};

/// A request that the wasm sends.
#[derive(Deserialize)]
pub(super) struct Request {
    method: String,
    url: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// The answer that it gets.
#[derive(Serialize)]
pub(super) struct Response {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Request {
    /// # Panics
    ///
    /// If the test prepared no HTTP at all; then the host does not ask.
    pub(super) fn answered_by(self, context: &Context) -> Response {
        let request = HttpRequest {
            method: self.method,
            url: self.url,
            headers: self.headers,
            body: self.body,
        };
        let answer = context.http(&request);
        let HttpResponse {
            status,
            headers,
            body,
        } = answer.unwrap_or_else(|error| panic!("{error}"));
        Response {
            status,
            headers,
            body,
        }
    }
}
