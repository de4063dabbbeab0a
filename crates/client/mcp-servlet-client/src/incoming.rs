//! Normalises what a server sends, before anything else reads it.
//!
//! Many servers send messages that JSON-RPC and MCP do not allow, but whose meaning is clear: members that are null, empty
//! arrays of PHP instead of objects, ids and codes as floats. This is the only module of the client that mends them.
//! `docs/decisions/0062-one-place-mends-servers.md` has the reasons.

mod filter;
mod opening;

use std::borrow::Cow;
use std::fmt;

use mcp_servlet_common::shape::{self, Shape};
use mcp_servlet_common::{value_kind, without_lone_surrogates};
use rmcp::model::RequestId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) use self::opening::no_common_version;
use crate::error::Error;

/// What rmcp gets instead of a code that cannot be read.
const INTERNAL_ERROR: i64 = -32603;

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

/// The members of a message. Null differs from absent.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// The text of a message, as UTF-8 without lone surrogates. What was wrong became U+FFFD.
pub(crate) fn text<'a>(bytes: &'a [u8], mended: &mut Mended) -> Cow<'a, str> {
    let mark = bytes.strip_prefix("\u{feff}".as_bytes());
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

impl<'a> Message<'a> {
    /// Reads a message. None if the text is not a JSON object. `post` is the request to which the text is the response over
    /// HTTP: the body of a POST answers that POST, whatever its id is.
    pub(crate) fn read(
        text: &'a str,
        post: Option<&RequestId>,
        mended: &mut Mended,
    ) -> Option<Self> {
        let members: Members<'_> = serde_json::from_str(text).ok()?;
        if members
            .jsonrpc
            .is_none_or(|version| version.get() != "\"2.0\"")
        {
            mended.add("is not \"2.0\"", "jsonrpc");
        }
        let id = members.id.and_then(|id| request_id(id, mended));
        if let Some(method) = members.method {
            let shape = shape::of_params(&method);
            let params = members
                .params
                .filter(|params| !is_null(params, "params", mended))
                .map(|params| mend(Cow::Borrowed(params), shape, mended));
            return Some(Self::Call { id, method, params });
        }
        let id = match post {
            Some(post) => {
                if id.is_none_or(|id| id.to_string() != post.to_string()) {
                    mended.add("is not that of the request that the message answers", "id");
                }
                Some(post.clone())
            }
            None => id,
        };
        let reply = match (members.error, members.result) {
            (Some(error), result) => {
                if result.is_some_and(|result| result.get() != "null") {
                    mended.add("and `error` are both there; the error counts", "result");
                }
                Reply::Error(ErrorObject::read(error, mended))
            }
            (None, Some(result)) => Reply::Result(Cow::Borrowed(result)),
            (None, None) => Reply::Error(ErrorObject::nothing(mended)),
        };
        Some(Self::Response { id, reply })
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
            message: message.unwrap_or_else(|| "no message".to_owned()),
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
        Value::Null => "no message".to_owned(),
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

/// A member that is there, even if it is `null`.
fn present<'de, D>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Deserialize::deserialize(deserializer).map(Some)
}

impl Mended {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was changed, for people.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.0.iter()
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
