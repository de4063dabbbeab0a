//! What a server sends during a call: questions, progress and log messages.
//!
//! A question or a log message of a server does not say which call it belongs to. It can only
//! belong to a call that was alone on its connection all the time. Otherwise the question is refused, and the message goes
//! to the log of this host, so that nothing reaches the wrong client.
//!
//! A call that waits for an answer of its client sends nothing meanwhile, so it does not count. A call that was cancelled
//! counts until the server answers it, and for five minutes at most, because many servers go on with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::FutureExt as _;
use mcp_servlet_call::{JsonObject, Notification, can_answer, refusal};
use mcp_servlet_client::{Answers, Event, Offers, Refusal, Relayed};
use mcp_servlet_common::lock;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::lists::drop_our_keys;

/// How many messages may wait for a client that is slow. Further ones are dropped.
const MAX_CLIENT_QUEUE: usize = 256;

/// Something that a server sends during a call.
#[derive(Debug)]
pub(crate) enum Sent {
    /// A notification for the client.
    Notification(Notification),
    /// A question to the client.
    Question(Question),
}

/// A request of the server to the client.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    /// Takes the client's result. Dropping it refuses.
    pub(crate) reply: oneshot::Sender<Value>,
    /// Cancelled when the server waits for the result no more.
    pub(crate) over: CancellationToken,
}

/// The calls that run on a connection.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    running: Arc<Mutex<Running>>,
    /// The name of the remote.
    remote: Arc<str>,
}

#[derive(Debug, Default)]
struct Running {
    next: u64,
    calls: HashMap<u64, Call>,
}

/// A call that runs.
#[derive(Debug)]
struct Call {
    sent: mpsc::Sender<Sent>,
    /// The capabilities of the client.
    capabilities: Value,
    /// How many questions its client has not answered yet.
    questions: usize,
    /// Whether no other call has run at the same time.
    is_alone: bool,
}

/// A call that counts as running until this is dropped.
#[derive(Debug)]
pub(crate) struct CallGuard {
    calls: Calls,
    id: u64,
    is_answered: bool,
}

/// A question that counts as open until this is dropped.
struct OpenQuestion<'a> {
    calls: &'a Calls,
    call: u64,
}

impl Running {
    /// The calls that do not wait for their clients.
    fn active(&mut self) -> impl Iterator<Item = &mut Call> {
        self.calls.values_mut().filter(|call| call.questions == 0)
    }

    /// Notes which calls run at the same time.
    fn compare(&mut self) {
        if self.active().count() > 1 {
            self.active().for_each(|call| call.is_alone = false);
        }
    }

    /// The call that a question must belong to, if that is certain.
    fn only(&self) -> Option<u64> {
        let active = self.calls.iter().filter(|(_, call)| call.questions == 0);
        let mut calls: Vec<_> = active.collect();
        if calls.is_empty() {
            calls.extend(&self.calls);
        }
        match *calls {
            [(id, call)] if call.is_alone => Some(*id),
            _ => None,
        }
    }
}

impl Calls {
    pub(crate) fn new(remote: &str) -> Self {
        Self {
            running: Arc::default(),
            remote: remote.into(),
        }
    }

    /// Adds a call of a client with these capabilities, and returns what the server sends during it. `has_cancelled` says
    /// whether the server may still work on a call that was cancelled.
    pub(crate) fn begin(
        &self,
        capabilities: Value,
        has_cancelled: bool,
    ) -> (CallGuard, mpsc::Sender<Sent>, mpsc::Receiver<Sent>) {
        let (sent, received) = mpsc::channel(MAX_CLIENT_QUEUE);
        let mut running = self.running();
        let id = running.next;
        running.next += 1;
        let call = Call {
            sent: sent.clone(),
            capabilities,
            questions: 0,
            is_alone: !has_cancelled,
        };
        running.calls.insert(id, call);
        running.compare();
        let guard = CallGuard {
            calls: self.clone(),
            id,
            is_answered: false,
        };
        (guard, sent, received)
    }

    /// How many calls run.
    pub(crate) fn count(&self) -> usize {
        self.running().calls.len()
    }

    /// The answer to a question: the client's result or error, unchanged but for our own keys.
    async fn answer(&self, question: &Method, params: &Value) -> Result<Value, Refusal> {
        let mut params = params.clone();
        if let Value::Object(params) = &mut params {
            drop_our_keys(params);
        }
        let asked = self.ask(question.name, params);
        let Some(mut answer) = asked.await else {
            return question.unanswered();
        };
        if let Some(error) = refusal(&answer) {
            return Err(Refusal {
                code: error.code,
                message: error.message,
                data: error.data,
            });
        }
        match &mut answer {
            Value::Object(json) if json.contains_key(question.member) => drop_our_keys(json),
            _ => return question.unanswered(),
        }
        Ok(answer)
    }

    /// Asks the client of the only call. `None` if there is no such call, or its client cannot answer.
    async fn ask(&self, method: &'static str, params: Value) -> Option<Value> {
        let remote = &*self.remote;
        let Some((open, sent, capabilities)) = self.open_question() else {
            let why = match self.count() {
                0 => "no call of a client runs",
                _ => "it may belong to another call that runs or was cancelled",
            };
            tracing::info!(remote, method, "request of a remote refused, because {why}");
            return None;
        };
        if !can_answer(&capabilities, method, &params) {
            tracing::debug!(
                remote,
                method,
                "request of a remote refused, because the client cannot answer it"
            );
            return None;
        }
        let (reply, answer) = oneshot::channel();
        let over = CancellationToken::new();
        let question = Question {
            method,
            params,
            reply,
            over: over.clone(),
        };
        // The server may take its request back, or be gone. Then this is dropped.
        let _over = over.drop_guard();
        sent.try_send(Sent::Question(question)).ok()?;
        let answer = answer.await.ok();
        // The server goes on when it has the answer, so the call counts again from now on.
        drop(open);
        answer
    }

    /// Finds the call that a question belongs to, which waits for its client from now on.
    fn open_question(&self) -> Option<(OpenQuestion<'_>, mpsc::Sender<Sent>, Value)> {
        let mut running = self.running();
        let id = running.only()?;
        let call = running.calls.get_mut(&id)?;
        call.questions += 1;
        let open = OpenQuestion {
            calls: self,
            call: id,
        };
        Some((open, call.sent.clone(), call.capabilities.clone()))
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        lock(&self.running)
    }
}

impl CallGuard {
    /// Whether what the server sends now can only belong to this call. It sends nothing for a call that waits for its client.
    pub(crate) fn is_alone(&self) -> bool {
        let running = self.calls.running();
        let is_only = running.calls.len() == 1;
        let call = running.calls.get(&self.id);
        call.is_some_and(|call| call.is_alone && (call.questions == 0 || is_only))
    }

    /// Ends the call for others, once the server has answered it. Its client may take longer.
    pub(crate) fn ender(&self) -> impl FnOnce() + use<> {
        let (calls, id) = (self.calls.clone(), self.id);
        move || {
            calls.running().calls.remove(&id);
        }
    }

    /// Notes that the server has answered the call, so that it sends nothing more.
    pub(crate) fn answered(&mut self) {
        self.is_answered = true;
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let mut running = self.calls.running();
        running.calls.remove(&self.id);
        if !self.is_answered {
            let others = running.calls.values_mut();
            others.for_each(|call| call.is_alone = false);
        }
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        let mut running = self.calls.running();
        if let Some(call) = running.calls.get_mut(&self.call) {
            call.questions -= 1;
        }
        running.compare();
    }
}

impl Answers for Calls {
    fn offers(&self) -> Offers {
        Offers {
            elicitation: true,
            sampling: true,
            roots: true,
        }
    }

    fn relay<'a>(&'a self, method: &'a str, params: &'a Value) -> Option<Relayed<'a>> {
        let question = QUESTIONS.iter().find(|one| one.name == method)?;
        Some(self.answer(question, params).boxed())
    }
}

/// A method with which servers ask, and the member that each answer has.
struct Method {
    name: &'static str,
    member: &'static str,
}

const QUESTIONS: [Method; 3] = [
    Method {
        name: "elicitation/create",
        member: "action",
    },
    Method {
        name: "sampling/createMessage",
        member: "content",
    },
    Method {
        name: "roots/list",
        member: "roots",
    },
];

impl Method {
    /// The answer to a question that no client answers.
    fn unanswered(&self) -> Result<Value, Refusal> {
        match self.name {
            "elicitation/create" => Ok(json!({ "action": "cancel" })),
            "roots/list" => Ok(json!({ "roots": [] })),
            _ => Err(Refusal::default()),
        }
    }
}

/// The notification for the client in an event.
pub(crate) fn notification(event: Event) -> Option<Notification> {
    match event {
        Event::Log {
            level,
            logger,
            data,
        } => {
            let mut params = JsonObject::from_iter([("level".to_owned(), level.into())]);
            params.extend(logger.map(|logger| ("logger".to_owned(), logger.into())));
            params.insert("data".to_owned(), data);
            Some(Notification::Message(params))
        }
        Event::Other {
            method,
            params: Value::Object(params),
        } if method == "notifications/elicitation/complete" => {
            Some(Notification::ElicitationComplete(params))
        }
        _ => None,
    }
}
