//! Input requests (elicitation, sampling, roots) by the host functions of hyper-mcp.
//!
//! These functions return the client's answer, but this host does not wait for it. If there is no
//! answer yet, the function stops the call, and the call ends with an `input_required` result. When
//! the client retries with the answer, the servlet runs again from its beginning, and the function
//! returns.

use std::sync::{Arc, Mutex, MutexGuard};

use extism::{CurrentPlugin, Error, Function, PTR, UserData, Val};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::notify::params;
use crate::{
    inspect::{
        Module, USER,
        imports::{CREATE_ELICITATION, CREATE_MESSAGE, LIST_ROOTS},
    },
    json::JsonObject,
    lock::lock,
};

/// The host functions and the MCP requests that they send.
const FUNCTIONS: [(&str, &str); 3] = [
    (CREATE_ELICITATION, ELICITATION),
    (CREATE_MESSAGE, "sampling/createMessage"),
    (LIST_ROOTS, ROOTS),
];

const ELICITATION: &str = "elicitation/create";

/// `roots/list` has no parameters.
const ROOTS: &str = "roots/list";

/// The input requests of the call that a slot runs.
#[derive(Clone, Default)]
pub(crate) struct InputRequests(Arc<Mutex<Round>>);

#[derive(Default)]
struct Round {
    /// The client's answers by key; `None` if there is no client.
    answers: Option<JsonObject>,
    /// How many requests the call has made.
    count: usize,
    /// The request that has no answer yet, with its key.
    open: Option<(String, Value)>,
}

impl InputRequests {
    /// Begins a call with the client's answers so far; `None` if there is no client.
    pub(crate) fn begin(&self, answers: Option<JsonObject>) {
        *self.round() = Round {
            answers,
            ..Round::default()
        };
    }

    /// Ends the call. If an input request stopped the call, this returns the result that contains it.
    pub(crate) fn end(&self) -> Option<Vec<u8>> {
        let Round { answers, open, .. } = std::mem::take(&mut *self.round());
        let (key, request) = open?;
        let mut result =
            json!({ "resultType": "input_required", "inputRequests": { key: request } });
        if let Some(answers) = answers.filter(|answers| !answers.is_empty()) {
            result["requestState"] = json!({ "answers": answers }).to_string().into();
        }
        Some(result.to_string().into_bytes())
    }

    /// The client's answer to a request, or an error that stops the call.
    fn answer(&self, name: &str, request: Value) -> Result<Value, Error> {
        let mut round = self.round();
        let key = key(round.count, &request);
        round.count += 1;
        let answer = match &round.answers {
            Some(answers) => answers.get(&key).cloned(),
            None => {
                return Err(Error::msg(format!(
                    "`{name}`: there is no client to ask here"
                )));
            }
        };
        answer.ok_or_else(|| {
            round.open = Some((key, request));
            Error::msg(format!("`{name}`: the client has to answer first"))
        })
    }

    fn round(&self) -> MutexGuard<'_, Round> {
        lock(&self.0)
    }
}

/// The key of a request: its position in the call and its digest. A changed request gets another key.
fn key(at: usize, request: &Value) -> String {
    let digest: [u8; 32] = Sha256::digest(request.to_string()).into();
    let [a, b, c, d, ..] = digest;
    format!("{at}-{:08x}", u32::from_be_bytes([a, b, c, d]))
}

/// The functions that `module` imports.
pub(crate) fn functions(module: &Module, input_requests: &InputRequests) -> Vec<Function> {
    let chosen = FUNCTIONS
        .into_iter()
        .filter(|(name, _)| module.imports(USER, name));
    chosen
        .map(|(name, method)| function(name, method, input_requests.clone()))
        .collect()
}

fn function(name: &'static str, method: &'static str, input_requests: InputRequests) -> Function {
    let ask =
        move |plugin: &mut CurrentPlugin, inputs: &[Val], outputs: &mut [Val], _: UserData<()>| {
            let mut request = json!({ "method": method });
            if method != ROOTS {
                request["params"] = as_in_mcp(method, params(name, plugin, inputs)?).into();
            }
            let answer = input_requests.answer(name, request)?;
            plugin.memory_set_val(&mut outputs[0], answer.to_string())
        };
    let inputs = [PTR].into_iter().filter(|_| method != ROOTS);
    Function::new(name, inputs, [PTR], UserData::default(), ask).with_namespace(USER)
}

/// Converts parameters to MCP: removes hyper-mcp's time limit, since clients have their own, and
/// renames a format.
fn as_in_mcp(method: &str, mut params: JsonObject) -> JsonObject {
    if method != ELICITATION {
        return params;
    }
    params.shift_remove("timeout");
    let schema = params.get_mut("requestedSchema");
    let properties = schema.and_then(|schema| schema.get_mut("properties"));
    for property in properties
        .and_then(Value::as_object_mut)
        .into_iter()
        .flat_map(JsonObject::values_mut)
    {
        if property["format"] == "date_time" {
            property["format"] = "date-time".into();
        }
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots() -> Value {
        json!({ "method": ROOTS })
    }

    #[test]
    fn a_question_without_an_answer_ends_the_call_and_the_next_one_has_it() {
        let input_requests = InputRequests::default();
        input_requests.begin(Some(JsonObject::new()));
        assert!(input_requests.answer("list_roots", roots()).is_err());
        let result: Value =
            serde_json::from_slice(&input_requests.end().expect("a result")).expect("JSON");
        let asked = result["inputRequests"].as_object().expect("input requests");
        let (key, request) = asked.iter().next().expect("one");
        assert_eq!((request, result.get("requestState")), (&roots(), None));

        let answers = JsonObject::from_iter([(key.clone(), json!({ "roots": [] }))]);
        input_requests.begin(Some(answers.clone()));
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

        input_requests.begin(Some(answers));
        let other = json!({ "method": "elicitation/create" });
        assert!(input_requests.answer(CREATE_ELICITATION, other).is_err());
    }

    #[test]
    fn without_a_client_there_is_an_error_and_no_question() {
        let input_requests = InputRequests::default();
        input_requests.begin(None);
        let error = input_requests
            .answer("list_roots", roots())
            .expect_err("nobody");
        assert_eq!(
            error.to_string(),
            "`list_roots`: there is no client to ask here"
        );
        assert!(input_requests.end().is_none());
    }

    #[test]
    fn forms_go_out_as_mcp_has_them() {
        let form = json!({ "mode": "form", "message": "format", "timeout": 30, "requestedSchema": {
            "type": "object",
            "properties": { "at": { "type": "string", "format": "date_time" }, "format": { "title": "date_time" } },
        }});
        let params = as_in_mcp(
            ELICITATION,
            serde_json::from_value(form).expect("an object"),
        );
        let expected = json!({ "mode": "form", "message": "format", "requestedSchema": {
            "type": "object",
            "properties": { "at": { "type": "string", "format": "date-time" }, "format": { "title": "date_time" } },
        }});
        assert_eq!(Value::Object(params), expected);
    }
}
