//! What a request has beside the name of a tool and its arguments.

use std::sync::Arc;

use serde_json::Value;

use crate::{JsonObject, Listener};

/// The members of a request that not every client sends and not every servlet reads.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Extras {
    /// `_meta`: what client and servlet agreed on, and what MCP puts there.
    pub meta: Option<JsonObject>,
    /// Answers to the questions of an earlier result, by their keys.
    pub input_responses: Option<JsonObject>,
    /// The `requestState` of that result, as the servlet wrote it.
    pub request_state: Option<String>,
    /// Who hears what the servlet tells while it runs. It is not sent.
    pub listener: Option<Arc<dyn Listener>>,
}

impl Extras {
    /// Adds what there is to the parameters of a request.
    pub(crate) fn add_to(&self, params: &mut JsonObject) {
        let members = [
            (
                "inputResponses",
                self.input_responses.clone().map(Value::Object),
            ),
            (
                "requestState",
                self.request_state.clone().map(Value::String),
            ),
            ("_meta", self.meta.clone().map(Value::Object)),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                params.insert(name.to_owned(), value);
            }
        }
    }
}
