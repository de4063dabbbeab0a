//! Checks the arguments and runs the expressions of a call: here if that is quick, or else on a thread that may block.

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock},
};

use mcp_servlet_bundle::{
    Budget, CheckArguments, Prepared, Proven, Refused, Request, RpcError, Session, Thrown,
};
use mcp_servlet_runtime::{CallError, JsonObject, RequestMeta, processors, run_blocking};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::thrown;
use crate::CallToolResult;

/// The beginning of keys of `_meta` that belong to the host.
const OWN: &str = "mcp-servlet/";

/// Checks and expressions that are not quick take turns, so that each gets a processor for the time that it may take.
static TURNS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(processors()));

/// What expressions see of a request in addition to its arguments.
#[derive(Clone, Default)]
pub(super) struct RequestView {
    meta: JsonObject,
    session: Session,
}

impl RequestView {
    pub(super) fn of(request_meta: &RequestMeta) -> Self {
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

/// What the handler returned.
pub(super) enum Outcome {
    /// A complete result.
    Result(JsonObject),
    /// A failure that catches can handle, and the error that it is made of.
    Failure(Thrown, CallError),
}

/// The mapped result or failure; `None` if it passes unchanged.
pub(super) type Mapped = Option<Result<JsonObject, RpcError>>;

/// A call of a virtual tool.
#[derive(Clone)]
pub(super) struct Mapping<'a> {
    pub(super) proven: Cow<'a, Arc<Proven>>,
    pub(super) arguments: Option<Cow<'a, JsonObject>>,
    pub(super) seen: Cow<'a, RequestView>,
    pub(super) checks: CheckArguments,
}

impl Mapping<'_> {
    /// The arguments of the handler.
    pub(super) fn prepare(&self, budget: &mut Budget) -> Result<Prepared, Refused> {
        self.proven.prepare(&self.request(), self.checks, budget)
    }

    /// Like [`prepare`](Self::prepare), without blocking this thread.
    pub(super) async fn prepare_async(&self, budget: &mut Budget) -> Result<Prepared, Refused> {
        let checks = self.checks != CheckArguments::Off;
        let is_quick = !(checks && self.proven.takes_long(self.arguments.as_deref()));
        if is_quick && let Some(prepared) = budget.attempt(|budget| self.prepare(budget)) {
            return prepared;
        }
        let call = self.to_owned();
        on_thread(budget, move |budget| call.prepare(budget)).await
    }

    /// What the client gets instead of the outcome.
    pub(super) fn finish(
        &self,
        prepared: &Prepared,
        outcome: &Outcome,
        budget: &mut Budget,
    ) -> Mapped {
        let request = self.request();
        match outcome {
            Outcome::Result(result) => {
                let result = self.proven.result(&request, prepared, result, budget);
                result.transpose()
            }
            Outcome::Failure(thrown, _) => {
                let caught = self.proven.caught(&request, prepared, thrown, budget);
                caught.map(Err)
            }
        }
    }

    /// Like [`finish`](Self::finish), without blocking this thread.
    pub(super) async fn finish_async(
        &self,
        prepared: Prepared,
        outcome: Outcome,
        budget: &mut Budget,
    ) -> (Mapped, Outcome) {
        if let Some(mapped) = budget.attempt(|budget| self.finish(&prepared, &outcome, budget)) {
            return (mapped, outcome);
        }
        let call = self.to_owned();
        on_thread(budget, move |budget| {
            (call.finish(&prepared, &outcome, budget), outcome)
        })
        .await
    }

    fn request(&self) -> Request<'_> {
        Request {
            name: self.proven.tool().name(),
            arguments: self.arguments.as_deref(),
            meta: &self.seen.meta,
            session: &self.seen.session,
        }
    }

    fn to_owned(&self) -> Mapping<'static> {
        let arguments = self.arguments.as_ref();
        Mapping {
            proven: Cow::Owned(Arc::clone(&self.proven)),
            arguments: arguments.map(|arguments| Cow::Owned(arguments.clone().into_owned())),
            seen: Cow::Owned(self.seen.clone().into_owned()),
            checks: self.checks,
        }
    }
}

impl Outcome {
    /// The outcome, unless it passes unchanged: a request for input, or an error that catches do not see.
    pub(super) fn of(
        result: Result<CallToolResult, CallError>,
    ) -> Result<Self, Result<CallToolResult, CallError>> {
        match result {
            Ok(result) if result.result_type() != "complete" => Err(Ok(result)),
            Ok(result) => Ok(Self::Result(result.into_json())),
            Err(error) => match thrown::thrown(&error) {
                Some(thrown) => Ok(Self::Failure(thrown, error)),
                None => Err(Err(error)),
            },
        }
    }
}

/// Runs expressions on a thread that may block.
async fn on_thread<T: Send + 'static>(
    budget: &mut Budget,
    run: impl FnOnce(&mut Budget) -> T + Send + 'static,
) -> T {
    let turn = TURNS.acquire().await;
    let mut left = *budget;
    let done = run_blocking(move || {
        let _turn = turn;
        let value = run(&mut left);
        (value, left)
    });
    let (value, left) = done.await.expect("checks and expressions do not panic");
    *budget = left;
    value
}
