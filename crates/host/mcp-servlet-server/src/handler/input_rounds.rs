//! Input rounds: servlets that need input from the client before they answer (MRTR).
//!
//! A servlet returns a result of type `input_required` and is called again with the responses.
//! Clients since 2026-07-28 get the input requests and repeat their request with the responses. For
//! clients up to 2025-11-25, the host sends each input request as a request of its own, while
//! theirs is still open.

use std::{future::Future, pin::Pin, sync::OnceLock, time::Duration};

use mcp_servlet_call::{
    JsonObject, Nursery, RpcError, Withdrawal, is_input_request, missing_capability, refused,
    takes_error,
};
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
    /// Ends the input requests of the result.
    pub(super) open: Open,
}

/// Ends the input requests of a result that have no responses yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    /// Cancelled when they get no responses any more.
    pub(super) end: CancellationToken,
    /// Takes back those that need no response any more.
    pub(super) withdrawal: Withdrawal,
}

impl Inputs {
    /// Takes the parameters that the client sent.
    pub(super) fn new(responses: Option<InputResponses>, state: Option<String>) -> Self {
        Self {
            responses: responses.map(JsonObject::from_iter),
            state,
            open: Open::default(),
        }
    }

    /// Replaces the encrypted state by the servlet's own.
    pub(super) async fn unseal(
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

/// Answers a request. Clients up to 2025-11-25 may need several calls of the servlet, all others one. With `takes_refusals`, a call goes
/// on with an error if the client refuses or does not respond.
///
/// Boxed, because rmcp moves the future several times before it polls it.
pub(super) fn answer<'a, F>(
    server: &'a Server,
    context: &'a RequestContext<RoleServer>,
    era: Era,
    request: &'a Request<'a>,
    inputs: Inputs,
    takes_refusals: bool,
    call: impl Fn(Inputs) -> F + Send + 'a,
) -> Pin<Box<dyn Future<Output = Result<Answer, RpcError>> + Send + 'a>>
where
    F: Future<Output = Result<JsonObject, RpcError>> + Send + 'a,
{
    Box::pin(async move {
        let Server(shared) = server;
        let seal = &shared.seal;
        let inputs = inputs.unseal(seal, request).await?;
        let open = inputs.open.clone();
        if era == Era::Modern {
            let open = open.end.drop_guard();
            let result = call(inputs).await?;
            return input_required_result(seal, context, request, result, open);
        }
        let asking = &Asking {
            context,
            nursery: &shared.process.nursery,
            name: request.name,
            patience: shared.options.question_time,
            takes_refusals,
            silence: OnceLock::new(),
        };
        let ask = |input_requests, withdrawal| async move {
            asking.ask(&input_requests, &withdrawal).await
        };
        converse(context, open, call(inputs), call, ask)
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
/// responses from `ask`. Input requests that are still open after that, or when this is dropped, are ended by `open`.
pub(super) async fn converse<F, A>(
    context: &RequestContext<RoleServer>,
    open: Open,
    first: F,
    again: impl Fn(Inputs) -> F,
    ask: impl Fn(JsonObject, Withdrawal) -> A,
) -> Result<JsonObject, RpcError>
where
    F: Future<Output = Result<JsonObject, RpcError>>,
    A: Future<Output = Result<JsonObject, RpcError>>,
{
    let Open {
        end,
        mut withdrawal,
    } = open;
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
        let responses = ask(input_requests, withdrawal).await?;
        // The next result may have requests with the same keys.
        withdrawal = Withdrawal::default();
        let state = result.get("requestState").and_then(Value::as_str);
        result = again(Inputs {
            responses: Some(responses),
            state: state.map(str::to_owned),
            open: Open {
                end: end.clone(),
                withdrawal: withdrawal.clone(),
            },
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
            let declared = json!(context.client_capabilities());
            match missing_capability(&declared, input_requests.values()) {
                Some(error) => Err(error),
                None => Ok(Some(input_requests.clone())),
            }
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
    if input_requests.values().all(is_input_request) {
        return Ok(input_requests);
    }
    Err(wrong())
}

/// Sends the input requests of one call to a client up to 2025-11-25.
struct Asking<'a> {
    context: &'a RequestContext<RoleServer>,
    nursery: &'a Nursery,
    /// The tool, prompt or resource that the client has requested.
    name: &'a str,
    /// How long the client may take for each response.
    patience: Duration,
    /// Whether the call goes on with an error instead of a response.
    takes_refusals: bool,
    /// Why the client gets no more requests: it did not respond in time.
    silence: OnceLock<String>,
}

impl Asking<'_> {
    /// Sends input requests, one after the other, since a person may have to answer. Those that are withdrawn get no response.
    async fn ask(
        &self,
        input_requests: &JsonObject,
        withdrawal: &Withdrawal,
    ) -> Result<JsonObject, RpcError> {
        let mut responses = JsonObject::new();
        let mut withdrawn = withdrawal.keys();
        for (key, input_request) in input_requests {
            if let Some(problem) = self.silence.get() {
                responses.insert(key.clone(), self.refusal(input_request, problem)?);
                continue;
            }
            let asked = ask_one(&self.context.peer, self.nursery, input_request);
            let asked = tokio::time::timeout(self.patience, asked);
            let is_withdrawn = async {
                // The sender lives as long as `withdrawal`.
                let _ = withdrawn.wait_for(|keys| keys.contains(key)).await;
            };
            let asked = tokio::select! {
                biased;
                () = is_withdrawn => continue,
                () = cancelled(self.context) => {
                    return Err(RpcError::new(RpcError::INTERNAL, "the request was cancelled"));
                }
                asked = asked => asked,
            };
            let response = match asked {
                Ok(Ok(response)) => response,
                // The remote that asks decides how it goes on.
                Ok(Err(ServiceError::McpError(error))) if takes_error(key) => refused(&RpcError {
                    code: error.code.0,
                    message: error.message.into_owned(),
                    data: error.data,
                }),
                Ok(Err(error @ ServiceError::McpError(_))) => {
                    self.refusal(input_request, &error.to_string())?
                }
                Ok(Err(error)) => {
                    return Err(self.not_answered(input_request, &error.to_string()));
                }
                Err(_) => {
                    let problem = || format!("no response within {:?}", self.patience);
                    self.refusal(input_request, self.silence.get_or_init(problem))?
                }
            };
            responses.insert(key.clone(), response);
        }
        Ok(responses)
    }

    /// What the call gets instead of a response. An error if it does not go on without one.
    fn refusal(&self, input_request: &Value, problem: &str) -> Result<Value, RpcError> {
        let error = self.not_answered(input_request, problem);
        if self.takes_refusals {
            Ok(refused(&error))
        } else {
            Err(error)
        }
    }

    fn not_answered(&self, input_request: &Value, problem: &str) -> RpcError {
        let method = input_request["method"].as_str().unwrap_or_default();
        let name = self.name;
        let message = format!("the client did not answer `{method}` of `{name}`: {problem}");
        RpcError::new(RpcError::INTERNAL, message).with_data(json!({ "code": "NOT_ANSWERED" }))
    }
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
