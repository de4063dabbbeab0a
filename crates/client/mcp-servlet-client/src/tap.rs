//! Keeps the text of results as the server wrote it.
//!
//! rmcp runs the protocol, but its types drop members that they do not know, and one entry that does not fit spoils a
//! whole list (<https://github.com/modelcontextprotocol/rust-sdk/issues/1242>). So requests of this crate carry a [`Slot`]. At the transport, the text of the response goes into the
//! slot, and rmcp gets an empty result. rmcp reads the results of `initialize` and `server/discover` itself; their text is
//! kept too.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions as _, GetMeta as _,
    ProgressToken, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc::{Sender, error::TrySendError};
use tokio::sync::{Notify, broadcast};

use crate::error::Error;
use crate::events::Event;
use crate::progress::Progress;
use crate::quote::start;

/// How many lines are kept that are not messages.
const IGNORED_LINES: usize = 3;
/// How much of such a line is kept, in characters.
const IGNORED_LENGTH: usize = 200;
/// How many events wait for a reader that is slow. Then the oldest are dropped.
const EVENTS: usize = 1024;

/// How many cancelled requests are kept.
const CANCELLED: usize = 1024;

/// Notifications that only rmcp needs.
const OF_THE_PROTOCOL: [&str; 2] = [
    "notifications/cancelled",
    "notifications/subscriptions/acknowledged",
];

/// What a request got.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The result, as the server wrote it.
    Result(Box<RawValue>),
    /// The error, as the server wrote it.
    Error(Box<RawValue>),
    /// The transport could not get a response.
    Failed(Error),
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

/// A place for the reply to one request.
#[derive(Debug)]
pub(crate) struct Slot {
    reply: Mutex<Option<Reply>>,
    /// Wakes the caller when the transport fails. Otherwise rmcp wakes it.
    pub(crate) failed: Notify,
    /// Whether rmcp gets the result as well.
    pub(crate) shared: bool,
    /// Receives progress.
    pub(crate) progress: Option<Sender<Progress>>,
}

/// What the extensions of a request contain.
#[derive(Clone, Debug)]
pub(crate) struct SlotExtension(pub(crate) Arc<Slot>);

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
    /// The result of `initialize` or `server/discover`.
    opening: Option<Box<RawValue>>,
    /// Why the connection ended, or why it could not be opened.
    failure: Option<Error>,
    ignored: Vec<String>,
    /// The probes that rmcp has given up. It takes a late answer to one for the answer to the handshake.
    given_up: Vec<RequestId>,
    /// The requests that were cancelled, and that the server has not answered.
    cancelled: HashSet<RequestId>,
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
}

impl Slot {
    pub(crate) fn new(shared: bool, progress: Option<Sender<Progress>>) -> Arc<Self> {
        Arc::new(Self {
            reply: Mutex::default(),
            failed: Notify::new(),
            shared,
            progress,
        })
    }

    pub(crate) fn take(&self) -> Option<Reply> {
        lock(&self.reply).take()
    }

    fn fill(&self, reply: Reply) {
        lock(&self.reply).get_or_insert(reply);
    }

    fn fail(&self, error: Error) {
        self.fill(Reply::Failed(error));
        self.failed.notify_one();
    }
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
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let waiting = match &request.request {
                    ClientRequest::InitializeRequest(_) => {
                        self.state().give_up_probes();
                        Waiting::Opening
                    }
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
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.state().waiting.remove(id);
                }
            }
            _ => {}
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
        if let Some(events) = &self.state().events {
            // An error means that there is no receiver.
            let _ = events.send(Event::new(method, params));
        }
    }

    /// Notes why a message could not be sent or answered. Returns whether a caller waits for the response.
    pub(crate) fn failed(&self, message: &ClientJsonRpcMessage, error: Error) -> bool {
        let mut state = self.state();
        let waiting = match message {
            ClientJsonRpcMessage::Request(request) => state.waiting.remove(&request.id),
            _ => None,
        };
        match waiting {
            Some(Waiting::Caller(slot, _)) => {
                if let Some(slot) = slot.upgrade() {
                    slot.fail(error);
                }
                true
            }
            Some(Waiting::Opening) => {
                state.failure = Some(error);
                false
            }
            None => false,
        }
    }

    /// Notes why a message could not be answered, if only its id is known.
    pub(crate) fn failed_id(&self, id: &RequestId, error: Error) {
        let waiting = self.state().waiting.remove(id);
        if let Some(Waiting::Caller(slot, _)) = waiting
            && let Some(slot) = slot.upgrade()
        {
            slot.fail(error);
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
        // A server that answers none of so many requests is not worth more memory.
        if state.cancelled.len() < CANCELLED {
            state.cancelled.insert(id.clone());
        }
    }

    /// Whether the server may still work on a request that was cancelled.
    pub(crate) fn has_cancelled(&self) -> bool {
        !self.state().cancelled.is_empty()
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
