//! Normalises what a server sends, before anything else reads it.
//!
//! Many servers send messages that JSON-RPC and MCP do not allow, but whose meaning is clear: members that are null, empty
//! arrays of PHP instead of objects, ids and codes as floats. This is the only module of the client that mends them.
//! `docs/decisions/0062-one-place-mends-servers.md` has the reasons.

mod filter;
mod opening;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use mcp_servlet_common::shape::{self, Shape};
use mcp_servlet_common::{value_kind, without_lone_surrogates};
use rmcp::model::RequestId;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) use self::opening::no_common_version;
use crate::error::Error;

/// What rmcp gets instead of a code that cannot be read.
const INTERNAL_ERROR: i64 = -32603;

/// The message of an error without one.
pub(crate) const NO_MESSAGE: &str = "no message";
/// The start of the message of an error that only has data. The data follow.
pub(crate) const NO_MESSAGE_BUT_DATA: &str = "no message, but data: ";

/// Some editors and servers of .NET write it before a text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What was mended in a message: each change once, with the number of times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mended(Vec<Change>);

/// One kind of change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    what: &'static str,
    /// The members that lead to it, with `*` for any name or index.
    at: String,
    count: usize,
}

/// A message of a server.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Response {
        /// None if it has no id that a request could have.
        id: Option<RequestId>,
        reply: Reply<'a>,
    },
    /// A request or a notification.
    Call {
        id: Option<RequestId>,
        method: String,
        params: Option<Cow<'a, RawValue>>,
    },
}

/// The reply to a request.
#[derive(Debug)]
pub(crate) enum Reply<'a> {
    Result(Cow<'a, RawValue>),
    Error(ErrorObject),
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ErrorObject {
    /// None if the server sent no integer.
    #[serde(serialize_with = "code_or_internal")]
    pub(crate) code: Option<i64>,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
}

/// The members of a message. Of two with one name, the last counts.
struct Members<'a>(HashMap<String, &'a RawValue>);

/// The text of a message, as UTF-8 without lone surrogates. What was wrong became U+FFFD.
pub(crate) fn text<'a>(bytes: &'a [u8], mended: &mut Mended) -> Cow<'a, str> {
    let mark = bytes.strip_prefix(BYTE_ORDER_MARK);
    if mark.is_some() {
        mended.add("begins with a byte order mark; left out", "");
    }
    let text = String::from_utf8_lossy(mark.unwrap_or(bytes));
    if matches!(text, Cow::Owned(_)) {
        mended.add("is not valid UTF-8; the wrong bytes became U+FFFD", "");
    }
    let repaired = match without_lone_surrogates(&text) {
        Cow::Borrowed(_) => return text,
        Cow::Owned(repaired) => repaired,
    };
    mended.add("has half of a surrogate pair, which became U+FFFD", "");
    Cow::Owned(repaired)
}

/// The messages of a batch, which servers of 2025-03-26 may send. None if the text is not one.
pub(crate) fn batch(bytes: &[u8]) -> Option<Vec<&RawValue>> {
    if bytes.trim_ascii_start().first() != Some(&b'[') {
        return None;
    }
    let messages: Vec<&RawValue> = serde_json::from_slice(bytes).ok()?;
    let is_batch = !messages.is_empty() && messages.iter().all(|one| one.get().starts_with('{'));
    is_batch.then_some(messages)
}

impl<'a> Message<'a> {
    /// Reads a message. None for anything else that a server writes, such as lines of a log or JSON that keeps a connection alive.
    pub(crate) fn read(text: &'a str, mended: &mut Mended) -> Option<Self> {
        let members = Members::read(text)?;
        members
            .are_of_a_message()
            .then(|| members.message(mended))?
    }

    /// Reads the body of an HTTP response. Any JSON object counts as a message there. None if it is not one.
    pub(crate) fn read_body(text: &'a str, mended: &mut Mended) -> Option<Self> {
        Members::read(text)?.message(mended)
    }

    pub(crate) fn response(id: Option<RequestId>, reply: Reply<'a>) -> Self {
        Self::Response { id, reply }
    }

    /// The message as JSON.
    pub(crate) fn to_text(&self) -> String {
        let mut members = WrittenMembers {
            jsonrpc: "2.0",
            id: None,
            method: None,
            params: None,
            result: None,
            error: None,
        };
        match self {
            Self::Response { id, reply } => {
                members.id = id.as_ref();
                match reply {
                    Reply::Result(result) => members.result = Some(result),
                    Reply::Error(error) => members.error = Some(error),
                }
            }
            Self::Call { id, method, params } => {
                members.id = id.as_ref();
                members.method = Some(method);
                members.params = params.as_deref();
            }
        }
        serde_json::to_string(&members).expect("a message is JSON")
    }
}

impl<'a> Members<'a> {
    fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).map(Self).ok()
    }

    /// A member. Null differs from absent.
    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).copied()
    }

    /// A member, unless it is null.
    fn some(&self, name: &str) -> Option<&'a RawValue> {
        self.get(name).filter(|value| value.get() != "null")
    }

    /// Whether they are those of a message. Programs also log JSON that has a member `id`, `method` or `error`.
    fn are_of_a_message(&self) -> bool {
        const KNOWN: [&str; 5] = ["id", "method", "params", "result", "error"];
        let has_content = ["method", "error"]
            .iter()
            .any(|name| self.some(name).is_some())
            || self.get("result").is_some();
        match self.get("jsonrpc") {
            Some(_) => has_content || self.some("id").is_some(),
            None => has_content && self.0.keys().all(|name| KNOWN.contains(&&**name)),
        }
    }

    fn message(&self, mended: &mut Mended) -> Option<Message<'a>> {
        let version = self.get("jsonrpc");
        if version.is_none_or(|version| version.get() != "\"2.0\"") {
            mended.add("is not \"2.0\"", "jsonrpc");
        }
        let id = self.get("id").and_then(|id| request_id(id, mended));
        if let Some(method) = self.some("method") {
            let method: String = serde_json::from_str(method.get()).ok()?;
            let shape = shape::of_params(&method);
            let params = self
                .get("params")
                .filter(|params| !is_null(params, "params", mended))
                .map(|params| mend(Cow::Borrowed(params), shape, mended));
            return Some(Message::Call { id, method, params });
        }
        let reply = match (self.some("error"), self.get("result")) {
            (Some(error), result) => {
                if result.is_some_and(|result| result.get() != "null") {
                    mended.add("and `error` are both there; the error counts", "result");
                }
                Reply::Error(ErrorObject::read(error, mended))
            }
            (None, Some(result)) => Reply::Result(Cow::Borrowed(result)),
            (None, None) => Reply::Error(ErrorObject::nothing(mended)),
        };
        Some(Message::Response { id, reply })
    }
}

/// The members of a message for rmcp.
#[derive(Serialize)]
struct WrittenMembers<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RequestId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorObject>,
}

impl Reply<'_> {
    /// Mends the result of a request.
    ///
    /// # Errors
    /// If a handshake returned a result without a member that MCP requires.
    pub(crate) fn mend_result(
        self,
        method: &str,
        stateless: bool,
        mended: &mut Mended,
    ) -> Result<Self, Error> {
        let Self::Result(result) = self else {
            return Ok(self);
        };
        let shape = shape::of_result(method, stateless, result.get());
        let result = mend(result, shape, mended);
        Ok(Self::Result(match method {
            "initialize" => {
                opening::initialize(result.get())?;
                result
            }
            "server/discover" if !stateless => opening::discover(result)?,
            _ => result,
        }))
    }
}

/// Why a result cannot be used, as the error of a server.
impl From<Error> for Reply<'_> {
    fn from(error: Error) -> Self {
        Self::Error(ErrorObject::new(error.message().to_owned()))
    }
}

impl ErrorObject {
    /// Reads an error. One that is not an object is the message.
    pub(crate) fn read(error: &RawValue, mended: &mut Mended) -> Self {
        let mut error = match serde_json::from_str(error.get()).unwrap_or_default() {
            Value::Object(error) => error,
            other => {
                mended.add("is not an object", "error");
                return Self::new(message(other));
            }
        };
        let code = error.remove("code").unwrap_or_default();
        let message = error.remove("message").map(message);
        Self {
            code: code_of(&code).or_else(|| {
                mended.add("is not an integer", "error/code");
                None
            }),
            message: message.unwrap_or_else(|| NO_MESSAGE.to_owned()),
            data: error.remove("data").filter(|data| !data.is_null()),
        }
    }

    /// The error for a response without `result` and `error`.
    fn nothing(mended: &mut Mended) -> Self {
        mended.add("has neither `result` nor `error`", "");
        Self::new("the response has neither a result nor an error".to_owned())
    }

    fn new(message: String) -> Self {
        Self {
            code: None,
            message,
            data: None,
        }
    }
}

#[expect(clippy::ref_option, reason = "serde wants a reference")]
fn code_or_internal<S: serde::Serializer>(
    code: &Option<i64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(code.unwrap_or(INTERNAL_ERROR))
}

/// The code of an error: an integer, also as a float or in a text.
fn code_of(code: &Value) -> Option<i64> {
    match code {
        Value::String(text) => text.trim().parse().ok(),
        number => integer(number),
    }
}

/// A whole number, also if it is written as a float.
pub(crate) fn integer(number: &Value) -> Option<i64> {
    let float = || {
        let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
        format!("{float:.0}").parse().ok()
    };
    number.as_i64().or_else(float)
}

/// The text of an error.
fn message(message: Value) -> String {
    match message {
        Value::String(text) => text,
        Value::Null => NO_MESSAGE.to_owned(),
        other => other.to_string(),
    }
}

fn request_id(id: &RawValue, mended: &mut Mended) -> Option<RequestId> {
    match serde_json::from_str(id.get()).ok()? {
        Value::String(text) => Some(RequestId::String(text.into())),
        number => {
            if number.is_f64() {
                mended.add("is a float", "id");
            }
            integer(&number).map(RequestId::Number)
        }
    }
}

/// What a JSON value is, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Array(items) if items.is_empty() => "an empty array",
        value => value_kind(value),
    }
}

fn is_null(value: &RawValue, at: &'static str, mended: &mut Mended) -> bool {
    let is_null = value.get() == "null";
    if is_null {
        mended.add("is null; taken as absent", at);
    }
    is_null
}

fn mend<'a>(value: Cow<'a, RawValue>, shape: &Shape, mended: &mut Mended) -> Cow<'a, RawValue> {
    match filter::mend(value.get(), shape, mended) {
        Some(text) => Cow::Owned(RawValue::from_string(text).unwrap_or_default()),
        None => value,
    }
}

impl Mended {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was changed, for people.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.0.iter()
    }

    /// A response has another id than its request.
    pub(crate) fn add_other_id(&mut self) {
        self.add("differs from the `id` of the request", "id");
    }

    fn add(&mut self, what: &'static str, at: &str) {
        self.append(Self(vec![Change {
            what,
            at: at.to_owned(),
            count: 1,
        }]));
    }

    pub(crate) fn append(&mut self, other: Self) {
        for change in other.0 {
            let same = |one: &&mut Change| one.what == change.what && one.at == change.at;
            match self.0.iter_mut().find(same) {
                Some(one) => one.count += change.count,
                None => self.0.push(change),
            }
        }
    }
}

impl Change {
    /// The kind of change and its path, without the count.
    pub(crate) fn kind(&self) -> (&'static str, &str) {
        (self.what, &self.at)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.at {
            "" => f.write_str("the message")?,
            at => write!(f, "`{at}`")?,
        }
        write!(f, " {}", self.what)?;
        match self.count {
            1 => Ok(()),
            count => write!(f, " ({count} times)"),
        }
    }
}

#[cfg(test)]
mod tests;
