//! Keeps the text of results as the server wrote it.
//!
//! rmcp runs the protocol, but its types drop members that they do not know, and one entry that does not fit spoils a
//! whole list (<https://github.com/modelcontextprotocol/rust-sdk/issues/1242>). So requests of this crate carry a [`Slot`]. At the transport, the text of the response goes into the
//! slot, and rmcp gets an empty result. rmcp reads the results of `initialize` and `server/discover` itself; their text is
//! kept too.

mod cancelled;
mod slot;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Instant;

use mcp_servlet_common::lock;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta as _, ProgressToken, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::broadcast;
use tokio::sync::mpsc::error::TrySendError;

use self::cancelled::Cancelled;
pub(crate) use self::slot::{Slot, SlotExtension, SlotReply};
use crate::error::Error;
use crate::events::Event;
use crate::incoming::{self, Mended, Message};
use crate::message::{cancelled_id, is_initialized, request_id};
use crate::progress::Progress;
use crate::quote::{start, without_escapes};

/// How many lines are kept that are not messages.
const MAX_IGNORED_LINES: usize = 3;
/// How much of such a line is kept, in characters.
const MAX_IGNORED_CHARS: usize = 200;
/// How many kinds of changes to messages are logged.
const MAX_LOGGED_CHANGES: usize = 100;
/// How many events wait for a reader that is slow. Then the oldest are dropped.
const EVENT_BUFFER: usize = 1024;

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

/// The requests that wait for a response, and what is known about the connection.
#[derive(Debug)]
pub(crate) struct Tap {
    server: String,
    state: Mutex<TapState>,
}

#[derive(Debug, Default)]
struct TapState {
    waiting: HashMap<RequestId, Waiting>,
    /// Receives notifications. None after the end of the connection, so that receivers end as well.
    events: Option<broadcast::Sender<Event>>,
    /// The result of `initialize` or `server/discover`, until the session is open.
    opening: Option<Box<RawValue>>,
    is_open: bool,
    /// Whether the session is one since 2026-07-28.
    is_stateless: bool,
    /// What is wrong with the result of the current handshake.
    flaw: Option<Error>,
    /// What was wrong with the result of `server/discover`, before the handshake that followed.
    flaw_of_probe: Option<Error>,
    /// The changes to messages that the log has.
    mended: HashSet<(&'static str, String)>,
    /// Why the connection ended, or why it could not be opened.
    failure: Option<Error>,
    ignored: Vec<String>,
    last_ignored: Option<String>,
    /// The probes that rmcp has given up. It takes a late answer to one for the answer to the handshake.
    given_up: Vec<RequestId>,
    /// Whether the server has accepted one of them.
    accepted_late: bool,
    cancelled: Cancelled,
}

/// What rmcp shall read of a message.
pub(crate) enum Received<'a> {
    /// All of it.
    Text(Cow<'a, str>),
    /// A response without content to this request, because the caller has the text.
    Empty(RequestId),
}

impl Received<'_> {
    /// The message for rmcp.
    pub(crate) fn message(self) -> serde_json::Result<ServerJsonRpcMessage> {
        match self {
            Self::Text(text) => serde_json::from_str(&text),
            Self::Empty(id) => Ok(ServerJsonRpcMessage::response(ServerResult::empty(()), id)),
        }
    }

    /// The message as JSON.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text.into_owned(),
            Self::Empty(id) => {
                let id = serde_json::to_string(&id).expect("an id is JSON");
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
            }
        }
    }
}

/// What rmcp gets of a message.
enum Passed {
    /// The text as it came.
    Original,
    Text(String),
    Empty(RequestId),
    Nothing,
}

impl Passed {
    /// A whole message.
    fn all(message: Message<'_>, mended: &Mended) -> Self {
        if mended.is_empty() {
            Self::Original
        } else {
            Self::Text(message.to_text())
        }
    }
}

#[derive(Debug)]
enum Waiting {
    Caller(Weak<Slot>, Option<ProgressToken>, String),
    /// rmcp itself opens the connection with this method.
    Opening(&'static str),
    /// rmcp itself opens a new session, because the server has forgotten the previous one.
    Renewal,
}

impl Tap {
    /// `server` is what the log calls the server.
    pub(crate) fn new(server: &str) -> Arc<Self> {
        let state = TapState {
            events: Some(broadcast::Sender::new(EVENT_BUFFER)),
            ..TapState::default()
        };
        Arc::new(Self {
            server: server.to_owned(),
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
            ClientRequest::DiscoverRequest(_) => Waiting::Opening("server/discover"),
            ClientRequest::CustomRequest(request) => {
                let Some(SlotExtension(slot)) = request.extensions.get() else {
                    return;
                };
                let token = request.get_meta().get_progress_token();
                Waiting::Caller(Arc::downgrade(slot), token, request.method.clone())
            }
            _ => return,
        };
        self.state().waiting.insert(request.id.clone(), waiting);
    }

    /// Notes that the server has accepted a message.
    pub(crate) fn accepted(&self, message: &ClientJsonRpcMessage) {
        if is_initialized(message) {
            self.state().finish_handshake();
        }
    }

    /// Notes that the server has refused `notifications/initialized`, so that the handshake cannot end.
    pub(crate) fn not_accepted(&self, error: Error) {
        let mut state = self.state();
        if !state.is_open {
            let status = error
                .http_status()
                .map(|status| format!(" (HTTP {status})"));
            let error = error.with_message(&status.unwrap_or_default());
            state.failure = Some(error.during("notifications/initialized"));
        }
    }

    /// Takes what callers wait for out of a message, and returns what rmcp shall read, if anything. `post` is the request that
    /// the message answers because of where it came from.
    pub(crate) fn received<'a>(
        &self,
        bytes: &'a [u8],
        post: Option<&RequestId>,
    ) -> Option<Received<'a>> {
        let mut mended = Mended::default();
        let text = incoming::text(bytes, &mut mended);
        let passed = match Message::read(&text, post, &mut mended) {
            None => return Some(Received::Text(text)),
            Some(Message::Response { id, reply }) => self.answered(id, reply, &mut mended),
            Some(call) => {
                if let Message::Call {
                    id: None,
                    method,
                    params,
                } = &call
                {
                    self.notified(method, params.as_deref());
                }
                Passed::all(call, &mended)
            }
        };
        self.log(&mended);
        match passed {
            Passed::Original => Some(Received::Text(text)),
            Passed::Text(text) => Some(Received::Text(text.into())),
            Passed::Empty(id) => Some(Received::Empty(id)),
            Passed::Nothing => None,
        }
    }

    /// Passes a reply to its request.
    fn answered(
        &self,
        id: Option<RequestId>,
        reply: incoming::Reply<'_>,
        mended: &mut Mended,
    ) -> Passed {
        let mut state = self.state();
        let id = id.or_else(|| state.only_handshake());
        let Some(id) = id else {
            return Passed::all(Message::response(None, reply), mended);
        };
        let stateless = state.is_stateless;
        match state.remove(&id) {
            Some(Waiting::Caller(slot, _, method)) => {
                // Only results of handshakes can lack what MCP requires.
                let Ok(reply) = reply.mend_result(&method, stateless, mended) else {
                    return Passed::Empty(id);
                };
                let slot = slot.upgrade();
                let is_shared = slot.as_ref().is_some_and(|slot| slot.shared);
                let passed = match &reply {
                    incoming::Reply::Result(result) if is_shared => {
                        let result = incoming::Reply::Result(Cow::Borrowed(result));
                        Passed::all(Message::response(Some(id), result), mended)
                    }
                    _ => Passed::Empty(id),
                };
                if let Some(slot) = slot {
                    slot.fill(SlotReply::new(reply, mended));
                }
                passed
            }
            Some(Waiting::Opening(method)) => state.opened(id, method, reply, mended),
            Some(Waiting::Renewal) => {
                let reply = reply
                    .mend_result("initialize", false, mended)
                    .unwrap_or_else(Into::into);
                Passed::Text(Message::response(Some(id), reply).to_text())
            }
            None if state.given_up.contains(&id) => {
                state.accepted_late |= matches!(reply, incoming::Reply::Result(_));
                Passed::Nothing
            }
            None => {
                state.cancelled.remove(&id);
                Passed::all(Message::response(Some(id), reply), mended)
            }
        }
    }

    /// Logs what was mended, each kind of change once.
    fn log(&self, mended: &Mended) {
        if mended.is_empty() {
            return;
        }
        let mut state = self.state();
        for change in mended.changes() {
            let (what, at) = change.kind();
            if state.mended.len() < MAX_LOGGED_CHANGES && state.mended.insert((what, at.to_owned()))
            {
                let server = &*self.server;
                tracing::warn!(target: "mcp_servlet_client::mended", server, %change, "message of a server mended");
            }
        }
    }

    /// Passes a notification on, in the order in which it arrived.
    fn notified(&self, method: &str, params: Option<&RawValue>) {
        let params: Value = params
            .and_then(|params| serde_json::from_str(params.get()).ok())
            .unwrap_or_default();
        let is_protocol = OF_THE_PROTOCOL.contains(&method);
        if is_protocol || (method == "notifications/progress" && self.progressed(&params)) {
            return;
        }
        self.state().report(Event::new(method.to_owned(), params));
    }

    /// Notes why a message could not be sent or answered, and returns what still waits for the response. The transport tells
    /// rmcp, which wakes the caller.
    pub(crate) fn failed(&self, message: &ClientJsonRpcMessage, error: Error) -> Option<Waiter> {
        let mut state = self.state();
        match state.waiting.remove(request_id(message)?)? {
            Waiting::Caller(slot, ..) => {
                if let Some(slot) = slot.upgrade() {
                    slot.fill(SlotReply::Failed(error));
                }
                Some(Waiter::Caller)
            }
            Waiting::Opening(_) => {
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
        if let Some(Waiting::Caller(slot, ..)) = waiting
            && let Some(slot) = slot.upgrade()
        {
            slot.fill(SlotReply::Failed(error));
            slot.failed.notify_one();
        }
    }

    /// Ends the request whose response was skipped, and returns what rmcp gets instead.
    ///
    /// # Errors
    /// `error`, if no request waits for that response.
    pub(crate) fn skipped(
        &self,
        id: Option<RequestId>,
        error: Error,
    ) -> Result<ServerJsonRpcMessage, Error> {
        let mut state = self.state();
        let Some(id) = id.filter(|id| matches!(state.waiting.get(id), Some(Waiting::Caller(..))))
        else {
            return Err(error);
        };
        if let Some(Waiting::Caller(slot, ..)) = state.waiting.remove(&id)
            && let Some(slot) = slot.upgrade()
        {
            slot.fill(SlotReply::Failed(error));
        }
        Ok(ServerJsonRpcMessage::response(ServerResult::empty(()), id))
    }

    /// Ends all requests, because their responses cannot arrive any more.
    pub(crate) fn lost(&self, error: &Error) {
        let waiting = std::mem::take(&mut self.state().waiting);
        for waiting in waiting.into_values() {
            if let Waiting::Caller(slot, ..) = waiting
                && let Some(slot) = slot.upgrade()
            {
                slot.fill(SlotReply::Failed(error.clone()));
                slot.failed.notify_one();
            }
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
        state.cancelled.add(id, Instant::now());
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
        let Some(progress) = Progress::new(params) else {
            return false;
        };
        let token = &params["progressToken"];
        let state = self.state();
        let mut slots = state.waiting.values().filter_map(|waiting| match waiting {
            Waiting::Caller(slot, Some(its), _) if is_token(its, token) => slot.upgrade(),
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

    /// What is wrong with the result of the handshake.
    pub(crate) fn flaw(&self) -> Option<Error> {
        self.state().flaw.clone()
    }

    /// Whether the server has accepted `server/discover` after rmcp had given it up.
    pub(crate) fn accepted_late(&self) -> bool {
        self.state().accepted_late
    }

    /// What was wrong with the result of `server/discover`, after which the handshake was tried.
    pub(crate) fn flaw_of_probe(&self) -> Option<Error> {
        self.state().flaw_of_probe.clone()
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
        let line = start(without_escapes(&line).trim(), MAX_IGNORED_CHARS);
        if state.ignored.len() < MAX_IGNORED_LINES {
            state.ignored.push(line);
        } else {
            state.last_ignored = Some(line);
        }
    }

    /// The first lines that were not messages, and the last one if it is not among them.
    pub(crate) fn ignored_lines(&self) -> (Vec<String>, Option<String>) {
        let state = self.state();
        (state.ignored.clone(), state.last_ignored.clone())
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

    fn state(&self) -> MutexGuard<'_, TapState> {
        lock(&self.state)
    }
}

impl TapState {
    /// Notes that rmcp sends `initialize`.
    fn start_handshake(&mut self) -> Waiting {
        if self.is_open {
            return Waiting::Renewal;
        }
        self.give_up_probes();
        self.is_stateless = false;
        self.flaw_of_probe = self.flaw.take();
        Waiting::Opening("initialize")
    }

    /// Notes the reply to a handshake. A result that lacks what MCP requires becomes an error, because rmcp would not say why it
    /// refuses it.
    fn opened(
        &mut self,
        id: RequestId,
        method: &str,
        reply: incoming::Reply<'_>,
        mended: &mut Mended,
    ) -> Passed {
        let reply = match reply.mend_result(method, false, mended) {
            Ok(reply) => {
                if let incoming::Reply::Result(result) = &reply {
                    self.opening = Some(result.clone().into_owned());
                    self.is_stateless = method == "server/discover";
                }
                reply
            }
            Err(flaw) => {
                self.flaw = Some(flaw.clone());
                flaw.into()
            }
        };
        Passed::Text(Message::response(Some(id), reply).to_text())
    }

    /// The request of the handshake, if nothing else waits: then a response without an id can only be the one to it.
    fn only_handshake(&self) -> Option<RequestId> {
        let mut waiting = self.waiting.iter();
        match (waiting.next(), waiting.next()) {
            (Some((id, Waiting::Opening(_))), None) => Some(id.clone()),
            _ => None,
        }
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
        let is_probe =
            |_: &RequestId, waiting: &mut Waiting| matches!(waiting, Waiting::Opening(_));
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

/// Whether a server means this token. As with ids, it may write a number as a string or as a float.
fn is_token(token: &ProgressToken, written: &Value) -> bool {
    match (&token.0, written) {
        (RequestId::Number(token), Value::String(text)) => text.parse() == Ok(*token),
        (RequestId::Number(token), number) => incoming::integer(number) == Some(*token),
        (RequestId::String(token), text) => text.as_str() == Some(token),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_token_may_be_written_in_another_form() {
        let token = ProgressToken(RequestId::Number(3));
        for written in [json!(3), json!(3.0), json!("3")] {
            assert!(is_token(&token, &written), "{written}");
        }
        for other in [
            json!(4),
            json!(3.5),
            json!("three"),
            json!(null),
            json!([3]),
        ] {
            assert!(!is_token(&token, &other), "{other}");
        }
    }
}
