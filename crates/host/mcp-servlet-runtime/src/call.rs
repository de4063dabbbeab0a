//! A run of an export, with its input, its limits and what it leaves behind.

mod input_requests;
pub(crate) mod journal;
mod listener;
mod progress;

use std::sync::Arc;

use mcp_servlet_call::{JsonObject, Limits, Listener, RequestMeta};
use serde_json::{Value, json};

pub(crate) use input_requests::InputRequests;
use input_requests::answers;
use journal::Journal;
pub(crate) use progress::Progress;

/// A run of an export, with its input and its limits.
#[derive(Clone, Debug)]
pub struct Job {
    /// The export to run.
    pub export: &'static str,
    /// Its input.
    pub input: Vec<u8>,
    /// Its limits.
    pub limits: Limits,
    /// Receives the notifications of the run.
    pub listener: Option<Arc<dyn Listener>>,
    /// The client's answers to input requests so far; `None` if there is no client.
    pub answers: Option<JsonObject>,
    /// The request that it answers, if the servlet can call tools meanwhile.
    pub request_meta: Option<Box<RequestMeta>>,
}

impl Job {
    /// A run without a client.
    pub(crate) fn new(export: &'static str, input: Vec<u8>, limits: Limits) -> Self {
        Self {
            export,
            input,
            limits,
            listener: None,
            answers: None,
            request_meta: None,
        }
    }

    /// The same run for a client, which receives notifications and answers input requests.
    pub(crate) fn for_client(self, request_meta: &RequestMeta) -> Self {
        Self {
            listener: request_meta.listener.clone(),
            answers: Some(answers(request_meta)),
            ..self
        }
    }
}

/// What host functions know of the call that an instance runs.
pub(crate) struct Call {
    pub(crate) limits: Limits,
    pub(crate) listener: Option<Arc<dyn Listener>>,
    pub(crate) input_requests: InputRequests,
    pub(crate) journal: Journal,
    /// How many HTTP requests it has sent.
    pub(crate) http_requests: u32,
    pub(crate) last_response: LastResponse,
    pub(crate) progress: Arc<Progress>,
}

/// Status and headers of the last HTTP response, or of [several](mcp_servlet_types::HTTP_ALL).
pub(crate) struct LastResponse {
    pub(crate) status: u16,
    /// JSON.
    pub(crate) headers: Value,
}

impl Default for LastResponse {
    fn default() -> Self {
        Self {
            status: 0,
            headers: json!({}),
        }
    }
}

impl Call {
    /// A call without a client.
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            listener: None,
            input_requests: InputRequests::default(),
            journal: Journal::default(),
            http_requests: 0,
            last_response: LastResponse::default(),
            progress: Arc::default(),
        }
    }

    pub(crate) fn of(job: &Job) -> Self {
        Self {
            listener: job.listener.clone(),
            input_requests: InputRequests::new(job.answers.clone()),
            journal: job
                .request_meta
                .as_deref()
                .map_or_else(Journal::default, Journal::of),
            ..Self::new(job.limits)
        }
    }
}
