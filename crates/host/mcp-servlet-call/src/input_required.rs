//! Results with the `resultType` `input_required`, and errors that a client gives as the response to their requests.

use serde_json::{Value, json};

use crate::{JsonObject, RpcError};

/// The `resultType` of a result that asks the client.
pub const INPUT_REQUIRED: &str = "input_required";

/// The key of a request of a remote that can take an error as its answer. A step puts its name before it.
pub const RELAYED_REQUEST: &str = "mcp-servlet/question";

/// The member of a response that has the error of a client.
const ERROR: &str = "mcp-servlet/error";

/// Whether the request with this key can take an error.
pub fn takes_error(key: &str) -> bool {
    let step = key.strip_suffix(RELAYED_REQUEST);
    step.is_some_and(|step| step.is_empty() || step.ends_with('.'))
}

/// The response to a request if the client refuses. Steps of virtual tools also take it for requests of servlets, and fail.
pub fn refused(error: &RpcError) -> Value {
    json!({ ERROR: error })
}

/// The error in a response, if the client has refused.
pub fn refusal(response: &Value) -> Option<RpcError> {
    let error = response.get(ERROR)?;
    let message = error["message"].as_str().unwrap_or_default();
    let code = error["code"].as_i64().and_then(|code| code.try_into().ok());
    Some(RpcError {
        code: code.unwrap_or(RpcError::INTERNAL),
        message: message.to_owned(),
        data: error.get("data").filter(|data| !data.is_null()).cloned(),
    })
}

/// The first error among the responses, without those to requests that can take an error.
pub fn refusal_among(responses: &JsonObject) -> Option<RpcError> {
    let mut responses = responses.iter().filter(|(key, _)| !takes_error(key));
    responses.find_map(|(_, response)| refusal(response))
}

/// Whether a result asks the client and is not the final one.
pub fn asks_client(result: &JsonObject) -> bool {
    let kind = result.get("resultType");
    kind.is_some_and(|kind| kind == INPUT_REQUIRED)
}
