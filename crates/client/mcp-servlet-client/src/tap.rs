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
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::broadcast;
use tokio::sync::mpsc::error::TrySendError;
use tokio_util::sync::CancellationToken;

use self::cancelled::Cancelled;
pub(crate) use self::slot::{Slot, SlotExtension, SlotReply};
use crate::error::{Error, ErrorKind};
use crate::events::Event;
use crate::incoming::{self, Mended, Message};
use crate::message::{as_sent, cancelled_id, is_initialized, request_id};
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

/// rmcp gets all requests of servers but `ping` under this method, so that it changes nothing in them. The parameters have the real
/// method as `method` and its parameters as `params`. Since 2026-07-28, it gets them as they are, and refuses those that belong to no
/// request.
pub(crate) const ASKED: &str = "mcp-servlet/asked";

/// The log message for output that is not a JSON-RPC message.
const IGNORED: &str = "output of a server ignored, because it is not a JSON-RPC message";

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
    /// Cancelled at the end of the connection.
    end: CancellationToken,
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
    probes: Probes,
    cancelled: Cancelled,
}

/// The probes of the newer protocol generation that had no answer in time.
#[derive(Debug, Default)]
struct Probes {
    /// Those that rmcp has given up. It takes a late answer to one for the answer to the handshake.
    given_up: Vec<RequestId>,
    /// Whether the server has accepted one of them.
    accepted_late: bool,
    /// Whether the answer to one is not read any more.
    are_unanswered: bool,
}

/// The place that a message came from. It limits which requests the message can answer.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    /// A stream for all messages.
    Common,
    /// The event stream that answers this request. Some servers send responses to other requests there, too.
    Stream(&'a RequestId),
    /// The whole answer to this request.
    Body(&'a RequestId),
}

/// What rmcp shall read of a message.
pub(crate) enum Received<'a> {
    /// All of it.
    Text(Cow<'a, str>),
    /// A response without content to this request, because the caller has the text.
    Empty(RequestId),
    /// Nothing.
    Nothing,
    /// It is not a message.
    NoMessage,
}

impl Received<'_> {
    /// The message for rmcp, if it can read it.
    pub(crate) fn message(self) -> Option<ServerJsonRpcMessage> {
        match self {
            Self::Text(text) => serde_json::from_str(&text).ok(),
            Self::Empty(id) => Some(ServerJsonRpcMessage::response(ServerResult::empty(()), id)),
            Self::Nothing | Self::NoMessage => None,
        }
    }

    /// The message as JSON.
    pub(crate) fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.into_owned()),
            Self::Empty(id) => {
                let id = serde_json::to_string(&id).expect("an id is JSON");
                Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#))
            }
            Self::Nothing | Self::NoMessage => None,
        }
    }
}

/// Which request a response in the event stream of a POST answers.
enum Addressee<'a> {
    /// That of the POST.
    Post,
    /// Another one.
    Other(&'a RequestId),
    /// None that is known.
    Nobody,
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
            end: CancellationToken::new(),
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

    /// Takes what callers wait for out of a message, and returns what rmcp shall read.
    pub(crate) fn received<'a>(&self, bytes: &'a [u8], origin: Origin<'_>) -> Received<'a> {
        let mut mended = Mended::default();
        let text = incoming::text(bytes, &mut mended);
        let message = match origin {
            Origin::Body(_) => Message::read_body(&text, &mut mended),
            Origin::Common | Origin::Stream(_) => Message::read(&text, &mut mended),
        };
        let passed = match message {
            None => return Received::NoMessage,
            Some(Message::Response { id, reply }) => self.answered(id, reply, origin, &mut mended),
            Some(Message::Call {
                id: Some(id),
                method,
                params,
            }) if method != "ping" && (method == ASKED || !self.state().is_stateless) => {
                Passed::Text(asked(id, &method, params.as_deref()))
            }
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
            Passed::Original => Received::Text(text),
            Passed::Text(text) => Received::Text(text.into()),
            Passed::Empty(id) => Received::Empty(id),
            Passed::Nothing => Received::Nothing,
        }
    }

    /// Passes a reply to its request.
    fn answered(
        &self,
        id: Option<RequestId>,
        reply: incoming::Reply<'_>,
        origin: Origin<'_>,
        mended: &mut Mended,
    ) -> Passed {
        let id = id.map(as_sent);
        let mut state = self.state();
        match origin {
            Origin::Common => match id.or_else(|| state.only_handshake()) {
                Some(id) => state.answered(id, reply, mended),
                None => Passed::all(Message::response(None, reply), mended),
            },
            Origin::Body(post) => {
                let reply = match &id {
                    Some(id) if state.may_be_of_another(id, post) => {
                        state.cancelled.remove(id);
                        // The response to this request may come in the body of the other one.
                        state.cancelled.expect_late(post);
                        other_id(id).into()
                    }
                    _ => reply,
                };
                note_other_id(id.as_ref(), post, mended);
                state.answered(post.clone(), reply, mended)
            }
            Origin::Stream(post) => match state.addressee(id.as_ref(), post, &reply) {
                Addressee::Post => {
                    note_other_id(id.as_ref(), post, mended);
                    state.answered(post.clone(), reply, mended)
                }
                // rmcp would take it for the end of the stream that it came in.
                Addressee::Other(request) => {
                    state.answered_elsewhere(request, reply, mended);
                    Passed::Nothing
                }
                Addressee::Nobody => {
                    if let Some(id) = &id {
                        state.cancelled.remove(id);
                        state.note_instead(post, other_id(id));
                    }
                    Passed::Nothing
                }
            },
        }
    }

    /// Notes what came where the response to a request was expected, in case that the response does not follow.
    pub(crate) fn note_instead(&self, post: &RequestId, error: Error) {
        self.state().note_instead(post, error);
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
        self.end.cancel();
        state.events = None;
    }

    /// Whether the connection has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.end.is_cancelled()
    }

    /// Runs some work until the connection has ended.
    pub(crate) async fn until_end<F: Future>(&self, work: F) -> Option<F::Output> {
        self.end.run_until_cancelled(work).await
    }

    /// What is wrong with the result of the handshake.
    pub(crate) fn flaw(&self) -> Option<Error> {
        self.state().flaw.clone()
    }

    /// Notes that the server did not answer `server/discover` in time, and that its answer is not read any more.
    pub(crate) fn probe_unanswered(&self) {
        self.state().probes.are_unanswered = true;
    }

    /// Whether the server did not answer `server/discover` in time.
    pub(crate) fn has_unanswered_probe(&self) -> bool {
        self.state().probes.are_unanswered
    }

    /// Whether the server has accepted `server/discover` after rmcp had given it up.
    pub(crate) fn accepted_late(&self) -> bool {
        self.state().probes.accepted_late
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
        let mut state = self.state();
        let line = start(without_escapes(&line).trim(), MAX_IGNORED_CHARS);
        let server = &*self.server;
        if state.ignored.len() < MAX_IGNORED_LINES {
            tracing::info!(server, line, "{IGNORED}");
            state.ignored.push(line);
        } else {
            tracing::debug!(server, line, "{IGNORED}");
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

    /// Passes a reply to the request with this id.
    fn answered(
        &mut self,
        id: RequestId,
        reply: incoming::Reply<'_>,
        mended: &mut Mended,
    ) -> Passed {
        match self.waiting.remove(&id) {
            Some(Waiting::Caller(slot, _, method)) => {
                // Only results of handshakes can lack what MCP requires.
                let Ok(reply) = reply.mend_result(&method, self.is_stateless, mended) else {
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
            Some(Waiting::Opening(method)) => self.opened(id, method, reply, mended),
            Some(Waiting::Renewal) => {
                let reply = reply
                    .mend_result("initialize", false, mended)
                    .unwrap_or_else(Into::into);
                Passed::Text(Message::response(Some(id), reply).to_text())
            }
            None if self.probes.given_up.contains(&id) => {
                self.probes.accepted_late |= matches!(reply, incoming::Reply::Result(_));
                Passed::Nothing
            }
            None => {
                self.cancelled.remove(&id);
                Passed::all(Message::response(Some(id), reply), mended)
            }
        }
    }

    /// Passes a reply to the caller of another request than the POST. rmcp gets nothing, so it goes on to wait for that response.
    fn answered_elsewhere(
        &mut self,
        id: &RequestId,
        reply: incoming::Reply<'_>,
        mended: &mut Mended,
    ) {
        if let Some(Waiting::Caller(slot, _, method)) = self.waiting.remove(id)
            && let Ok(reply) = reply.mend_result(&method, self.is_stateless, mended)
            && let Some(slot) = slot.upgrade()
        {
            slot.fill(SlotReply::new(reply, mended));
            slot.failed.notify_one();
        }
    }

    /// Finds the request that a response in the event stream of a POST answers. A result with another id answers another request,
    /// which may have been cancelled. An error with an unknown id answers the POST, because servers send some errors before they
    /// read the id.
    fn addressee<'a>(
        &self,
        id: Option<&'a RequestId>,
        post: &RequestId,
        reply: &incoming::Reply<'_>,
    ) -> Addressee<'a> {
        match id {
            Some(id) if self.is_of_another(id, post) => Addressee::Other(id),
            Some(id) if id != post => match reply {
                incoming::Reply::Error(_) if !self.cancelled.contains(id) => Addressee::Post,
                _ => Addressee::Nobody,
            },
            _ => Addressee::Post,
        }
    }

    /// Whether a caller waits for this id, and has not sent the POST.
    fn is_of_another(&self, id: &RequestId, post: &RequestId) -> bool {
        id != post && matches!(self.waiting.get(id), Some(Waiting::Caller(..)))
    }

    /// Whether this is the id of another request whose answer may still come.
    fn may_be_of_another(&self, id: &RequestId, post: &RequestId) -> bool {
        self.is_of_another(id, post) || id != post && self.cancelled.contains(id)
    }

    fn note_instead(&self, post: &RequestId, error: Error) {
        if let Some(Waiting::Caller(slot, ..)) = self.waiting.get(post)
            && let Some(slot) = slot.upgrade()
        {
            slot.note_instead(error);
        }
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
        self.probes.given_up.extend(probes.map(|(id, _)| id));
    }
}

/// A request of the server for the [handler](crate::session), in a form in which rmcp changes nothing.
fn asked(id: RequestId, method: &str, params: Option<&RawValue>) -> String {
    #[derive(Serialize)]
    struct Asked<'a> {
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<&'a RawValue>,
    }
    let params = serde_json::value::to_raw_value(&Asked { method, params });
    let call = Message::Call {
        id: Some(id),
        method: ASKED.to_owned(),
        params: params.ok().map(Cow::Owned),
    };
    call.to_text()
}

fn note_other_id(id: Option<&RequestId>, post: &RequestId, mended: &mut Mended) {
    if id != Some(post) {
        mended.add_other_id();
    }
}

/// The error for a response that may belong to another caller.
fn other_id(id: &RequestId) -> Error {
    let message = format!("the server sent the response to another request, with the id {id}");
    Error::new(ErrorKind::Protocol, message)
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
    use rmcp::model::CustomRequest;
    use serde_json::json;

    use super::*;

    /// A request that waits for its response.
    fn request(tap: &Tap, id: i64) -> Arc<Slot> {
        let slot = Slot::new(false, None);
        let mut request = CustomRequest::new("tools/call", None);
        request.extensions.insert(SlotExtension(slot.clone()));
        let message = ClientJsonRpcMessage::request(request.into(), RequestId::Number(id));
        tap.sent(&message);
        slot
    }

    /// The reply that the caller of a request has got, if there is one.
    fn reply(slot: &Slot) -> Option<String> {
        slot.take().map(|reply| match reply {
            SlotReply::Result(result, _) => result.get().to_owned(),
            SlotReply::Error(error) => error.message,
            SlotReply::Failed(error) => error.message().to_owned(),
        })
    }

    /// What the requests 7 and 8 get of a message, and what rmcp gets. Request 6 was cancelled.
    fn delivered(message: &str, origin: Origin<'_>) -> [Option<String>; 3] {
        let tap = Tap::new("a server");
        let slots = [7, 8].map(|id| request(&tap, id));
        tap.cancel(&RequestId::Number(6));
        tap.unread(&RequestId::Number(6));
        let rmcp = tap.received(message.as_bytes(), origin).into_text();
        let [seven, eight] = slots.map(|slot| reply(&slot));
        [seven, eight, rmcp]
    }

    #[test]
    fn a_response_reaches_the_request_whose_id_it_has() {
        const RESULT: &str = r#"{"content":[]}"#;
        const OTHER: &str = "the server sent the response to another request, with the id 8";
        const CANCELLED: &str = "the server sent the response to another request, with the id 6";
        let (seven, post) = (
            RequestId::Number(7),
            Some(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#),
        );
        let result = format!(r#""result":{RESULT}"#);
        let error = r#""error":{"code":1,"message":"no"}"#;
        for (id, result_in_stream, error_in_stream, result_in_body) in [
            (
                "7",
                [Some(RESULT), None, post],
                [Some("no"), None, post],
                [Some(RESULT), None, post],
            ),
            (
                "\"7\"",
                [Some(RESULT), None, post],
                [Some("no"), None, post],
                [Some(RESULT), None, post],
            ),
            (
                "8",
                [None, Some(RESULT), None],
                [None, Some("no"), None],
                [Some(OTHER), None, post],
            ),
            (
                "\"8\"",
                [None, Some(RESULT), None],
                [None, Some("no"), None],
                [Some(OTHER), None, post],
            ),
            ("6", [None; 3], [None; 3], [Some(CANCELLED), None, post]),
            ("\"6\"", [None; 3], [None; 3], [Some(CANCELLED), None, post]),
            (
                "1",
                [None; 3],
                [Some("no"), None, post],
                [Some(RESULT), None, post],
            ),
            (
                "null",
                [Some(RESULT), None, post],
                [Some("no"), None, post],
                [Some(RESULT), None, post],
            ),
        ] {
            for (content, origin, expected) in [
                (&*result, Origin::Stream(&seven), result_in_stream),
                (error, Origin::Stream(&seven), error_in_stream),
                (&result, Origin::Body(&seven), result_in_body),
            ] {
                let message = format!(r#"{{"jsonrpc":"2.0","id":{id},{content}}}"#);
                let expected = expected.map(|text| text.map(str::to_owned));
                assert_eq!(delivered(&message, origin), expected, "{message}");
            }
        }
    }

    #[test]
    fn exchanged_bodies_reach_neither_request() {
        let tap = Tap::new("a server");
        let slots = [7, 8].map(|id| request(&tap, id));
        for (post, id) in [(7, 8), (8, 7)] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"of":{id}}}}}"#);
            tap.received(body.as_bytes(), Origin::Body(&RequestId::Number(post)));
        }
        for (slot, id) in slots.iter().zip([8, 7]) {
            let error =
                format!("the server sent the response to another request, with the id {id}");
            assert_eq!(reply(slot), Some(error));
        }
    }

    #[test]
    fn a_server_cannot_send_a_wrapped_request() {
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{ASKED}","params":{{"method":"roots/list"}}}}"#
        );
        for is_stateless in [false, true] {
            let tap = Tap::new("a server");
            tap.state().is_stateless = is_stateless;
            let received = tap.received(request.as_bytes(), Origin::Common);
            let text = received.into_text().expect("a request");
            let read: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(read["params"]["method"], ASKED);
        }
    }

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
