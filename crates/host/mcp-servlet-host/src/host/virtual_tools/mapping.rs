//! Runs the expressions of a call: here if that is quick, or else on a thread that may block.

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock},
};

use mcp_servlet_bundle::{Budget, Proven, Request, RpcError, Session, Thrown};
use mcp_servlet_call::{CallError, JsonObject, RequestMeta};
use mcp_servlet_runtime::{processors, run_blocking};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::thrown;
use crate::{CallToolResult, ReadResourceResult};

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
        let id = meta
            .get("mcp-servlet/session")
            .and_then(|session| session.get("id").unwrap_or(session).as_str());
        let session = Session {
            id: id.unwrap_or_default().to_owned(),
            client_info: object("clientInfo"),
            capabilities: object("clientCapabilities"),
        };
        meta.retain(|key, _| !key.starts_with(OWN));
        Self { meta, session }
    }

    /// For the state between two requests of a call.
    pub(super) fn to_json(&self) -> Value {
        let Self { meta, session } = self;
        json!({
            "meta": meta,
            "id": session.id,
            "client_info": session.client_info,
            "capabilities": session.capabilities,
        })
    }

    pub(super) fn of_json(json: &Value) -> Option<Self> {
        let object = |key: &str| json[key].as_object().cloned();
        Some(Self {
            meta: object("meta")?,
            session: Session {
                id: json["id"].as_str()?.to_owned(),
                client_info: object("client_info")?,
                capabilities: object("capabilities")?,
            },
        })
    }
}

/// What a handler returned.
pub(super) enum Outcome {
    /// A complete result.
    Result(JsonObject),
    /// A failure that catches can handle, and the error that it is made of.
    Failure(Thrown, CallError),
    /// It needs input from the client.
    InputRequired(CallToolResult),
    /// An error that catches do not see.
    Error(CallError),
}

/// The mapped result or failure; `None` if it passes unchanged.
pub(super) type Mapped = Option<Result<JsonObject, RpcError>>;

/// What the expressions of a call see.
#[derive(Clone)]
pub(super) struct Mapping<'a> {
    pub(super) proven: &'a Arc<Proven>,
    /// The arguments, as the schema accepted them.
    pub(super) arguments: Option<Arc<JsonObject>>,
    pub(super) seen: Cow<'a, RequestView>,
}

/// Makes a value from a state `S`.
type Task<S, T> = fn(&Proven, &Request<'_>, &S, &mut Budget) -> T;

impl Mapping<'_> {
    /// Runs expressions, and returns their value and the state.
    pub(super) async fn evaluate<S: Send + 'static, T: Send + 'static>(
        &self,
        budget: &mut Budget,
        state: S,
        task: Task<S, T>,
    ) -> (T, S) {
        let request = request_of(self.proven, self.arguments.as_deref(), &self.seen);
        let quick = budget.attempt(|budget| task(self.proven, &request, &state, budget));
        if let Some(value) = quick {
            return (value, state);
        }
        let (proven, arguments) = (Arc::clone(self.proven), self.arguments.clone());
        let seen = self.seen.clone().into_owned();
        on_thread(budget, move |budget| {
            let request = request_of(&proven, arguments.as_deref(), &seen);
            (task(&proven, &request, &state, budget), state)
        })
        .await
    }
}

fn request_of<'a>(
    proven: &'a Proven,
    arguments: Option<&'a JsonObject>,
    seen: &'a RequestView,
) -> Request<'a> {
    Request {
        name: proven.tool().name(),
        arguments,
        meta: &seen.meta,
        session: &seen.session,
    }
}

impl Outcome {
    pub(super) fn of_call(result: Result<CallToolResult, CallError>) -> Self {
        match result {
            Ok(result) if result.result_type() != "complete" => Self::InputRequired(result),
            Ok(result) => Self::Result(result.into_json()),
            Err(error) => Self::of_error(error),
        }
    }

    pub(super) fn of_read(result: Result<ReadResourceResult, CallError>) -> Self {
        match result {
            Ok(result) if result.result_type() != "complete" => {
                Self::InputRequired(CallToolResult::new(result.into_json()))
            }
            Ok(result) => Self::Result(result.into_json()),
            Err(error) => Self::of_error(error),
        }
    }

    fn of_error(error: CallError) -> Self {
        match thrown::thrown(&error) {
            Some(thrown) => Self::Failure(thrown, error),
            None => Self::Error(error),
        }
    }

    pub(super) fn error(&self) -> Option<&CallError> {
        match self {
            Self::Result(_) | Self::InputRequired(_) => None,
            Self::Failure(_, error) | Self::Error(error) => Some(error),
        }
    }
}

/// Runs expressions on a thread that may block.
pub(super) async fn on_thread<T: Send + 'static>(
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
