//! Calls that wait for an answer of the client.
//!
//! A server up to 2025-11-25 asks while a call runs. The host answers its own client with a result that asks for input, as
//! servers do since 2026-07-28, and the client's answer arrives with another call. In between, the call waits here.
//!
//! See `docs/decisions/0057-questions-wait-in-parked-calls.md`.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use mcp_servlet_call::{INPUT_REQUIRED, JsonObject, RELAYED_REQUEST, RequestMeta};
use mcp_servlet_common::lock;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

use crate::connection::Connection;
use crate::running::RunningCall;

/// What begins the state of a call that waits in any process.
const PREFIX: &str = "mcp-servlet-remote:";
/// A random number of this process, which the state has next.
static PROCESS: LazyLock<String> = LazyLock::new(|| {
    let number = getrandom::u64().expect("the system has randomness");
    format!("{number:016x}")
});
/// How many calls may wait.
const MAX_PARKED_CALLS: usize = 1000;

/// Calls that wait for an answer of the client, by a random id.
#[derive(Debug, Default)]
pub(crate) struct Parked(Mutex<HashMap<String, Waiting>>);

#[derive(Debug)]
struct Waiting {
    connection: Arc<Connection>,
    call: RunningCall,
    reply: oneshot::Sender<Value>,
    /// The task that ends the wait.
    expiry: Option<AbortOnDropHandle<Option<()>>>,
}

/// What the caller says about a call that waits.
pub(crate) enum Resumed {
    /// It is a new call.
    New,
    /// The call goes on.
    Call(Arc<Connection>, RunningCall),
    /// There is no such call any more.
    Gone,
    /// Another process has the call.
    Elsewhere,
}

impl Parked {
    /// Keeps a call until it is resumed, and returns its id. None if too many calls wait.
    pub(crate) fn keep(
        &self,
        connection: Arc<Connection>,
        call: RunningCall,
        reply: oneshot::Sender<Value>,
    ) -> Option<String> {
        let id = format!(
            "{:016x}{:016x}",
            getrandom::u64().ok()?,
            getrandom::u64().ok()?
        );
        let mut waiting = self.waiting();
        if waiting.len() >= MAX_PARKED_CALLS {
            return None;
        }
        waiting.insert(
            id.clone(),
            Waiting {
                connection,
                call,
                reply,
                expiry: None,
            },
        );
        Some(id)
    }

    /// The call that a request continues. The server gets the client's answer.
    pub(crate) fn resume(&self, request_meta: &RequestMeta) -> Resumed {
        let state = request_meta.request_state.as_deref();
        let Some(place) = state.and_then(|state| state.strip_prefix(PREFIX)) else {
            return Resumed::New;
        };
        let Some(id) = place.strip_prefix(PROCESS.as_str()) else {
            return Resumed::Elsewhere;
        };
        let Some(waiting) = self.waiting().remove(id) else {
            return Resumed::Gone;
        };
        let Waiting {
            connection,
            mut call,
            reply,
            expiry: _,
        } = waiting;
        call.forget_events(&connection);
        let responses = request_meta.input_responses.as_ref();
        if let Some(answer) = responses.and_then(|responses| responses.get(RELAYED_REQUEST)) {
            // An error means that the server waits no more. Then the call ends by itself.
            let _ = reply.send(answer.clone());
        }
        Resumed::Call(connection, call)
    }

    /// Sets the task that ends the wait of a call.
    pub(crate) fn expire_with(&self, id: &str, expiry: AbortOnDropHandle<Option<()>>) {
        match self.waiting().get_mut(id) {
            Some(waiting) => waiting.expiry = Some(expiry),
            // The task has already taken the call, and ends it.
            None => drop(expiry.detach()),
        }
    }

    /// Takes a call out that still waits. Its question is refused.
    pub(crate) fn expire(&self, id: &str) -> Option<RunningCall> {
        let waiting = self.waiting().remove(id)?;
        // Otherwise the task that calls this would end itself.
        waiting.expiry.map(AbortOnDropHandle::detach);
        Some(waiting.call)
    }

    /// Ends all calls that wait.
    pub(crate) fn clear(&self) {
        self.waiting().clear();
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        lock(&self.0)
    }
}

/// The result that asks the client.
pub(crate) fn input_required(id: &str, method: &str, params: Value) -> JsonObject {
    let mut request = json!({ "method": method });
    if method != "roots/list" {
        request["params"] = params;
    }
    JsonObject::from_iter([
        ("resultType".to_owned(), INPUT_REQUIRED.into()),
        (
            "inputRequests".to_owned(),
            json!({ RELAYED_REQUEST: request }),
        ),
        (
            "requestState".to_owned(),
            format!("{PREFIX}{}{id}", *PROCESS).into(),
        ),
    ])
}
