//! The calls that a servlet makes, and what became of them.
//!
//! If one of them asks the client, or the servlet does, the servlet runs again from its beginning when the client has answered.
//! Calls that have ended are not made again: the state that goes to the client keeps their answers.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use mcp_servlet_call::{
    Callee, CalleeError, Callees, INPUT_REQUIRED, JsonObject, RequestMeta, asks_client,
};
use mcp_servlet_common::hex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::listener::{CalleeListener, CalleeProgress};
use crate::engine::Stop;

/// How many calls a call can make.
const MAX_CALLS: usize = 100;

/// The longest state of a call, in KiB. It goes to the client as base64.
pub const MAX_STATE: usize = 256;

/// The longest text of a state in bytes: base64 makes 4 bytes of 3.
pub const MAX_STATE_TEXT: usize = (MAX_STATE << 10) / 4 * 3 - 64;

/// What a state begins with, if it has calls.
const MARK: &str = "{\"mcp-servlet/calls\":";

/// The calls that a call makes.
#[derive(Default)]
pub(crate) struct Journal {
    /// The request of the servlet, if it can make calls.
    request_meta: Option<RequestMeta>,
    /// How many requests there were, by digest.
    seen: HashMap<[u8; 32], usize>,
    /// How many calls were made.
    made: usize,
    /// The calls of the runs before, which this run has not made.
    earlier: BTreeMap<String, Kept>,
    /// The call that has asked the client, and its own state.
    asked: Option<Asked>,
    /// The calls that have ended.
    ended: BTreeMap<String, Kept>,
    /// The size of the answers in `ended`. Those that do not fit in a state are not kept.
    size: usize,
    /// The largest answer, and what gave it.
    largest: (usize, String),
    /// What the client is asked.
    open: Option<Open>,
    pub(crate) progress: Arc<CalleeProgress>,
}

/// A call that has ended.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    callee: String,
    answer: String,
    /// Whether it may have changed something.
    writes: bool,
}

/// A call that has asked the client.
#[derive(Debug, Serialize, Deserialize)]
struct Asked {
    key: String,
    state: Option<String>,
}

/// What a call asks.
struct Open {
    asked: Asked,
    requests: JsonObject,
}

/// The state that the client keeps.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    /// The calls that have ended.
    #[serde(rename = "mcp-servlet/calls")]
    calls: BTreeMap<String, Kept>,
    asked: Option<Asked>,
    /// The servlet's own state.
    own: Option<String>,
    /// The responses that the servlet itself got.
    responses: Option<JsonObject>,
}

impl State {
    fn of(request_meta: &RequestMeta) -> Option<Self> {
        let state = request_meta
            .request_state
            .as_deref()
            .filter(|state| state.starts_with(MARK))?;
        serde_json::from_str(state).ok()
    }
}

/// A request as the servlet gets it: with its own state, and with the responses to its own questions.
pub(crate) fn own_request(request_meta: &RequestMeta) -> Cow<'_, RequestMeta> {
    let Some(state) = State::of(request_meta) else {
        return Cow::Borrowed(request_meta);
    };
    let mut own = request_meta.clone();
    own.request_state = state.own;
    if state.asked.is_some() {
        own.input_responses = state.responses;
    }
    Cow::Owned(own)
}

/// A call can go on only when the client has answered.
#[derive(Debug, thiserror::Error)]
#[error("`{0}`: the client has to answer first")]
pub(crate) struct Unanswered(pub(crate) String);

/// What becomes of a request of the servlet.
pub(crate) enum Beginning {
    /// An earlier run has made the call.
    Known(String),
    Refused(CalleeError),
    Call(Box<Begun>),
}

/// A call that is made.
pub(crate) struct Begun {
    key: String,
    pub(crate) callees: Arc<dyn Callees>,
    pub(crate) request_meta: RequestMeta,
    pub(crate) listener: Option<Arc<CalleeListener>>,
}

impl Journal {
    /// The calls of a run that answers this request.
    pub(crate) fn of(request_meta: &RequestMeta) -> Self {
        let state = State::of(request_meta);
        let mut journal = Self {
            request_meta: Some(request_meta.clone()),
            ..Self::default()
        };
        if let Some(state) = state {
            journal.earlier = state.calls;
            journal.asked = state.asked;
        }
        journal
    }

    fn callees(&self) -> Option<(&RequestMeta, &Arc<dyn Callees>)> {
        let request_meta = self.request_meta.as_ref()?;
        Some((request_meta, request_meta.callees.as_ref()?))
    }

    /// Whether the options of the servlet do not matter.
    pub(crate) fn are_all_allowed(&self) -> bool {
        self.callees()
            .is_some_and(|(_, callees)| callees.are_all_allowed())
    }

    /// Begins a call, unless it cannot be made or an earlier run has made it.
    pub(crate) fn begin(&mut self, servlet: &str, callee: &Callee, request: &[u8]) -> Beginning {
        let digest: [u8; 32] = Sha256::digest(request).into();
        let count = self.seen.entry(digest).or_default();
        let key = format!("{}-{count}", hex(&digest[..16]));
        *count += 1;
        if let Some(kept) = self.earlier.remove(&key) {
            let answer = kept.answer.clone();
            self.keep(key, kept);
            return Beginning::Known(answer);
        }
        let Some((outer, callees)) = self.callees() else {
            let message =
                format!("servlet `{servlet}` may call tools only while it answers a call");
            return Beginning::Refused(CalleeError::new(CalleeError::NOT_ALLOWED, message));
        };
        if let Some(message) = circle(servlet, &outer.via, callee) {
            return Beginning::Refused(CalleeError::new(CalleeError::NOT_ALLOWED, message));
        }
        if self.made >= MAX_CALLS {
            let message = format!("servlet `{servlet}` has made {MAX_CALLS} calls already");
            return Beginning::Refused(CalleeError::new(CalleeError::TOO_MANY, message));
        }
        let asked = self.asked.as_ref().filter(|asked| asked.key == key);
        let listener = outer.listener.clone().map(|listener| {
            let progress = Arc::clone(&self.progress);
            let token = progress_token(outer).cloned();
            Arc::new(CalleeListener::new(listener, callee, token, progress))
        });
        let mut request_meta = inner_request(outer, servlet, callee);
        request_meta.input_responses = asked.map(|_| responses(outer, callee));
        request_meta.request_state = asked.and_then(|asked| asked.state.clone());
        request_meta.listener = listener.clone().map(|listener| listener as _);
        let callees = Arc::clone(callees);
        self.made += 1;
        Beginning::Call(Box::new(Begun {
            key,
            callees,
            request_meta,
            listener,
        }))
    }

    /// Records the answer to a call.
    pub(crate) fn end_call(&mut self, begun: Begun, callee: &Callee, answer: &str) {
        let kept = Kept {
            callee: callee.to_string(),
            answer: answer.to_owned(),
            writes: !begun.callees.is_read_only(callee),
        };
        self.keep(begun.key, kept);
    }

    fn keep(&mut self, key: String, kept: Kept) {
        let size = kept.answer.len();
        self.size += size;
        if size > self.largest.0 {
            self.largest = (size, kept.callee.clone());
        }
        if self.size <= MAX_STATE_TEXT {
            self.ended.insert(key, kept);
        } else {
            self.ended.clear();
        }
    }

    /// Records that a call asks the client.
    pub(crate) fn ask(&mut self, begun: Begun, callee: &Callee, mut result: JsonObject) {
        let requests = match result.shift_remove("inputRequests") {
            Some(Value::Object(requests)) => requests,
            _ => Map::new(),
        };
        let prefix = prefix(callee);
        let requests = requests.into_iter();
        let state = result.get("requestState").and_then(Value::as_str);
        self.open = Some(Open {
            asked: Asked {
                key: begun.key,
                state: state.map(str::to_owned),
            },
            requests: requests
                .map(|(key, request)| (prefix.clone() + &key, request))
                .collect(),
        });
    }

    /// Ends the run: asks the client what a call asks, and keeps the calls if the servlet itself asks.
    pub(crate) fn end(
        mut self,
        servlet: &str,
        output: Result<Vec<u8>, Stop>,
    ) -> Result<Vec<u8>, Stop> {
        for lost in self.earlier.values() {
            if lost.writes {
                tracing::warn!(
                    "servlet `{servlet}` made other calls when it ran again; `{}` ran and its result is not used",
                    lost.callee
                );
            }
        }
        if let Some(open) = self.open.take() {
            let request_meta = self.request_meta.take().unwrap_or_default();
            let own = own_request(&request_meta).into_owned();
            let (state, responses) = (own.request_state, own.input_responses);
            let state = self.state(servlet, Some(open.asked), state, responses)?;
            let result = json!({
                "resultType": INPUT_REQUIRED,
                "inputRequests": open.requests,
                "requestState": state,
            });
            return Ok(result.to_string().into_bytes());
        }
        let output = output?;
        // Most outputs ask nothing, and parsing takes time.
        let may_ask = || str::from_utf8(&output).is_ok_and(|text| text.contains(INPUT_REQUIRED));
        if self.size == 0 || !may_ask() {
            return Ok(output);
        }
        let Ok(mut result) = serde_json::from_slice::<JsonObject>(&output) else {
            return Ok(output);
        };
        if !asks_client(&result) {
            return Ok(output);
        }
        let own = result.get("requestState").and_then(Value::as_str);
        let state = self.state(servlet, None, own.map(str::to_owned), None)?;
        result.insert("requestState".to_owned(), state.into());
        Ok(Value::from(result).to_string().into_bytes())
    }

    fn state(
        self,
        servlet: &str,
        asked: Option<Asked>,
        own: Option<String>,
        responses: Option<JsonObject>,
    ) -> Result<String, Stop> {
        let state = State {
            calls: self.ended,
            asked,
            own,
            responses,
        };
        let text = serde_json::to_string(&state).map_err(|error| Stop::Error(error.to_string()))?;
        if text.len() <= MAX_STATE_TEXT && self.size <= MAX_STATE_TEXT {
            return Ok(text);
        }
        let (size, callee) = &self.largest;
        let size = size >> 10;
        Err(Stop::Error(format!(
            "servlet `{servlet}` cannot ask: the results of its calls do not fit in the state of {MAX_STATE} KiB; the largest is that of `{callee}` ({size} KiB)"
        )))
    }
}

/// Why a servlet may not call another one that the call came through.
fn circle(servlet: &str, via: &[String], callee: &Callee) -> Option<String> {
    let member = callee.member();
    if member == servlet {
        return Some(format!(
            "servlet `{servlet}` cannot call its own tools: call the function"
        ));
    }
    let is_there = via.iter().any(|before| before == member);
    is_there.then(|| {
        format!(
            "servlet `{servlet}` may not call `{callee}`: this call came through servlet `{member}`, so they could call each other for ever"
        )
    })
}

/// The metadata of a request that goes on with the calls that a servlet makes: what callees need to report progress and to ask
/// the client.
const PASSED_ON: [&str; 5] = [
    "progressToken",
    "traceparent",
    "tracestate",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
];

/// The request of a call that a servlet makes, without the responses and the state of an earlier run.
fn inner_request(outer: &RequestMeta, servlet: &str, callee: &Callee) -> RequestMeta {
    let mut request_meta = RequestMeta::default();
    request_meta.meta = Some(meta(outer, servlet));
    request_meta.input_timeout.clone_from(&outer.input_timeout);
    let withdrawal = outer.withdrawal.as_ref();
    request_meta.withdrawal = withdrawal.map(|withdrawal| withdrawal.of_part(&prefix(callee)));
    request_meta.caller.clone_from(&outer.caller);
    request_meta.guard = outer.guard.as_ref().map(|guard| guard.of_callee(callee));
    request_meta.observer.clone_from(&outer.observer);
    request_meta.callees.clone_from(&outer.callees);
    request_meta.via.clone_from(&outer.via);
    request_meta.via.push(servlet.to_owned());
    request_meta
}

/// The metadata of a call that a servlet makes.
fn meta(outer: &RequestMeta, servlet: &str) -> JsonObject {
    let given = outer.meta.as_ref();
    let passed_on = PASSED_ON
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), given?.get(key)?.clone())));
    let mut meta: JsonObject = passed_on.collect();
    let via: Vec<_> = outer
        .via
        .iter()
        .map(String::as_str)
        .chain([servlet])
        .collect();
    meta.insert("mcp-servlet/via".to_owned(), via.into());
    meta
}

fn progress_token(outer: &RequestMeta) -> Option<&Value> {
    outer.meta.as_ref()?.get("progressToken")
}

/// The responses for a call, without the prefix of their keys.
fn responses(outer: &RequestMeta, callee: &Callee) -> JsonObject {
    let prefix = prefix(callee);
    let all = outer.input_responses.iter().flatten();
    all.filter_map(|(key, response)| {
        Some((key.strip_prefix(&prefix)?.to_owned(), response.clone()))
    })
    .collect()
}

/// What the keys of the input requests of a call begin with.
fn prefix(callee: &Callee) -> String {
    format!("{callee}.")
}
