//! Keeps the text of results as the server wrote it.
//!
//! rmcp runs the protocol, but its types drop members that they do not know, and one entry that does not fit spoils a
//! whole list (<https://github.com/modelcontextprotocol/rust-sdk/issues/1242>). So requests of this crate carry a [`Slot`]. At the transport, the text of the response goes into the
//! slot, and rmcp gets an empty result. rmcp reads the results of `initialize` and `server/discover` itself; their text is
//! kept too.

mod cancelled;
mod slot;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetExtensions as _, GetMeta as _, ProgressToken,
    RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::broadcast;
use tokio::sync::mpsc::error::TrySendError;

use self::cancelled::Cancelled;
pub(crate) use self::slot::{Reply, Slot, SlotExtension};
use crate::error::Error;
use crate::events::Event;
use crate::message::{cancelled_id, is_initialized, request_id};
use crate::progress::Progress;
use crate::quote::start;

/// How many lines are kept that are not messages.
const IGNORED_LINES: usize = 3;
/// How much of such a line is kept, in characters.
const IGNORED_LENGTH: usize = 200;
/// How many events wait for a reader that is slow. Then the oldest are dropped.
const EVENTS: usize = 1024;

/// Notifications that only rmcp needs.
const OF_THE_PROTOCOL: [&str; 2] = [
    "notifications/cancelled",
    "notifications/subscriptions/acknowledged",
];

/// What waits for the response to a request.
#[derive(Debug)]
pub(crate) enum Waiter {
    /// A caller of this crate, such as [`Session::call`](crate::Session::call).
    Caller,
    /// The handshake, without which there is no session.
    Opening,
}

/// A message, as far as the tap reads it.
#[derive(Deserialize)]
struct Message {
    id: Option<RequestId>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    error: Option<Box<RawValue>>,
}

/// The requests that wait for a response, and what is known about the connection.
#[derive(Debug)]
pub(crate) struct Tap {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<RequestId, Waiting>,
    /// Receives notifications. None after the end of the connection, so that receivers end as well.
    events: Option<broadcast::Sender<Event>>,
    /// The result of `initialize` or `server/discover`, until the session is open.
    opening: Option<Box<RawValue>>,
    is_open: bool,
    /// Why the connection ended, or why it could not be opened.
    failure: Option<Error>,
    ignored: Vec<String>,
    /// The probes that rmcp has given up. It takes a late answer to one for the answer to the handshake.
    given_up: Vec<RequestId>,
    cancelled: Cancelled,
}

/// What rmcp shall read of a message.
pub(crate) enum Received<'a> {
    /// All of it.
    Text(&'a str),
    /// A response without content to this request, because the caller has the text.
    Empty(RequestId),
}

impl Received<'_> {
    /// The message for rmcp.
    pub(crate) fn message(self) -> serde_json::Result<ServerJsonRpcMessage> {
        match self {
            Self::Text(text) => serde_json::from_str(text),
            Self::Empty(id) => Ok(ServerJsonRpcMessage::response(ServerResult::empty(()), id)),
        }
    }

    /// The message as JSON.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text.to_owned(),
            Self::Empty(id) => {
                let id = serde_json::to_string(&id).expect("an id is JSON");
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
            }
        }
    }
}

/// What rmcp gets of a response.
enum Passed {
    All,
    Empty,
    Nothing,
}

#[derive(Debug)]
enum Waiting {
    Caller(Weak<Slot>, Option<ProgressToken>),
    /// rmcp itself opens the connection.
    Opening,
    /// rmcp itself opens a new session, because the server has forgotten the previous one.
    Renewal,
}

impl Tap {
    pub(crate) fn new() -> Arc<Self> {
        let state = State {
            events: Some(broadcast::Sender::new(EVENTS)),
            ..State::default()
        };
        Arc::new(Self {
            state: Mutex::new(state),
        })
    }

    /// Notes a message that is about to be sent.
    pub(crate) fn sent(&self, message: &ClientJsonRpcMessage) {
        if let Some(id) = cancelled_id(message) {
            self.state().waiting.remove(id);
        }
        let ClientJsonRpcMessage::Request(request) = message else {
            return;
        };
        let waiting = match &request.request {
            ClientRequest::InitializeRequest(_) => self.state().start_handshake(),
            ClientRequest::DiscoverRequest(_) => Waiting::Opening,
            request => {
                let Some(SlotExtension(slot)) = request.extensions().get() else {
                    return;
                };
                let token = request.get_meta().get_progress_token();
                Waiting::Caller(Arc::downgrade(slot), token)
            }
        };
        self.state().waiting.insert(request.id.clone(), waiting);
    }

    /// Notes that the server has accepted a message.
    pub(crate) fn accepted(&self, message: &ClientJsonRpcMessage) {
        if is_initialized(message) {
            self.state().finish_handshake();
        }
    }

    /// Takes what callers wait for out of a message, and returns what rmcp shall read, if anything.
    pub(crate) fn received<'a>(&self, text: &'a str) -> Option<Received<'a>> {
        let all = Some(Received::Text(text));
        let Ok(message) = serde_json::from_str(text) else {
            return all;
        };
        let (id, reply) = match message {
            Message {
                id: Some(id),
                result: Some(result),
                ..
            } => (id, Reply::Result(result)),
            Message {
                id: Some(id),
                error: Some(error),
                ..
            } => (id, Reply::Error(error)),
            Message {
                id: None,
                method: Some(method),
                params,
                ..
            } => {
                self.notified(method, params.as_deref());
                return all;
            }
            _ => return all,
        };
        match self.answered(&id, reply) {
            Passed::All => all,
            Passed::Empty => Some(Received::Empty(id)),
            Passed::Nothing => None,
        }
    }

    /// Passes a reply to its request.
    fn answered(&self, id: &RequestId, reply: Reply) -> Passed {
        let mut state = self.state();
        match state.remove(id) {
            Some(Waiting::Caller(slot, _)) => {
                let slot = slot.upgrade();
                let is_shared = slot.as_ref().is_some_and(|slot| slot.shared);
                let has_result = matches!(reply, Reply::Result(_));
                if let Some(slot) = slot {
                    slot.fill(reply);
                }
                if is_shared && has_result {
                    Passed::All
                } else {
                    Passed::Empty
                }
            }
            Some(Waiting::Opening) => {
                if let Reply::Result(result) = reply {
                    state.opening = Some(result);
                }
                Passed::All
            }
            Some(Waiting::Renewal) => Passed::All,
            None if state.given_up.contains(id) => Passed::Nothing,
            None => {
                state.cancelled.remove(id);
                Passed::All
            }
        }
    }

    /// Passes a notification on, in the order in which it arrived.
    fn notified(&self, method: String, params: Option<&RawValue>) {
        let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let params: Value = params.unwrap_or_default();
        let is_protocol = OF_THE_PROTOCOL.contains(&method.as_str());
        if is_protocol || (method == "notifications/progress" && self.progressed(&params)) {
            return;
        }
        self.state().report(Event::new(method, params));
    }

    /// Notes why a message could not be sent or answered, and returns what still waits for the response. The transport tells
    /// rmcp, which wakes the caller.
    pub(crate) fn failed(&self, message: &ClientJsonRpcMessage, error: Error) -> Option<Waiter> {
        let mut state = self.state();
        match state.waiting.remove(request_id(message)?)? {
            Waiting::Caller(slot, _) => {
                if let Some(slot) = slot.upgrade() {
                    slot.fill(Reply::Failed(error));
                }
                Some(Waiter::Caller)
            }
            Waiting::Opening => {
                state.failure = Some(error);
                Some(Waiter::Opening)
            }
            // The request that the server refused gets the error.
            Waiting::Renewal => None,
        }
    }

    /// Ends a request whose response cannot be read. rmcp may try to read it again until the request is cancelled.
    pub(crate) fn stop_reading(&self, id: &RequestId, error: Error) {
        let waiting = self.state().waiting.remove(id);
        if let Some(Waiting::Caller(slot, _)) = waiting
            && let Some(slot) = slot.upgrade()
        {
            slot.fill(Reply::Failed(error));
            slot.failed.notify_one();
        }
    }

    /// Forgets a request whose caller waits no more.
    pub(crate) fn forget(&self, id: &RequestId) {
        self.state().waiting.remove(id);
    }

    /// Forgets a request that is cancelled.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let mut state = self.state();
        state.waiting.remove(id);
        state.cancelled.add(id);
    }

    /// Notes that the response stream of a cancelled request is not read any more.
    pub(crate) fn unread(&self, id: &RequestId) {
        self.state().cancelled.unread(id, Instant::now());
    }

    /// Notes that the server has a stream for messages that belong to no request.
    pub(crate) fn common_stream_opened(&self) {
        self.state().cancelled.has_common_stream = true;
    }

    /// Whether the server may still send something that belongs to a request that was cancelled.
    pub(crate) fn has_cancelled(&self) -> bool {
        !self.state().cancelled.is_empty(Instant::now())
    }

    /// Passes progress to the request that it belongs to. Returns whether there is one.
    fn progressed(&self, params: &Value) -> bool {
        let token = serde_json::from_value::<ProgressToken>(params["progressToken"].clone());
        let (Ok(token), Some(progress)) = (token, Progress::new(params)) else {
            return false;
        };
        let state = self.state();
        let mut slots = state.waiting.values().filter_map(|waiting| match waiting {
            Waiting::Caller(slot, Some(its)) if *its == token => slot.upgrade(),
            _ => None,
        });
        let slot = slots.next();
        let sender = slot.as_ref().and_then(|slot| slot.progress.as_ref());
        // Reports that do not fit are dropped, because later ones replace them.
        sender.is_some_and(|sender| {
            !matches!(sender.try_send(progress), Err(TrySendError::Closed(_)))
        })
    }

    /// Notes why the connection ended. The first reason counts. Receivers of events end.
    pub(crate) fn ended(&self, error: Error) {
        let mut state = self.state();
        state.failure.get_or_insert(error);
        state.events = None;
    }

    /// Whether the connection has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.state().events.is_none()
    }

    /// Why the connection ended.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.state().failure.clone()
    }

    /// Keeps a line that is not a message, for error messages.
    pub(crate) fn ignore_line(&self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        tracing::debug!(%line, "line ignored, because it is not a JSON-RPC message");
        let mut state = self.state();
        if state.ignored.len() < IGNORED_LINES {
            state.ignored.push(start(line.trim(), IGNORED_LENGTH));
        }
    }

    /// The first lines that were not messages.
    pub(crate) fn ignored_lines(&self) -> Vec<String> {
        self.state().ignored.clone()
    }

    /// The result of `initialize` or `server/discover`, once the connection is open.
    pub(crate) fn opening(&self) -> Option<Box<RawValue>> {
        let mut state = self.state();
        // A probe without an answer is forgotten.
        state.waiting.clear();
        state.is_open = true;
        state.opening.take()
    }

    /// The notifications that arrive from now on. After the end of the connection, none.
    pub(crate) fn events(&self) -> broadcast::Receiver<Event> {
        match &self.state().events {
            Some(events) => events.subscribe(),
            None => broadcast::channel(1).1,
        }
    }

    /// The number of requests without a response yet.
    pub(crate) fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    /// Notes that rmcp sends `initialize`.
    fn start_handshake(&mut self) -> Waiting {
        if self.is_open {
            return Waiting::Renewal;
        }
        self.give_up_probes();
        Waiting::Opening
    }

    /// Notes that the server has accepted `notifications/initialized`. If the session is open already, this is a new one.
    fn finish_handshake(&mut self) {
        if self.is_open {
            self.cancelled.clear();
            self.report(Event::SessionRenewed);
        }
    }

    fn report(&self, event: Event) {
        if let Some(events) = &self.events {
            // An error means that there is no receiver.
            let _ = events.send(event);
        }
    }

    fn give_up_probes(&mut self) {
        let is_probe = |_: &RequestId, waiting: &mut Waiting| matches!(waiting, Waiting::Opening);
        let probes = self.waiting.extract_if(is_probe);
        self.given_up.extend(probes.map(|(id, _)| id));
    }

    /// The request that a response with this id belongs to. As in rmcp, `"7"` answers `7`.
    fn remove(&mut self, id: &RequestId) -> Option<Waiting> {
        let found = self.waiting.remove(id);
        found.or_else(|| match id {
            RequestId::String(text) => {
                let number = text.parse().ok()?;
                self.waiting.remove(&RequestId::Number(number))
            }
            RequestId::Number(_) => None,
        })
    }
}

/// A member that is there, even if it is `null`.
fn present<'de, D>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Deserialize::deserialize(deserializer).map(Some)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
