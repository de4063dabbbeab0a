//! HTTP requests of the wasm, answered in the test.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::host::context::Context;
use crate::{HttpRequest, HttpResponse};

/// A request that the wasm sends.
#[derive(Deserialize)]
pub(super) struct Request {
    method: String,
    url: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// Its response or failure.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Answer {
    Response {
        status: u16,
        headers: BTreeMap<String, String>,
        body: Vec<u8>,
    },
    Failure {
        failure: Failure,
    },
}

#[derive(Serialize)]
pub(super) struct Failure {
    code: u16,
    message: String,
}

impl Request {
    /// # Panics
    ///
    /// If the test recorded HTTP responses, but none for this request. Without recordings, the host
    /// sends no requests here.
    pub(super) fn answered_by(self, context: &Context) -> Answer {
        let request = HttpRequest {
            method: self.method,
            url: self.url,
            headers: self.headers,
            body: self.body,
        };
        match context.http(&request) {
            Ok(HttpResponse {
                status,
                headers,
                body,
            }) => Answer::Response {
                status,
                headers,
                body,
            },
            Err(error) => Answer::Failure {
                failure: Failure {
                    code: error.kind().code(),
                    message: error.to_string(),
                },
            },
        }
    }
}
