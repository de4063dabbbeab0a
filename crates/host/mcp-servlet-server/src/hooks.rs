//! Which clients may begin a session: conditions of the configuration and a tool of a servlet decide.

mod answer;

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, HeaderName, StatusCode};
use mcp_servlet_access::{
    Caller, Certificate, NewSession, Reason, SessionCondition, Sha256, Truth,
};
use mcp_servlet_call::{JsonObject, RequestMeta, chain};
use mcp_servlet_common::lock;
use mcp_servlet_host::{Servlet, bundle::Requested};
use mcp_servlet_types::{CALLER_KEY, CERTIFICATE_KEY, HEADERS_KEY, SESSION_KEY};
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::{handler::attributes, response_headers::ResponseHeaders};
use answer::{Answer, arguments_for};

/// How long the answer of a servlet is known. Requests since 2026-07-28 have no session, so each of them needs it.
const ANSWER_TTL: Duration = Duration::from_mins(1);
/// How many answers are known.
const MAX_ANSWERS: usize = 10_000;

/// Which clients may begin a session of an endpoint over HTTP. Each request since 2026-07-28 counts as one.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SessionHooks {
    /// Clients that are refused. The first condition that holds decides.
    pub reject: Vec<Reject>,
    /// The tool that decides about all others.
    pub on_session: Option<OnSession>,
    /// The headers that neither can read.
    pub credentials: HashSet<HeaderName>,
}

/// Clients that are refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Reject {
    /// Which ones.
    pub when: SessionCondition,
    /// The status of the response.
    pub status: StatusCode,
    /// What the client learns.
    pub message: String,
    /// Headers of the response.
    pub headers: ResponseHeaders,
}

/// A tool that decides about each new session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnSession {
    /// The servlet of the tool.
    pub servlet: String,
    /// The tool, by its own name.
    pub tool: String,
    /// The headers that it gets.
    pub headers: Vec<HeaderName>,
    /// How long it may take.
    pub timeout: Duration,
}

impl OnSession {
    /// The arguments that the tool can have.
    pub const ARGUMENTS: [&str; 5] = ["session", "client", "caller", "certificate", "headers"];
}

/// The hooks of an endpoint, and the servlet that they ask.
#[derive(Debug, Default)]
pub(crate) struct CurrentHooks {
    hooks: SessionHooks,
    /// None if it is not loaded.
    servlet: Option<Arc<Servlet>>,
    known: Mutex<HashMap<Sha256, Known>>,
}

/// An answer, or one that is being given.
#[derive(Debug)]
struct Known {
    since: Instant,
    answer: Arc<OnceCell<Result<(), Box<SessionRefusal>>>>,
}

/// A client that begins a session.
#[derive(Clone, Debug)]
pub(crate) struct Newcomer {
    pub(crate) session: String,
    /// What the client says about itself.
    pub(crate) client: JsonObject,
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) certificate: Option<Arc<Certificate>>,
    pub(crate) headers: HeaderMap,
}

/// What a client gets instead of a session.
#[derive(Clone, Debug)]
pub(crate) struct SessionRefusal {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    pub(crate) headers: HeaderMap,
    pub(crate) reason: Reason,
    /// More about the reason, for the log.
    pub(crate) detail: Option<String>,
}

impl SessionRefusal {
    fn new(reason: Reason, status: StatusCode, message: &str) -> Self {
        Self {
            status,
            message: message.to_owned(),
            headers: HeaderMap::new(),
            reason,
            detail: None,
        }
    }

    /// The servlet has given no answer, for this reason.
    fn unanswered(detail: String) -> Self {
        let message = "the server cannot decide about this session now; try again";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Self {
            detail: Some(detail),
            ..Self::new(Reason::NoSessionAnswer, status, message)
        }
    }
}

impl CurrentHooks {
    pub(crate) fn new(hooks: SessionHooks, servlet: Option<Arc<Servlet>>) -> Self {
        Self {
            hooks,
            servlet,
            known: Mutex::default(),
        }
    }

    /// Whether they are these hooks, and ask this servlet.
    pub(crate) fn are(&self, hooks: &SessionHooks, servlet: Option<&Arc<Servlet>>) -> bool {
        let servlets = self.servlet.as_ref().map(Arc::as_ptr);
        self.hooks == *hooks && servlets == servlet.map(Arc::as_ptr)
    }

    /// Whether all clients may begin sessions.
    pub(crate) fn are_none(&self) -> bool {
        self.hooks.reject.is_empty() && self.hooks.on_session.is_none()
    }

    /// Whether a condition rejects a client.
    pub(crate) fn reject(&self, newcomer: &Newcomer) -> Result<(), Box<SessionRefusal>> {
        if self.hooks.reject.is_empty() {
            return Ok(());
        }
        let certificate = newcomer.certificate.as_deref();
        let session = NewSession {
            id: newcomer.session.clone(),
            client: newcomer.client.clone(),
            caller: Caller::to_json_with(newcomer.caller.as_deref(), certificate),
            headers: self.readable(&newcomer.headers),
        };
        for reject in &self.hooks.reject {
            match reject.when.holds(&session) {
                Truth::False => {}
                Truth::True | Truth::Unknown => {
                    return Err(reject.refusal(&session).into());
                }
                Truth::Failed(failure) => {
                    // Clients can cause it: no warning for each.
                    tracing::debug!("cannot evaluate `reject`, which rejects: {failure}");
                    let status = StatusCode::FORBIDDEN;
                    let message = &reject.message;
                    return Err(SessionRefusal::new(Reason::Rejected, status, message).into());
                }
            }
        }
        Ok(())
    }

    /// Asks the servlet about a session.
    pub(crate) async fn ask(&self, newcomer: &Newcomer) -> Result<(), Box<SessionRefusal>> {
        let Some(on_session) = &self.hooks.on_session else {
            return Ok(());
        };
        let input = Input::of(newcomer, on_session);
        let answered = self.answer(on_session, input).await;
        answered.unwrap_or_else(|reason| Err(SessionRefusal::unanswered(reason).into()))
    }

    /// As [`ask`](Self::ask), unless the servlet has answered the same question in the last minute.
    pub(crate) async fn ask_once(&self, newcomer: &Newcomer) -> Result<(), Box<SessionRefusal>> {
        let Some(on_session) = &self.hooks.on_session else {
            return Ok(());
        };
        let input = Input::of(newcomer, on_session);
        let answer = self.known(&input);
        let answered = answer.get_or_try_init(|| async {
            // Only answers are kept.
            self.answer(on_session, input).await
        });
        // Others that wait for the same answer would otherwise ask one after the other.
        match tokio::time::timeout(on_session.timeout, answered).await {
            Ok(Ok(answer)) => answer.clone(),
            Ok(Err(reason)) => Err(SessionRefusal::unanswered(reason).into()),
            Err(_) => Err(SessionRefusal::unanswered(late(on_session)).into()),
        }
    }

    /// The place of the answer to a question.
    fn known(&self, input: &Input) -> Arc<OnceCell<Result<(), Box<SessionRefusal>>>> {
        let question = Sha256::of(Value::from(input.arguments.clone()).to_string().as_bytes());
        let mut known = lock(&self.known);
        if known.len() >= MAX_ANSWERS {
            known.retain(|_, one| one.since.elapsed() < ANSWER_TTL);
        }
        if known.len() >= MAX_ANSWERS {
            known.clear();
        }
        let fresh = || Known {
            since: Instant::now(),
            answer: Arc::default(),
        };
        let own = known.entry(question).or_insert_with(fresh);
        if own.since.elapsed() >= ANSWER_TTL {
            *own = fresh();
        }
        Arc::clone(&own.answer)
    }

    /// The answer of the servlet.
    ///
    /// # Errors
    /// There is none, for this reason.
    async fn answer(
        &self,
        on_session: &OnSession,
        input: Input,
    ) -> Result<Result<(), Box<SessionRefusal>>, String> {
        let tool = &on_session.tool;
        let servlet = self.servlet.as_ref();
        let Some((servlet, known)) = servlet.and_then(|one| Some((one, one.tool(tool)?))) else {
            return Err(format!("tool `{tool}` is not there"));
        };
        let Input { arguments, meta } = input;
        let arguments = arguments_for(known.input_schema(), arguments);
        let mut request_meta = RequestMeta::default();
        request_meta.meta = Some(meta);
        let call = servlet.call_with(tool, Some(&arguments), &request_meta);
        let result = tokio::time::timeout(on_session.timeout, call)
            .await
            .map_err(|_| late(on_session))?;
        Answer::read(&result.map_err(|error| chain(&error))?)
    }

    /// The headers that conditions can read.
    fn readable(&self, headers: &HeaderMap) -> JsonObject {
        let names = headers
            .keys()
            .filter(|name| !self.hooks.credentials.contains(*name));
        attributes::forwarded(headers, names.map(HeaderName::as_str))
    }
}

/// That a servlet has no answer in time.
fn late(on_session: &OnSession) -> String {
    let OnSession { tool, timeout, .. } = on_session;
    format!("tool `{tool}` took longer than {timeout:?}")
}

impl Reject {
    /// What a client learns if the configuration or the servlet says nothing else.
    pub const MESSAGE: &str = "the server refuses this session";

    /// The status of a response.
    ///
    /// # Errors
    /// It is not the status of an error.
    pub fn status(status: u16) -> Result<StatusCode, String> {
        let known = StatusCode::from_u16(status)
            .ok()
            .filter(|known| known.is_client_error() || known.is_server_error());
        known.ok_or_else(|| format!("expected a status from 400 to 599, found {status}"))
    }

    fn refusal(&self, session: &NewSession) -> SessionRefusal {
        let mut refusal = SessionRefusal::new(Reason::Rejected, self.status, &self.message);
        let requested = Requested {
            session: &session.id,
            method: "",
            id: "",
            caller: Some(&session.caller),
        };
        if let Err((name, error)) = self.headers.apply(&mut refusal.headers, requested) {
            tracing::error!(header = %name, %error, "header of `reject` left out, because it has no valid value");
        }
        refusal
    }
}

/// What a servlet learns about a session.
struct Input {
    arguments: JsonObject,
    /// The same for servlets that read it from their context.
    meta: JsonObject,
}

impl Input {
    fn of(newcomer: &Newcomer, on_session: &OnSession) -> Self {
        let caller = Caller::to_json(newcomer.caller.as_deref());
        let names = on_session.headers.iter().map(HeaderName::as_str);
        let headers = attributes::forwarded(&newcomer.headers, names);
        let certificate = newcomer.certificate.as_ref().map(|one| one.details());
        let mut own = Self {
            arguments: JsonObject::new(),
            meta: JsonObject::new(),
        };
        let session = Value::from(newcomer.session.as_str());
        own.add("session", SESSION_KEY, session);
        let client = Value::from(newcomer.client.clone());
        own.add("client", attributes::CLIENT_INFO, client);
        own.add("caller", CALLER_KEY, caller.into());
        if let Some(certificate) = certificate {
            let certificate = Value::from(certificate.clone());
            own.add("certificate", CERTIFICATE_KEY, certificate);
        }
        own.add("headers", HEADERS_KEY, headers.into());
        own
    }

    fn add(&mut self, argument: &str, key: &str, value: Value) {
        self.meta.insert(key.to_owned(), value.clone());
        self.arguments.insert(argument.to_owned(), value);
    }
}
