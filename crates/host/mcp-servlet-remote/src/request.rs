//! One request to a server, from the client's parameters to the checked result.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use mcp_servlet_call::{
    CallError, InputTimeout, JsonObject, RELAYED_REQUEST, RemoteFailure, RequestMeta, RpcError,
};
use mcp_servlet_client::CallOptions;
use mcp_servlet_host::bundle::{RequestText, Requested};
use mcp_servlet_host::{CallToolResult, CompleteResult, GetPromptResult, ReadResourceResult};
use serde_json::Value;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use crate::answer;
use crate::connection::Connection;
use crate::failure::{call_error, failure, invalid, is_of_connection, refuses_session};
use crate::lists::drop_our_keys;
use crate::parked::{Resumed, input_required};
use crate::relay::Question;
use crate::running::{Client, Outcome, RunningCall};
use crate::shared::{Shared, is_final, stopped};
use crate::state::Link;

impl Shared {
    pub(crate) async fn call(
        self: &Arc<Self>,
        tool: &str,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<CallToolResult, CallError> {
        let params = named("name", tool, arguments);
        let json = self
            .request("tools/call", "content", params, request_meta)
            .await;
        json.map(CallToolResult::new)
            .map_err(|failure| call_error(&self.name, "tools/call", failure))
    }

    pub(crate) async fn read(
        self: &Arc<Self>,
        uri: &str,
        request_meta: &RequestMeta,
    ) -> Result<ReadResourceResult, CallError> {
        let method = "resources/read";
        let params = named("uri", uri, None);
        let json = self.request(method, "contents", params, request_meta).await;
        let is_own = |failure: &_| [expired(), self.asked_elsewhere()].contains(failure);
        json.map(ReadResourceResult::new).map_err(|failure| {
            let is_own = is_own(&failure);
            match failure {
                RemoteFailure::Error { fault } if is_not_found(&fault) && !is_own => {
                    let code = if self.is_stateless() {
                        // The remote's code has both meanings there. Older clients know another one for a missing resource.
                        RpcError::RESOURCE_NOT_FOUND
                    } else {
                        fault.code
                    };
                    CallError::refused_resource(uri, *fault, code)
                }
                failure => call_error(&self.name, method, failure),
            }
        })
    }

    fn is_stateless(&self) -> bool {
        match &*self.link.borrow() {
            Link::Up(connection) => connection.session.server().is_stateless(),
            _ => false,
        }
    }

    pub(crate) async fn prompt(
        self: &Arc<Self>,
        prompt: &str,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<GetPromptResult, CallError> {
        let method = "prompts/get";
        let params = named("name", prompt, arguments);
        let json = self.request(method, "messages", params, request_meta).await;
        json.map(GetPromptResult::new)
            .map_err(|failure| call_error(&self.name, method, failure))
    }

    pub(crate) async fn complete(
        self: &Arc<Self>,
        params: &JsonObject,
    ) -> Result<CompleteResult, CallError> {
        let method = "completion/complete";
        let mut params = params.clone();
        drop_our_keys(&mut params);
        let mut request_meta = RequestMeta::default();
        if let Some(Value::Object(meta)) = params.shift_remove("_meta") {
            request_meta.meta = Some(meta);
        }
        let member = "completion/values";
        let mut json = self
            .request(method, member, params, &request_meta)
            .await
            .map_err(|failure| call_error(&self.name, method, failure))?;
        answer::limit_values(&mut json);
        Ok(CompleteResult::new(json))
    }

    /// Sends a request, and again as often as the options allow.
    async fn request(
        self: &Arc<Self>,
        method: &'static str,
        member: &str,
        mut params: JsonObject,
        request_meta: &RequestMeta,
    ) -> Result<JsonObject, RemoteFailure> {
        let retries = self.options.retries;
        let may_repeat = retries.requests > 0 && self.may_repeat(method, &params, request_meta);
        let mut left = if may_repeat { retries.requests } else { 0 };
        loop {
            let again = (left > 0).then(|| params.clone());
            let result = self
                .request_once(method, member, params, request_meta)
                .await;
            match (result, again) {
                (Err(failure), Some(again))
                    if is_of_connection(&failure) && !is_final(&failure) =>
                {
                    left -= 1;
                    params = again;
                    sleep(retries.every).await;
                }
                (result, _) => return result,
            }
        }
    }

    /// Whether the server may get a request twice. All methods but `tools/call` only read.
    fn may_repeat(&self, method: &str, params: &JsonObject, request_meta: &RequestMeta) -> bool {
        let is_first = request_meta.request_state.is_none();
        let is_hinted = || {
            let lists = self.lists.borrow();
            let tool = lists
                .tools
                .iter()
                .find(|tool| params["name"] == tool.name());
            let hints = tool.and_then(|tool| tool.json().get("annotations"));
            let has = |hint| hints.is_some_and(|hints| hints[hint] == true);
            has("idempotentHint") || has("readOnlyHint")
        };
        is_first && (method != "tools/call" || (self.options.retries.calls && is_hinted()))
    }

    /// Sends a request, or goes on with one that has waited for the client.
    async fn request_once(
        self: &Arc<Self>,
        method: &'static str,
        member: &str,
        params: JsonObject,
        request_meta: &RequestMeta,
    ) -> Result<JsonObject, RemoteFailure> {
        let (connection, mut call) = match self.parked.resume(request_meta) {
            Resumed::Gone => return Err(expired()),
            Resumed::Elsewhere => return Err(self.asked_elsewhere()),
            Resumed::Call(connection, call) => (connection, call),
            Resumed::New => self.start(method, params, request_meta).await?,
        };
        let client = Client::from(request_meta);
        let outcome = self.aborted.run_until_cancelled(call.go_on(&client)).await;
        let Some(outcome) = outcome else {
            return Err(stopped());
        };
        self.used();
        let failed = match outcome {
            Outcome::Answered(Ok(raw)) => {
                let is_stateless = connection.session.server().is_stateless();
                return answer::checked(&raw, member, is_stateless);
            }
            Outcome::Asked(question) => {
                return self.ask(connection, call, question, request_meta);
            }
            Outcome::Answered(Err(error)) => {
                if refuses_session(&error) {
                    self.suspect.notify_one();
                }
                failure(&error, self.options.timeout)
            }
            Outcome::TimedOut => RemoteFailure::TimedOut {
                limit: self.options.timeout,
            },
        };
        if is_of_connection(&failed) {
            self.suspect.notify_one();
        }
        Err(failed)
    }

    /// Waits for the connection, and sends a request.
    async fn start(
        &self,
        method: &'static str,
        params: JsonObject,
        request_meta: &RequestMeta,
    ) -> Result<(Arc<Connection>, RunningCall), RemoteFailure> {
        let options = with_headers(&self.options.headers, method, request_meta)?;
        let connection = self.connected().await?;
        let params = with_input(params, request_meta);
        let limit = self.options.timeout;
        let as_task = self.runs_as_task(method, &params);
        let call = RunningCall::start(
            &connection,
            method,
            params,
            request_meta,
            options,
            limit,
            as_task.then(|| self.waits.clone()),
        );
        Ok((connection, call))
    }

    /// Whether a request calls a tool that only runs as a task. The lists are those of the current connection.
    fn runs_as_task(&self, method: &str, params: &JsonObject) -> bool {
        let lists = self.lists.borrow();
        let mut tools = lists.tools.iter().filter(|tool| tool.is_remote_task());
        method == "tools/call" && tools.any(|tool| params["name"] == tool.name())
    }

    fn asked_elsewhere(&self) -> RemoteFailure {
        let name = &self.name;
        state_refused(format!(
            "another process of this server has asked, and holds the call of remote `{name}`; send the request again without \
             `requestState`"
        ))
    }

    /// Lets a call wait for the client's answer, and returns the result that asks for it.
    fn ask(
        self: &Arc<Self>,
        connection: Arc<Connection>,
        mut call: RunningCall,
        question: Question,
        request_meta: &RequestMeta,
    ) -> Result<JsonObject, RemoteFailure> {
        let Question {
            method,
            params,
            reply,
            over,
        } = question;
        let call_over = call.over();
        let Some(id) = self.parked.keep(connection, call, reply) else {
            return Err(invalid("too many of its calls wait for answers of clients"));
        };
        let (shared, expiring) = (Arc::downgrade(self), id.clone());
        let too_late = too_late(request_meta, self.options.question_time);
        let withdrawal = request_meta.withdrawal.clone();
        let expiry = self.waits.spawn(async move {
            let mut call_over = pin!(call_over.fuse());
            // Never ends, because the outcome waits for the client until that is too late.
            let watching = async {
                tokio::select! {
                    () = over.cancelled() => {}
                    () = &mut call_over => {}
                }
                if let Some(withdrawal) = withdrawal {
                    withdrawal.withdraw(RELAYED_REQUEST);
                }
                // A server that only takes its question back goes on with the call.
                call_over.await;
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = too_late => {}
                () = watching => {}
            }
            let shared = shared.upgrade();
            if let Some(call) = shared.and_then(|shared| shared.parked.expire(&expiring)) {
                call.end().await;
            }
        });
        self.parked.expire_with(&id, AbortOnDropHandle::new(expiry));
        Ok(input_required(&id, method, params))
    }
}

/// Waits until the client's answer to a question would come too late. `limit` is its time unless the request has another one.
fn too_late(request_meta: &RequestMeta, limit: Duration) -> impl Future<Output = ()> + use<> {
    let timeout = request_meta
        .input_timeout
        .clone()
        .unwrap_or_else(|| InputTimeout::new(limit));
    let session = request_meta.session.clone();
    async move {
        let session_ended = async {
            match session {
                Some(session) => session.ended().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = timeout.expired() => {}
            () = session_ended => {}
        }
    }
}

fn expired() -> RemoteFailure {
    let message = "the call no longer waits for this answer; send it again without `requestState`";
    state_refused(message.to_owned())
}

fn state_refused(message: String) -> RemoteFailure {
    let fault = RpcError {
        code: RpcError::INVALID_PARAMS,
        message,
        data: None,
    };
    RemoteFailure::Error {
        fault: Box::new(fault),
    }
}

/// Options with these headers. A failure names the header, and not what its value would be.
fn with_headers(
    headers: &[(String, RequestText)],
    method: &str,
    request_meta: &RequestMeta,
) -> Result<CallOptions, RemoteFailure> {
    let mut options = with_trace(request_meta);
    if headers.is_empty() {
        return Ok(options);
    }
    let meta = |key| request_meta.meta.as_ref()?.get(key);
    let id = match meta("mcp-servlet/request") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(id)) => id.clone(),
        Some(number) => number.to_string(),
    };
    let session = meta("mcp-servlet/session").and_then(Value::as_str);
    let requested = Requested {
        session: session.unwrap_or_default(),
        id: &id,
        method,
        caller: request_meta
            .caller
            .as_ref()
            .map(|caller| caller.attributes()),
    };
    for (name, text) in headers {
        // Completions are not sent for a caller.
        if text.reads_caller() && request_meta.caller.is_none() {
            continue;
        }
        let failed = |reason: &dyn fmt::Display| RemoteFailure::NotSent {
            why: format!("the header `{name}` has no value: {reason}"),
        };
        let value = text.fill(requested).map_err(|error| failed(&error))?;
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            options = options
                .header(name, &value)
                .map_err(|_| failed(&"it would have line breaks or other control characters"))?;
        }
    }
    Ok(options)
}

/// Options with the headers that name the trace of a request, for proxies that do not read its `_meta`. Headers of the configuration
/// replace them.
fn with_trace(request_meta: &RequestMeta) -> CallOptions {
    let mut options = CallOptions::new();
    for name in ["traceparent", "tracestate"] {
        let value = request_meta
            .meta
            .as_ref()
            .and_then(|meta| meta.get(name)?.as_str());
        if let Some(with_header) = value.and_then(|value| options.clone().header(name, value).ok())
        {
            options = with_header;
        }
    }
    options
}

/// The parameters of a request with a name or a URI.
fn named(key: &str, name: &str, arguments: Option<&JsonObject>) -> JsonObject {
    let mut params = JsonObject::from_iter([(key.to_owned(), name.into())]);
    if let Some(arguments) = arguments {
        params.insert("arguments".to_owned(), arguments.clone().into());
    }
    params
}

/// Adds the client's answers to input requests.
fn with_input(mut params: JsonObject, request_meta: &RequestMeta) -> JsonObject {
    if let Some(responses) = &request_meta.input_responses {
        params.insert("inputResponses".to_owned(), responses.clone().into());
    }
    if let Some(state) = &request_meta.request_state {
        params.insert("requestState".to_owned(), Value::from(state.as_str()));
    }
    params
}

/// MCP has had two codes for a missing resource.
fn is_not_found(fault: &RpcError) -> bool {
    matches!(
        fault.code,
        RpcError::RESOURCE_NOT_FOUND | RpcError::INVALID_PARAMS
    )
}
