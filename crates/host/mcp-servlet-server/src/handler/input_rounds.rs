//! Input rounds: servlets that need input from the client before they answer (MRTR).
//!
//! A servlet returns a result of type `input_required` and is called again with the responses.
//! Clients since 2026-07-28 get the input requests and repeat their request with the responses. For
//! clients up to 2025-11-25, the host sends each input request as a request of its own, while
//! theirs is still open.

use std::{collections::BTreeSet, future::Future, pin::Pin, time::Duration};

use mcp_servlet_call::{JsonObject, Nursery, RpcError, refused, takes_error};
use mcp_servlet_host::INPUT_ROUNDS;
use rmcp::{
    Peer, RoleServer,
    model::{ClientResult, CustomRequest, InputResponses, ServerRequest},
    service::{PeerRequestOptions, RequestContext, RequestHandle, ServiceError},
};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    era::Era,
    server::{
        Server,
        active::cancelled,
        seal::{Request, Seal},
    },
};

/// The parameters that a request has in addition to its arguments in later rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Inputs {
    /// The responses, by the keys of their input requests.
    pub(super) responses: Option<JsonObject>,
    /// The servlet's `requestState`.
    pub(super) state: Option<String>,
    /// Cancelled when the input requests of the result get no responses any more.
    pub(super) end: CancellationToken,
}

impl Inputs {
    /// Takes the parameters that the client sent.
    pub(super) fn new(responses: Option<InputResponses>, state: Option<String>) -> Self {
        Self {
            responses: responses.map(JsonObject::from_iter),
            state,
            end: CancellationToken::new(),
        }
    }

    /// Replaces the encrypted state by the servlet's own.
    pub(super) async fn open(
        mut self,
        seal: &Seal,
        request: &Request<'_>,
    ) -> Result<Self, RpcError> {
        if let Some(sealed) = &mut self.state {
            *sealed = seal.open(sealed, request).await?;
        }
        Ok(self)
    }
}

/// How a request was answered.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// With its result.
    Complete(JsonObject),
    /// With input requests, for a client that repeats its request.
    InputRequests(JsonObject),
}

/// Answers a request. Clients up to 2025-11-25 may need several calls of the servlet, all others one.
///
/// Boxed, because rmcp moves the future several times before it polls it.
pub(super) fn answer<'a, F>(
    server: &'a Server,
    context: &'a RequestContext<RoleServer>,
    era: Era,
    request: &'a Request<'a>,
    inputs: Inputs,
    call: impl Fn(Inputs) -> F + Send + 'a,
) -> Pin<Box<dyn Future<Output = Result<Answer, RpcError>> + Send + 'a>>
where
    F: Future<Output = Result<JsonObject, RpcError>> + Send + 'a,
{
    Box::pin(async move {
        let Server(shared) = server;
        let (seal, patience) = (&shared.seal, shared.options.question_time);
        let inputs = inputs.open(seal, request).await?;
        let end = inputs.end.clone();
        if era == Era::Modern {
            let open = end.drop_guard();
            let result = call(inputs).await?;
            return input_required_result(seal, context, request, result, open);
        }
        let nursery = &shared.process.nursery;
        let ask =
            |input_requests| async move { ask(context, nursery, &input_requests, patience).await };
        converse(context, end, call(inputs), call, ask)
            .await
            .map(Answer::Complete)
    })
}

/// The result for a client since 2026-07-28. If it contains input requests, its state is encrypted, and they stay open after the
/// request. Otherwise `open` ends them.
pub(super) fn input_required_result(
    seal: &Seal,
    context: &RequestContext<RoleServer>,
    request: &Request<'_>,
    mut result: JsonObject,
    open: DropGuard,
) -> Result<Answer, RpcError> {
    if input_requests(context, &result)?.is_none() {
        return Ok(Answer::Complete(result));
    }
    if let Some(Value::String(state)) = result.get_mut("requestState") {
        *state = seal.close(state, request);
    }
    open.disarm();
    Ok(Answer::InputRequests(result))
}

/// Calls a servlet until it has a result: `first` is the running call, `again` calls with the
/// responses from `ask`. Input requests that are still open after that, or when this is dropped, are ended by `end`.
pub(super) async fn converse<F, A>(
    context: &RequestContext<RoleServer>,
    end: CancellationToken,
    first: F,
    again: impl Fn(Inputs) -> F,
    ask: impl Fn(JsonObject) -> A,
) -> Result<JsonObject, RpcError>
where
    F: Future<Output = Result<JsonObject, RpcError>>,
    A: Future<Output = Result<JsonObject, RpcError>>,
{
    let _open = end.clone().drop_guard();
    let mut result = first.await?;
    let mut rounds = 0;
    while let Some(input_requests) = input_requests(context, &result)? {
        if rounds == INPUT_ROUNDS {
            let message =
                format!("the servlet asked {INPUT_ROUNDS} times without returning a result");
            return Err(RpcError::new(RpcError::INTERNAL, message));
        }
        rounds += 1;
        let responses = ask(input_requests).await?;
        let state = result.get("requestState").and_then(Value::as_str);
        result = again(Inputs {
            responses: Some(responses),
            state: state.map(str::to_owned),
            end: end.clone(),
        })
        .await?;
    }
    Ok(result)
}

/// The input requests of a result. None if the result is final. An error if the client cannot answer them.
fn input_requests(
    context: &RequestContext<RoleServer>,
    result: &JsonObject,
) -> Result<Option<JsonObject>, RpcError> {
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => Ok(None),
        Some("input_required") => {
            let input_requests = asked(result)?;
            require(context, input_requests)?;
            Ok(Some(input_requests.clone()))
        }
        Some(other) => {
            let message = format!("this host does not pass on results of type `{other}`");
            Err(RpcError::new(RpcError::INTERNAL, message))
        }
    }
}

/// The input requests of a result, by key.
fn asked(result: &JsonObject) -> Result<&JsonObject, RpcError> {
    static NONE: std::sync::LazyLock<JsonObject> = std::sync::LazyLock::new(JsonObject::new);
    let wrong = || {
        let message = "invalid input requests of the servlet: `inputRequests` must be an object of requests, \
                       each with a `method` that asks the client";
        RpcError::new(RpcError::INTERNAL, message)
    };
    let input_requests = match result.get("inputRequests") {
        None => return Ok(&NONE),
        Some(input_requests) => input_requests.as_object().ok_or_else(wrong)?,
    };
    if input_requests
        .values()
        .all(|input_request| capability(input_request).is_some())
    {
        return Ok(input_requests);
    }
    Err(wrong())
}

/// A capability that the client must declare for an input request, and the mode within it.
type Capability = (&'static str, Option<&'static str>);

fn capability(input_request: &Value) -> Option<Capability> {
    let params = &input_request["params"];
    let uses_tools = || !params["tools"].is_null() || !params["toolChoice"].is_null();
    Some(match input_request["method"].as_str()? {
        "elicitation/create" if params["mode"] == "url" => ("elicitation", Some("url")),
        "elicitation/create" => ("elicitation", Some("form")),
        "sampling/createMessage" if uses_tools() => ("sampling", Some("tools")),
        "sampling/createMessage" => ("sampling", None),
        "roots/list" => ("roots", None),
        _ => return None,
    })
}

/// Whether a client has a capability. `elicitation` without modes means forms, as it did before modes existed.
fn has(declared: &Value, (name, part): Capability) -> bool {
    let whole = &declared[name];
    match part {
        None => !whole.is_null(),
        Some(part) if !whole[part].is_null() => true,
        Some("form") => whole.is_object() && whole["url"].is_null(),
        Some(_) => false,
    }
}

/// Refuses input requests that need a capability which the client has not declared.
fn require(
    context: &RequestContext<RoleServer>,
    input_requests: &JsonObject,
) -> Result<(), RpcError> {
    let declared = json!(context.client_capabilities());
    let needed: BTreeSet<_> = input_requests
        .values()
        .filter_map(capability)
        .filter(|needed| !has(&declared, *needed))
        .collect();
    if needed.is_empty() {
        return Ok(());
    }
    let mut missing = json!({});
    let mut names = Vec::new();
    for (name, part) in needed {
        match part {
            // Clients from before modes existed support forms.
            None | Some("form") => {
                missing[name] = json!({});
                names.push(format!("`{name}`"));
            }
            Some(part) => {
                missing[name][part] = json!({});
                names.push(format!("`{name}.{part}`"));
            }
        }
    }
    let message = format!(
        "this needs a client with the capability {}",
        names.join(", ")
    );
    Err(lacks_capability(message, missing))
}

/// The error for a client that has not declared these capabilities.
pub(super) fn lacks_capability(message: String, required: Value) -> RpcError {
    RpcError::new(RpcError::MISSING_CLIENT_CAPABILITY, message)
        .with_data(json!({ "requiredCapabilities": required }))
}

/// Sends the input requests to a client up to 2025-11-25, one after the other, since a person may have to answer.
async fn ask(
    context: &RequestContext<RoleServer>,
    nursery: &Nursery,
    input_requests: &JsonObject,
    patience: Duration,
) -> Result<JsonObject, RpcError> {
    let mut responses = JsonObject::new();
    for (key, input_request) in input_requests {
        let asked = tokio::time::timeout(patience, ask_one(&context.peer, nursery, input_request));
        let asked = tokio::select! {
            asked = asked => asked,
            () = cancelled(context) => {
                return Err(RpcError::new(RpcError::INTERNAL, "the request was cancelled"));
            }
        };
        let problem = match asked {
            Ok(Ok(response)) => {
                responses.insert(key.clone(), response);
                continue;
            }
            // The remote that asks decides how it goes on.
            Ok(Err(ServiceError::McpError(error))) if takes_error(key) => {
                let error = RpcError {
                    code: error.code.0,
                    message: error.message.into_owned(),
                    data: error.data,
                };
                responses.insert(key.clone(), refused(&error));
                continue;
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no response within {patience:?}"),
        };
        let message = format!("the client did not answer the input request `{key}`: {problem}");
        return Err(RpcError::new(RpcError::INTERNAL, message));
    }
    Ok(responses)
}

/// Sends the servlet's JSON unchanged: rmcp's types would drop unknown fields.
async fn ask_one(
    peer: &Peer<RoleServer>,
    nursery: &Nursery,
    input_request: &Value,
) -> Result<Value, ServiceError> {
    let method = input_request["method"].as_str().unwrap_or_default();
    let request = CustomRequest::new(method, input_request.get("params").cloned());
    let request = ServerRequest::CustomRequest(request);
    let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options());
    let waiting = Waiting {
        sent: Some(sent.await?),
        nursery: nursery.clone(),
    };
    let response = waiting.response().await?;
    serde_json::to_value(response).map_err(|_| ServiceError::UnexpectedResponse)
}

/// A request that the client has not answered. Dropping it cancels the request, so that the client can close its form.
struct Waiting {
    /// None once it is answered.
    sent: Option<RequestHandle<RoleServer>>,
    nursery: Nursery,
}

impl Waiting {
    async fn response(mut self) -> Result<ClientResult, ServiceError> {
        let sent = self.sent.as_mut().expect("it was just sent");
        let response = (&mut sent.rx).await;
        self.sent = None;
        response.map_err(|_| ServiceError::TransportClosed)?
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(sent) = self.sent.take() {
            let reason = "the response is no longer needed".to_owned();
            self.nursery.spawn(sent.cancel(Some(reason)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> JsonObject {
        serde_json::from_value(value).expect("an object")
    }

    #[test]
    fn a_part_of_a_capability_is_not_the_whole() {
        let input_request = |method: &str, params: Value| {
            capability(&json!({ "method": method, "params": params })).expect("an input request")
        };
        let form = input_request("elicitation/create", json!({ "message": "m" }));
        let url = input_request("elicitation/create", json!({ "mode": "url" }));
        let text = input_request("sampling/createMessage", json!({}));
        let tools = input_request("sampling/createMessage", json!({ "tools": [] }));
        for (declared, expected) in [
            (json!({}), [false; 4]),
            (json!({ "elicitation": {} }), [true, false, false, false]),
            (
                json!({ "elicitation": { "form": {} } }),
                [true, false, false, false],
            ),
            (
                json!({ "elicitation": { "url": {} } }),
                [false, true, false, false],
            ),
            (
                json!({ "elicitation": { "form": {}, "url": {} } }),
                [true, true, false, false],
            ),
            (json!({ "sampling": {} }), [false, false, true, false]),
            (
                json!({ "sampling": { "tools": {} } }),
                [false, false, true, true],
            ),
        ] {
            let got = [form, url, text, tools].map(|needed| has(&declared, needed));
            assert_eq!(got, expected, "{declared}");
        }
    }

    #[test]
    fn accepts_only_requests_that_a_client_can_answer() {
        let result = object(json!({ "inputRequests": {
            "a": { "method": "elicitation/create" },
            "b": { "method": "roots/list" },
        }}));
        assert_eq!(asked(&result).expect("input requests").len(), 2);
        assert!(asked(&JsonObject::new()).expect("none").is_empty());
        for wrong in [
            json!([]),
            json!({ "a": 1 }),
            json!({ "a": { "method": "tools/call" } }),
        ] {
            let result = object(json!({ "inputRequests": wrong }));
            assert_eq!(asked(&result).expect_err("an error").code, -32603);
        }
    }
}
