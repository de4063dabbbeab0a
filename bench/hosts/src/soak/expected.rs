//! The expected outcomes of calls.

use std::time::Instant;

use serde_json::Value;

use super::outage::Outage;

/// The expected outcome of a call.
pub(super) enum Expected<'a> {
    /// A result whose text ends with this.
    Success(String),
    ToolError,
    Fault,
    /// A result, or the error of a remote that was down while the call ran.
    SuccessUnlessDown(String, &'a Outage, Refusal),
}

/// The JSON-RPC error of a call to a remote that is down.
#[derive(Clone, Copy)]
pub(super) enum Refusal {
    /// The error of the server, which names this remote.
    OfServer(&'static str),
    /// The error of a catch, with this code.
    OfCatch(i64),
}

impl Expected<'_> {
    pub(super) fn fits(&self, answer: &Value, sent: Instant) -> bool {
        let is_error = answer["result"]["isError"] == true;
        let ends_with = |end: &str| {
            let text = answer["result"]["content"][0]["text"].as_str();
            !is_error && text.is_some_and(|text| text.ends_with(end))
        };
        match self {
            Self::Success(end) => ends_with(end),
            Self::ToolError => is_error,
            Self::Fault => answer["error"].is_object(),
            Self::SuccessUnlessDown(end, outage, refusal) => {
                let is_refused = refusal.is(&answer["error"]) && outage.was_since(sent);
                if is_refused {
                    outage.count();
                }
                is_refused || ends_with(end)
            }
        }
    }
}

impl Refusal {
    fn is(self, error: &Value) -> bool {
        match self {
            Self::OfServer(remote) => {
                error["code"] == -32000
                    && error["data"]["remote"] == remote
                    && error["data"]["retry"] == true
            }
            Self::OfCatch(code) => error["code"] == code,
        }
    }
}
