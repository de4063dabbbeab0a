//! The input requests of a call.

use mcp_servlet_call::{INPUT_REQUIRED, JsonObject, RequestMeta};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The input requests of a call, and their answers.
#[derive(Default)]
pub(crate) struct InputRequests {
    /// The client's answers by key; `None` if there is no client.
    answers: Option<JsonObject>,
    /// How many requests the call has made.
    count: usize,
    /// The request that has no answer yet, with its key.
    open: Option<(String, Value)>,
}

/// Why a call cannot go on after an input request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    #[error("`{0}`: there is no client to ask here")]
    NoClient(String),
    #[error("`{0}`: the client has to answer first")]
    Open(String),
}

impl InputRequests {
    /// The requests of a call with the client's answers so far; `None` if there is no client.
    pub(crate) fn new(answers: Option<JsonObject>) -> Self {
        Self {
            answers,
            ..Self::default()
        }
    }

    /// Ends the call. If an input request stopped the call, this returns the result that contains it.
    pub(crate) fn end(&mut self) -> Option<Vec<u8>> {
        let (key, request) = self.open.take()?;
        let mut result = json!({ "resultType": INPUT_REQUIRED, "inputRequests": { key: request } });
        if let Some(answers) = self.answers.take().filter(|answers| !answers.is_empty()) {
            result["requestState"] = json!({ "answers": answers }).to_string().into();
        }
        Some(result.to_string().into_bytes())
    }

    /// The client's answer to a request, or an error that stops the call.
    pub(crate) fn answer(&mut self, name: &str, request: Value) -> Result<Value, Unanswered> {
        let key = key(self.count, &request);
        self.count += 1;
        let Some(answers) = &self.answers else {
            return Err(Unanswered::NoClient(name.to_owned()));
        };
        let answer = answers.get(&key).cloned();
        answer.ok_or_else(|| {
            self.open = Some((key, request));
            Unanswered::Open(name.to_owned())
        })
    }
}

/// The client's answers to the input requests of a call, from this request and from earlier ones.
pub(super) fn answers(request_meta: &RequestMeta) -> JsonObject {
    let state = request_meta.request_state.as_deref();
    let state: Option<JsonObject> = state.and_then(|state| serde_json::from_str(state).ok());
    let mut answers = match state.and_then(|mut state| state.shift_remove("answers")) {
        Some(Value::Object(answers)) => answers,
        _ => JsonObject::new(),
    };
    answers.extend(request_meta.input_responses.clone().unwrap_or_default());
    answers
}

/// The key of a request: its position in the call and its digest. A changed request gets another key.
fn key(at: usize, request: &Value) -> String {
    let digest: [u8; 32] = Sha256::digest(request.to_string()).into();
    let [a, b, c, d, ..] = digest;
    format!("{at}-{:08x}", u32::from_be_bytes([a, b, c, d]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots() -> Value {
        json!({ "method": "roots/list" })
    }

    #[test]
    fn a_request_without_an_answer_ends_the_call_and_the_next_one_has_it() {
        let mut input_requests = InputRequests::new(Some(JsonObject::new()));
        assert!(input_requests.answer("list_roots", roots()).is_err());
        let result: Value =
            serde_json::from_slice(&input_requests.end().expect("a result")).expect("JSON");
        let asked = result["inputRequests"].as_object().expect("input requests");
        let (key, request) = asked.iter().next().expect("one");
        assert_eq!((request, result.get("requestState")), (&roots(), None));

        let answers = JsonObject::from_iter([(key.clone(), json!({ "roots": [] }))]);
        let mut input_requests = InputRequests::new(Some(answers.clone()));
        let answer = input_requests
            .answer("list_roots", roots())
            .expect("an answer");
        assert_eq!(answer, json!({ "roots": [] }));
        // The same request a second time has its own key.
        assert!(input_requests.answer("list_roots", roots()).is_err());
        let result: Value =
            serde_json::from_slice(&input_requests.end().expect("a result")).expect("JSON");
        let state = json!({ "answers": answers }).to_string();
        assert_eq!(result["requestState"], state);

        let mut input_requests = InputRequests::new(Some(answers));
        let other = json!({ "method": "elicitation/create" });
        assert!(input_requests.answer("create_elicitation", other).is_err());
    }

    #[test]
    fn without_a_client_there_is_an_error_and_no_input_request() {
        let mut input_requests = InputRequests::new(None);
        let error = input_requests
            .answer("list_roots", roots())
            .expect_err("no client");
        assert_eq!(
            error.to_string(),
            "`list_roots`: there is no client to ask here"
        );
        assert!(input_requests.end().is_none());
    }
}
