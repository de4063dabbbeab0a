//! A call of a virtual tool.

use std::time::Duration;

use mcp_servlet_bundle::{Budget, CheckArguments as Checks, Prepared, Refused, Request, Session};
use mcp_servlet_runtime::{
    CallError, CallErrorKind, CheckArguments, JsonObject, RemoteFailure, RequestMeta,
};
use serde_json::Value;

use super::{Served, thrown};
use crate::CallToolResult;

/// The beginning of keys of `_meta` that belong to the host.
const OWN: &str = "mcp-servlet/";

/// What expressions see of a request in addition to its arguments.
struct Seen {
    meta: JsonObject,
    session: Session,
}

impl Seen {
    fn of(request_meta: &RequestMeta) -> Self {
        let mut meta = request_meta.meta.clone().unwrap_or_default();
        let object = |key: &str| {
            let key = format!("io.modelcontextprotocol/{key}");
            meta.get(&key)
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default()
        };
        let id = meta.get("mcp-servlet/session");
        let id = id.and_then(|session| session.get("id").unwrap_or(session).as_str());
        let session = Session {
            id: id.unwrap_or_default().to_owned(),
            client_info: object("clientInfo"),
            capabilities: object("clientCapabilities"),
        };
        meta.retain(|key, _| !key.starts_with(OWN));
        Self { meta, session }
    }
}

impl Served {
    /// Calls the member and waits for the result. The tool's own `timeout` only applies to
    /// [`call_with`](Self::call_with).
    pub(in crate::host) fn call(
        &self,
        arguments: Option<&JsonObject>,
    ) -> Result<CallToolResult, CallError> {
        let seen = Seen::of(&RequestMeta::default());
        let mut budget = Budget::default();
        let prepared = match self.prepare(arguments, &seen, &mut budget)? {
            Ok(prepared) => prepared,
            Err(refused) => return Ok(refused),
        };
        let tool = &self.proven.tool().handler().tool;
        let result = self.handler.call(tool, prepared.arguments.as_ref());
        self.finish(arguments, &seen, &prepared, result, &mut budget)
    }

    /// Calls the member. Only the arguments are mapped.
    pub(in crate::host) async fn call_with(
        &self,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<CallToolResult, CallError> {
        let seen = Seen::of(request_meta);
        let mut budget = Budget::default();
        let prepared = match self.prepare(arguments, &seen, &mut budget)? {
            Ok(prepared) => prepared,
            Err(refused) => return Ok(refused),
        };
        let tool = &self.proven.tool().handler().tool;
        let call = self
            .handler
            .call_with(tool, prepared.arguments.as_ref(), request_meta);
        let result = match self.proven.tool().timeout() {
            None => call.await,
            // Dropping the call stops it.
            Some(limit) => match tokio::time::timeout(limit, call).await {
                Ok(result) => result,
                Err(_) => Err(self.timeout(limit)),
            },
        };
        self.finish(arguments, &seen, &prepared, result, &mut budget)
    }

    fn timeout(&self, limit: Duration) -> CallError {
        let name = self.handler.name();
        if let Some(servlet) = self.handler.as_servlet() {
            return CallErrorKind::Timeout { limit }.at(name, Some(servlet.abi().call_tool()));
        }
        let failure = RemoteFailure::TimedOut { limit };
        CallErrorKind::Remote { failure }.at(name, Some("tools/call"))
    }

    /// Makes the arguments of the handler, or an error result for the model.
    fn prepare(
        &self,
        arguments: Option<&JsonObject>,
        seen: &Seen,
        budget: &mut Budget,
    ) -> Result<Result<Prepared, CallToolResult>, CallError> {
        let arguments = arguments.map(|arguments| self.tool.arguments(arguments));
        let request = self.request(arguments.as_deref(), seen);
        let servlet = self.handler.as_servlet();
        let checks = match servlet.map(|servlet| servlet.options().arguments) {
            Some(CheckArguments::Check) | None => Checks::Check,
            Some(CheckArguments::Coerce) => Checks::Coerce,
            Some(CheckArguments::Off) => Checks::Off,
        };
        match self.proven.prepare(&request, checks, budget) {
            Ok(prepared) => Ok(Ok(prepared)),
            Err(Refused::Arguments(text)) => Ok(Err(CallToolResult::error(text))),
            Err(Refused::Error(error)) => Err(thrown::error(self.handler.name(), error)),
        }
    }

    fn request<'a>(&'a self, arguments: Option<&'a JsonObject>, seen: &'a Seen) -> Request<'a> {
        Request {
            name: self.proven.tool().name(),
            arguments,
            meta: &seen.meta,
            session: &seen.session,
        }
    }

    /// Maps the result or the failure of the handler. A request for input passes unchanged.
    fn finish(
        &self,
        arguments: Option<&JsonObject>,
        seen: &Seen,
        prepared: &Prepared,
        result: Result<CallToolResult, CallError>,
        budget: &mut Budget,
    ) -> Result<CallToolResult, CallError> {
        let request = self.request(arguments, seen);
        let fault = |error| thrown::error(self.handler.name(), error);
        match result {
            Ok(result) if result.result_type() != "complete" => Ok(result),
            Ok(result) => {
                let result = self
                    .proven
                    .result(&request, prepared, result.into_json(), budget);
                result.map(CallToolResult::new).map_err(fault)
            }
            Err(error) => {
                let thrown = thrown::thrown(&error);
                let caught =
                    thrown.and_then(|one| self.proven.caught(&request, prepared, &one, budget));
                Err(caught.map_or(error, fault))
            }
        }
    }
}
