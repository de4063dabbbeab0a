//! A call of a virtual tool.

use std::{borrow::Cow, time::Duration};

use mcp_servlet_bundle::{Budget, Prepared, Refused};
use mcp_servlet_runtime::{
    CallError, CallErrorKind, CheckArguments, JsonObject, RemoteFailure, RequestMeta,
    UnknownArguments,
};

use super::{
    Served,
    mapping::{Mapped, Mapping, Outcome, RequestView},
    thrown,
};
use crate::CallToolResult;

impl Served {
    /// Calls the member and waits for the result. The tool's own `timeout` only applies to
    /// [`call_with`](Self::call_with).
    pub(in crate::host) fn call(
        &self,
        arguments: Option<&JsonObject>,
    ) -> Result<CallToolResult, CallError> {
        let seen = RequestView::default();
        let mapping = self.mapping(arguments, &seen);
        let mut budget = Budget::default();
        let prepared = match self.prepared(mapping.prepare(&mut budget))? {
            Ok(prepared) => prepared,
            Err(refused) => return Ok(refused),
        };
        let tool = &self.proven.tool().handler().tool;
        let result = self.handler.call(tool, prepared.arguments.as_ref());
        let outcome = match Outcome::of(result) {
            Ok(outcome) => outcome,
            Err(unchanged) => return unchanged,
        };
        let mapped = mapping.finish(&prepared, &outcome, &mut budget);
        self.finished(mapped, outcome)
    }

    /// Calls the member. Expressions that are not quick run on another thread.
    pub(in crate::host) async fn call_with(
        &self,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<CallToolResult, CallError> {
        let seen = if self.proven.reads_client() {
            RequestView::of(request_meta)
        } else {
            RequestView::default()
        };
        let mapping = self.mapping(arguments, &seen);
        let mut budget = Budget::default();
        let prepared = mapping.prepare_async(&mut budget).await;
        let prepared = match self.prepared(prepared)? {
            Ok(prepared) => prepared,
            Err(refused) => return Ok(refused),
        };
        if let Some(guard) = &request_meta.guard
            && let Err(denied) = guard.may_begin(prepared.given())
        {
            return Ok(CallToolResult::denied(denied));
        }
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
        let outcome = match Outcome::of(result) {
            Ok(outcome) => outcome,
            Err(unchanged) => return unchanged,
        };
        let (mapped, outcome) = mapping.finish_async(prepared, outcome, &mut budget).await;
        self.finished(mapped, outcome)
    }

    fn timeout(&self, limit: Duration) -> CallError {
        let name = self.handler.name();
        if let Some(servlet) = self.handler.as_servlet() {
            return CallErrorKind::Timeout { limit }.at(name, Some(servlet.abi().call_tool()));
        }
        let failure = RemoteFailure::TimedOut { limit };
        CallErrorKind::Remote { failure }.at(name, Some("tools/call"))
    }

    fn mapping<'a>(
        &'a self,
        arguments: Option<&'a JsonObject>,
        seen: &'a RequestView,
    ) -> Mapping<'a> {
        Mapping {
            proven: Cow::Borrowed(&self.proven),
            arguments: arguments.map(|arguments| self.known_arguments(arguments)),
            seen: Cow::Borrowed(seen),
            checks: self.checks(),
        }
    }

    fn checks(&self) -> CheckArguments {
        let servlet = self.handler.as_servlet();
        let checks = servlet.map(|servlet| servlet.options().arguments);
        checks.unwrap_or_default()
    }

    /// The arguments with which a call runs, or a message for the model.
    pub(in crate::host) fn accepted(
        &self,
        arguments: &JsonObject,
    ) -> Result<Option<JsonObject>, String> {
        let arguments = self.known_arguments(arguments);
        self.proven.accepted(Some(&arguments), self.checks())
    }

    /// The arguments without those that the schema does not have, if the handler's servlet drops these.
    fn known_arguments<'a>(&self, arguments: &'a JsonObject) -> Cow<'a, JsonObject> {
        let arguments = self.tool.arguments(arguments);
        if !self.drops_unknown() {
            return arguments;
        }
        match arguments {
            Cow::Borrowed(arguments) => self.proven.schemas().without_unknown(arguments),
            Cow::Owned(arguments) => {
                let known = self.proven.schemas().without_unknown(&arguments);
                Cow::Owned(known.into_owned())
            }
        }
    }

    /// How many of these arguments a call would drop.
    pub(in crate::host) fn count_dropped(&self, arguments: &JsonObject) -> usize {
        if !self.drops_unknown() {
            return 0;
        }
        let arguments = self.tool.arguments(arguments);
        self.proven.schemas().unknown(&arguments).count()
    }

    fn drops_unknown(&self) -> bool {
        let servlet = self.handler.as_servlet();
        servlet.is_some_and(|servlet| servlet.options().unknown == UnknownArguments::Drop)
    }

    /// The arguments of the handler, or an error result for the model.
    fn prepared(
        &self,
        prepared: Result<Prepared, Refused>,
    ) -> Result<Result<Prepared, CallToolResult>, CallError> {
        match prepared {
            Ok(prepared) => Ok(Ok(prepared)),
            Err(Refused::Arguments(text)) => Ok(Err(CallToolResult::error(text))),
            Err(Refused::Error(error)) => Err(thrown::error(self.handler.name(), error)),
        }
    }

    /// What the client gets: the mapped outcome, or the one of the handler.
    fn finished(&self, mapped: Mapped, outcome: Outcome) -> Result<CallToolResult, CallError> {
        match (mapped, outcome) {
            (Some(Ok(result)), _) | (None, Outcome::Result(result)) => {
                Ok(CallToolResult::new(result))
            }
            (Some(Err(error)), _) => Err(thrown::error(self.handler.name(), error)),
            (None, Outcome::Failure(_, error)) => Err(error),
        }
    }
}
