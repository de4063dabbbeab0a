//! Reads what clients send, in a form that rmcp reads.
//!
//! This is the only place that mends what imperfect clients send: text that is not quite JSON, empty arrays instead of objects,
//! members that are null, ids that are used twice, and arrays of messages. A message that needs no change is not copied.

mod initialize;

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use axum::body::Bytes;
use mcp_servlet_call::{JsonObject, RpcError};
use mcp_servlet_common::without_lone_surrogates;
use rmcp::{
    RoleServer,
    model::RequestId,
    service::RxJsonRpcMessage,
    transport::async_rw::{JsonRpcMessageCodec, JsonRpcMessageCodecError},
};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{Value, json, value::RawValue};
use tokio_util::{bytes::BytesMut, codec::Decoder as _};

use crate::{
    handler::attributes::CLIENT_INFO,
    own_id::Number,
    params::{self, Params, is_empty_array},
};

/// A message from a client.
pub(crate) type Incoming = RxJsonRpcMessage<RoleServer>;

/// The protocol version whose sessions have batches.
pub(crate) const BATCHES: &str = "2025-03-26";

/// The maximum number of messages in a batch.
const MAX_BATCH: usize = 100;

/// What a client has sent.
#[derive(Debug)]
pub(crate) enum Received {
    One(Message),
    /// The messages of an array.
    Batch(Vec<Result<Message, Refusal>>),
}

/// A valid JSON-RPC message.
#[derive(Debug)]
pub(crate) struct Message {
    bytes: Bytes,
    parts: Parts,
}

/// What the server needs to know about a message.
#[derive(Debug)]
struct Parts {
    kind: Kind,
    /// The id of a request.
    id: Option<Part>,
    /// The progress token of a request.
    token: Option<Part>,
    /// The `requestId` of a cancellation.
    cancels: Option<Part>,
    method: Box<str>,
    /// Whether it is a request since 2026-07-28.
    is_modern: bool,
    /// Whether its `_meta` names a protocol version.
    names_version: bool,
    edits: Vec<Edit>,
}

/// The message that an HTTP response answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answered {
    /// The id, if it is a request. It is empty otherwise.
    pub(crate) id: String,
    pub(crate) method: String,
}

/// A part of a message: where it is, and its JSON.
#[derive(Clone, Debug)]
struct Part {
    at: Range<usize>,
    json: String,
}

/// A part that is written in another way.
#[derive(Debug)]
struct Edit {
    at: Range<usize>,
    text: String,
}

/// The kind of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The request `initialize` for this protocol version. It opens a session.
    Initialize(String),
    /// Another request.
    Request,
    /// The cancellation of a request.
    Cancelled(RequestId),
    /// A response or another notification.
    Other,
}

/// The members that decide whether a message is valid.
#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: String,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    #[expect(clippy::option_option, reason = "null differs from absent")]
    method: Option<Option<String>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Deserializes `null` as a value instead of `None`.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    value: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

impl<'a> Envelope<'a> {
    fn of(text: &'a str) -> Result<Self, Refusal> {
        match serde_json::from_str(text) {
            // serde would also accept an array with the right number of items.
            Ok(envelope) if text.trim_ascii_start().starts_with('{') => Ok(envelope),
            _ => Err(refusal(text)),
        }
    }

    /// The members that are null instead of absent. rmcp only looks whether a member is there. A request with a null `id` is
    /// invalid, but a notification never needs one.
    fn nulls(&self) -> Vec<&'static str> {
        let is_null =
            |member: Option<&RawValue>| member.is_some_and(|member| member.get() == "null");
        let method = self.method.as_ref().map(Option::as_deref);
        let notifies = method
            .flatten()
            .is_some_and(|method| method.starts_with("notifications/"));
        let members = [
            ("id", notifies && is_null(self.id)),
            ("method", method == Some(None)),
            ("result", is_null(self.result)),
            ("error", is_null(self.error)),
        ];
        let nulls = members.into_iter().filter(|(_, is_null)| *is_null);
        nulls.map(|(name, _)| name).collect()
    }
}

impl Message {
    pub(crate) fn kind(&self) -> &Kind {
        &self.parts.kind
    }

    pub(crate) fn is_request(&self) -> bool {
        self.parts.id.is_some()
    }

    /// Whether it is a request since 2026-07-28.
    pub(crate) fn is_modern(&self) -> bool {
        self.parts.is_modern
    }

    /// Whether its `_meta` names a protocol version of any era. rmcp then answers it outside of any session.
    pub(crate) fn names_version(&self) -> bool {
        self.parts.names_version
    }

    /// The id as the client wrote it, if this is a request.
    pub(crate) fn id(&self) -> Option<Value> {
        self.parts.id.as_ref().map(Part::value)
    }

    /// The method. Empty for a response.
    pub(crate) fn method(&self) -> &str {
        &self.parts.method
    }

    /// The name of the tool that it calls.
    pub(crate) fn tool(&self) -> Option<String> {
        if &*self.parts.method != "tools/call" {
            return None;
        }
        let message: Value = serde_json::from_slice(&self.bytes).ok()?;
        Some(message["params"]["name"].as_str()?.to_owned())
    }

    /// What the client says about itself in this message. `name` and `version` are empty if it does not say them.
    pub(crate) fn client(&self) -> JsonObject {
        let message: Value = serde_json::from_slice(&self.bytes).unwrap_or_default();
        let params = &message["params"];
        let info = match self.parts.kind {
            Kind::Initialize(_) => &params["clientInfo"],
            _ => &params["_meta"][CLIENT_INFO],
        };
        let mut client = info.as_object().cloned().unwrap_or_default();
        for name in ["name", "version"] {
            client.entry(name).or_insert_with(|| "".into());
        }
        client
    }

    /// What the headers of its response can read.
    pub(crate) fn answered(&self) -> Answered {
        Answered {
            id: match self.id() {
                Some(Value::String(id)) => id,
                Some(id) => id.to_string(),
                None => String::new(),
            },
            method: self.parts.method.to_string(),
        }
    }

    /// The id as rmcp reads it, if this is a request.
    pub(crate) fn request_id(&self) -> Option<RequestId> {
        self.parts.id.as_ref().and_then(Part::read)
    }

    /// Gives a request an id and a progress token of its own. Returns the JSON of the id.
    pub(crate) fn set_own_id(&mut self) -> Option<String> {
        let (number, parts) = (Number::next(), &mut self.parts);
        let id = parts.id.as_ref()?;
        let own = number.own_json(&id.json);
        parts.edits.push(id.replaced(own.clone()));
        let token = parts
            .token
            .as_ref()
            .map(|token| token.replaced(number.own_json(&token.json)));
        parts.edits.extend(token);
        Some(own)
    }

    /// Cancels the request with this id of our own instead of the one that the client named.
    pub(crate) fn set_cancelled(&mut self, own: &str) {
        let cancels = self.parts.cancels.as_ref();
        let edit = cancels.map(|part| part.replaced(own.to_owned()));
        self.parts.edits.extend(edit);
    }

    /// The message as rmcp may read it.
    pub(crate) fn into_bytes(self) -> Bytes {
        let Self { bytes, mut parts } = self;
        if parts.edits.is_empty() {
            return bytes;
        }
        parts.edits.sort_by_key(|edit| edit.at.start);
        let mut edited = Vec::with_capacity(bytes.len() + 64 * parts.edits.len());
        let mut copied = 0;
        for Edit { at, text } in parts.edits {
            edited.extend_from_slice(&bytes[copied..at.start]);
            edited.extend_from_slice(text.as_bytes());
            copied = at.end;
        }
        edited.extend_from_slice(&bytes[copied..]);
        edited.into()
    }
}

impl Part {
    /// `part` must be borrowed from `text`.
    fn of(text: &str, part: &RawValue) -> Self {
        let json = part.get();
        let start = json.as_ptr().addr() - text.as_ptr().addr();
        Self {
            at: start..start + json.len(),
            json: json.to_owned(),
        }
    }

    fn read<'de, T: Deserialize<'de>>(&'de self) -> Option<T> {
        serde_json::from_str(&self.json).ok()
    }

    fn value(&self) -> Value {
        self.read().unwrap_or_default()
    }

    fn replaced(&self, text: String) -> Edit {
        Edit {
            at: self.at.clone(),
            text,
        }
    }
}

/// Why a message is invalid.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The id of the request, or null if it is unknown.
    id: Value,
    error: Box<RpcError>,
}

impl Refusal {
    /// The text is JSON, but not a JSON-RPC message.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        RpcError::new(RpcError::INVALID_REQUEST, message).into()
    }

    /// Whether the method is unknown.
    pub(crate) fn is_method_not_found(&self) -> bool {
        self.error.code == RpcError::METHOD_NOT_FOUND
    }

    /// The server is stopping and refuses the request with this id.
    pub(crate) fn stopping(id: Value) -> Self {
        let error = RpcError::new(RpcError::BUSY, "the server is stopping");
        Self { id, ..error.into() }
    }

    /// The same refusal, for the request with this id.
    pub(crate) fn with_id(mut self, id: Option<Value>) -> Self {
        let is_id = |id: &Value| id.is_string() || id.is_number();
        self.id = id.filter(is_id).unwrap_or(Value::Null);
        self
    }

    /// The error response.
    pub(crate) fn to_json(&self) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.id, "error": self.error })
    }
}

impl From<RpcError> for Refusal {
    fn from(error: RpcError) -> Self {
        Self {
            id: Value::Null,
            error: Box::new(error),
        }
    }
}

/// Some editors and servers of .NET write it before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a message, or an array of messages if `takes_batches`.
pub(crate) fn read(mut bytes: Bytes, takes_batches: bool) -> Result<Received, Refusal> {
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes = bytes.slice(BYTE_ORDER_MARK.len()..);
    }
    let text = std::str::from_utf8(&bytes).map_err(|error| invalid_json(&error))?;
    if let Cow::Owned(repaired) = without_lone_surrogates(text) {
        tracing::warn!("message changed: half of a surrogate pair became U+FFFD");
        return read(repaired.into(), takes_batches);
    }
    if text.trim_ascii_start().starts_with('[') {
        return batch(&bytes, text, takes_batches).map(Received::Batch);
    }
    one(&bytes, text).map(Received::One)
}

/// The message with this text, which is a part of `bytes`.
fn one(bytes: &Bytes, text: &str) -> Result<Message, Refusal> {
    let envelope = Envelope::of(text)?;
    let nulls = envelope.nulls();
    if nulls.is_empty() {
        let parts = parts(text, envelope)?;
        let bytes = bytes.slice_ref(text.as_bytes());
        return Ok(Message { bytes, parts });
    }
    let mut members = serde_json::from_str::<BTreeMap<String, &RawValue>>(text)
        .map_err(|error| invalid_json(&error))?;
    members.retain(|name, _| !nulls.contains(&&**name));
    let text = serde_json::to_string(&members).expect("a message is JSON");
    let parts = parts(&text, Envelope::of(&text)?)?;
    Ok(Message {
        bytes: text.into(),
        parts,
    })
}

fn invalid_json(error: &dyn std::fmt::Display) -> Refusal {
    RpcError::new(RpcError::PARSE_ERROR, format!("invalid JSON: {error}")).into()
}

/// The messages of an array.
fn batch(
    bytes: &Bytes,
    text: &str,
    takes_batches: bool,
) -> Result<Vec<Result<Message, Refusal>>, Refusal> {
    let messages: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|error| invalid_json(&error))?;
    if !takes_batches {
        let message = format!(
            "batches are only supported in sessions of {BATCHES}, and not over HTTP+SSE; send each message by itself"
        );
        return Err(Refusal::invalid(message));
    }
    if messages.is_empty() || messages.len() > MAX_BATCH {
        let message = format!(
            "expected a batch of 1 to {MAX_BATCH} messages, found {}",
            messages.len()
        );
        return Err(Refusal::invalid(message));
    }
    let messages = messages.into_iter().map(|message| {
        let message = one(bytes, message.get())?;
        if let Kind::Initialize(_) = message.kind() {
            let refusal = Refusal::invalid("`initialize` cannot be part of a batch");
            return Err(refusal.with_id(message.id()));
        }
        Ok(message)
    });
    Ok(messages.collect())
}

/// Checks that a text is a JSON-RPC message, and finds its parts.
fn parts(text: &str, envelope: Envelope<'_>) -> Result<Parts, Refusal> {
    let answers = envelope.result.is_some() || envelope.error.is_some();
    let id = envelope
        .id
        .filter(|_| !answers)
        .map(|id| Part::of(text, id));
    let of_request = |refusal: Refusal| refusal.with_id(id.as_ref().map(Part::value));
    if envelope.jsonrpc != "2.0" {
        return Err(of_request(wrong("`jsonrpc` must be \"2.0\"")));
    }
    let mut parts = Parts {
        kind: Kind::Other,
        id: None,
        token: None,
        cancels: None,
        method: Box::default(),
        is_modern: false,
        names_version: false,
        edits: Vec::new(),
    };
    let Some(method) = envelope.method.flatten() else {
        if answers {
            return Ok(parts);
        }
        return Err(of_request(wrong("`method` is missing")));
    };
    // rmcp only supports these ids.
    if id
        .as_ref()
        .is_some_and(|id| id.read::<RequestId>().is_none())
    {
        let problem = "`id` must be a string, or an integer of 64 bits";
        return Err(wrong(problem));
    }
    if method == "initialize" && id.is_none() {
        return Err(wrong("`id` is missing: `initialize` is a request"));
    }
    if let Some(params) = envelope.params {
        match add_params(&mut parts, text, &method, params) {
            // JSON-RPC has no answer to a notification.
            Err(_) if id.is_none() => {
                tracing::debug!(%method, "params of a notification ignored, because they are invalid");
                parts.edits = vec![Part::of(text, params).replaced("{}".to_owned())];
            }
            added => added.map_err(of_request)?,
        }
    } else if method == "initialize" {
        initialize::normalized("{}")
            .map_err(|problem| of_request(wrong_params(&method, &problem)))?;
    }
    if id.is_some() && parts.kind == Kind::Other {
        parts.kind = Kind::Request;
    }
    parts.id = id;
    parts.method = method.into();
    Ok(parts)
}

/// The longest parameters of `initialize`, in bytes. Sessions keep them, with icons as data.
const LONGEST_HANDSHAKE: usize = 256 << 10;

/// Checks the parameters of a message, and adds what is in them.
fn add_params(
    parts: &mut Parts,
    text: &str,
    method: &str,
    params: &RawValue,
) -> Result<(), Refusal> {
    let whole = Part::of(text, params);
    if method == "initialize" {
        if params.get().len() > LONGEST_HANDSHAKE {
            let problem = format!("expected parameters of at most {LONGEST_HANDSHAKE} bytes");
            return Err(wrong_params(method, &problem));
        }
        params::check_params(method, params.get())?;
        let params = initialize::normalized(params.get())
            .map_err(|problem| wrong_params(method, &problem))?;
        let version = params["protocolVersion"].as_str().unwrap_or_default();
        parts.kind = Kind::Initialize(version.to_owned());
        parts.edits.push(whole.replaced(params.to_string()));
        return Ok(());
    }
    // PHP writes an empty object as `[]`.
    if is_empty_array(params.get()) {
        parts.edits.push(whole.replaced("{}".to_owned()));
        return Ok(());
    }
    let Params {
        meta,
        arguments,
        request_id,
    } = params::check_params(method, params.get())?;
    for part in [meta, arguments].into_iter().flatten() {
        if is_empty_array(part.get()) {
            parts
                .edits
                .push(Part::of(text, part).replaced("{}".to_owned()));
        }
    }
    let meta = meta.map_or_else(Default::default, |meta| params::Meta::read(meta.get()));
    let is_token = |token: &&RawValue| {
        !matches!(
            token.get().as_bytes().first(),
            Some(b'n' | b't' | b'f' | b'{' | b'[')
        )
    };
    parts.token = meta
        .token
        .filter(is_token)
        .map(|token| Part::of(text, token));
    parts.is_modern = meta.is_modern();
    parts.names_version = meta.names_version();
    if method == "notifications/cancelled"
        && let Some(cancels) = request_id.map(|id| Part::of(text, id))
        && let Some(id) = cancels.read()
    {
        parts.kind = Kind::Cancelled(id);
        parts.cancels = Some(cancels);
    }
    Ok(())
}

/// Why this text is not a valid message.
fn refusal(text: &str) -> Refusal {
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        return invalid_json(&error);
    }
    let problem = params::problem_in::<Envelope<'_>>(text);
    wrong(problem.as_deref().unwrap_or("expected an object")).with_id(id(text))
}

/// The id of an invalid message, if it could be a request. The id of a response belongs to one of
/// the server's own requests.
fn id(text: &str) -> Option<Value> {
    let mut members: JsonObject = serde_json::from_str(text).ok()?;
    let answers = ["result", "error"]
        .iter()
        .any(|name| members.contains_key(*name));
    (!answers).then(|| members.shift_remove("id"))?
}

fn wrong(problem: &str) -> Refusal {
    Refusal::invalid(format!("invalid JSON-RPC message: {problem}"))
}

fn wrong_params(method: &str, problem: &str) -> Refusal {
    params::wrong(method, problem).into()
}

/// Why rmcp cannot read a message. It takes requests and notifications of any form, so only responses are left.
const UNREADABLE: &str = "invalid MCP message: expected a request, a notification, or a response with an `id` and either an object as \
    `result` or an `error` with `code` and `message`";

/// Decodes a message with rmcp's codec. None if the message can be ignored.
pub(crate) fn decode(bytes: Bytes) -> Result<Option<Incoming>, Refusal> {
    let mut line = bytes
        .try_into_mut()
        .unwrap_or_else(|shared| BytesMut::from(&*shared));
    // The codec works on lines. Within JSON, a line break means the same as a space.
    for byte in line.iter_mut() {
        if *byte == b'\n' {
            *byte = b' ';
        }
    }
    line.extend_from_slice(b"\n");
    let message = JsonRpcMessageCodec::default().decode(&mut line);
    message.map_err(|error| match error {
        // Such as a number that is out of range.
        JsonRpcMessageCodecError::Serde(error) if !error.is_data() => {
            Refusal::invalid(format!("invalid MCP message: {error}"))
        }
        _ => Refusal::invalid(UNREADABLE),
    })
}

/// Why rmcp cannot read these bytes as a message.
pub(crate) fn unreadable(bytes: Bytes) -> Refusal {
    let refused = decode(bytes).err();
    refused.unwrap_or_else(|| Refusal::invalid(UNREADABLE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own_id;

    fn read_one(text: &str) -> Result<Message, Refusal> {
        match read(Bytes::copy_from_slice(text.as_bytes()), false)? {
            Received::One(message) => Ok(message),
            Received::Batch(messages) => panic!("{messages:?}"),
        }
    }

    /// The text that rmcp reads.
    fn normalized(text: &str) -> String {
        let bytes = read_one(text).expect("a message").into_bytes();
        String::from_utf8(bytes.into()).expect("text")
    }

    #[test]
    fn a_notification_is_never_answered() {
        let notification = |params: &str| {
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{params}}}"#)
        };
        for params in ["[1]", "7", r#"{"_meta":5}"#] {
            assert_eq!(normalized(&notification(params)), notification("{}"));
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let message = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert_eq!(normalized(&format!("\u{feff}{message}")), message);
    }

    #[test]
    fn what_clients_write_becomes_what_rmcp_reads() {
        let request = |params: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
        };
        for (written, expected) in [
            ("[]", "{}"),
            ("[ ]", "{}"),
            (
                r#"{"name":"t","arguments":[]}"#,
                r#"{"name":"t","arguments":{}}"#,
            ),
            (r#"{"_meta":[],"name":"t"}"#, r#"{"_meta":{},"name":"t"}"#),
            (
                r#"{"name":"t","arguments":{"a":[],"b":null}}"#,
                r#"{"name":"t","arguments":{"a":[],"b":null}}"#,
            ),
            (
                r#"{"name":"t","arguments":{"a":"\ud83d"}}"#,
                r#"{"name":"t","arguments":{"a":"\ufffd"}}"#,
            ),
        ] {
            assert_eq!(normalized(&request(written)), request(expected));
            let decoded = decode(normalized(&request(expected)).into());
            assert!(decoded.expect("a message").is_some(), "{expected}");
        }
        let float = r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#;
        assert_eq!(
            read_one(float).expect("a message").request_id(),
            Some(RequestId::Number(1))
        );
        assert_eq!(normalized(float), float);
    }

    #[test]
    fn null_members_count_as_absent() {
        for (written, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":0,"method":null,"params":null,"result":{"a":1.0},"error":null}"#,
                r#"{"id":0,"jsonrpc":"2.0","params":null,"result":{"a":1.0}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":0,"result":null,"error":{"code":-1,"message":"no","data":null}}"#,
                r#"{"error":{"code":-1,"message":"no","data":null},"id":0,"jsonrpc":"2.0"}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{},"result":null,"error":null}"#,
                r#"{"id":1,"jsonrpc":"2.0","method":"tools/list","params":{}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}"#,
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            ),
        ] {
            assert_eq!(normalized(written), expected);
            let decoded = decode(normalized(written).into());
            assert!(decoded.expect("a message").is_some(), "{expected}");
        }
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping","error":null}]"#;
        let Ok(Received::Batch(mut messages)) = read(batch.into(), true) else {
            panic!("a batch");
        };
        let ping = messages.remove(0).expect("a message").into_bytes();
        assert_eq!(ping, r#"{"id":1,"jsonrpc":"2.0","method":"ping"}"#);
    }

    #[test]
    fn a_request_gets_an_id_and_a_token_of_its_own() {
        let text =
            r#"{"id": 7 ,"params":{"_meta":{"progressToken":"p"}},"jsonrpc":"2.0","method":"m"}"#;
        let mut message = read_one(text).expect("a message");
        let own = message.set_own_id().expect("an id");
        let edited: Value = serde_json::from_slice(&message.into_bytes()).expect("JSON");
        assert_eq!(edited["id"].to_string(), own);
        assert_eq!(own_id::client_value(&edited["id"]), 7);
        let token = &edited["params"]["_meta"]["progressToken"];
        assert_eq!(own_id::client_value(token), "p");
        assert_ne!(*token, "p");
        let cancelled =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7.0}}"#;
        let mut message = read_one(cancelled).expect("a message");
        assert_eq!(*message.kind(), Kind::Cancelled(RequestId::Number(7)));
        message.set_cancelled(&own);
        let edited: Value = serde_json::from_slice(&message.into_bytes()).expect("JSON");
        assert_eq!(edited["params"]["requestId"].to_string(), own);
    }

    #[test]
    fn batches_are_split_in_sessions_that_have_them() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let opening = r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
        let batch = |messages: &[&str]| Bytes::from(format!("[{}]", messages.join(",")));
        let refused = |bytes, takes_batches| {
            let refusal = read(bytes, takes_batches).expect_err("a refusal");
            refusal.error.code
        };
        assert_eq!(refused(batch(&[ping]), false), -32600);
        assert_eq!(refused(batch(&[]), true), -32600);
        assert_eq!(refused(batch(&[ping; 101]), true), -32600);
        assert_eq!(refused(Bytes::from_static(b"[1"), true), -32700);
        let read = read(batch(&[ping, "5", opening]), true).expect("a batch");
        let Received::Batch(messages) = read else {
            panic!("{read:?}");
        };
        let ids: Vec<_> = messages
            .iter()
            .map(|message| match message {
                Ok(message) => message.id().unwrap_or_default(),
                Err(refusal) => refusal.to_json()["id"].clone(),
            })
            .collect();
        assert_eq!(ids, [json!(1), Value::Null, json!(2)]);
        assert!(messages[0].is_ok() && messages[1].is_err() && messages[2].is_err());
    }

    #[test]
    fn error_has_the_id_of_the_refused_request() {
        let id = |text: &str| read_one(text).expect_err(text).to_json()["id"].clone();
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
            (r#"{"jsonrpc":"1.0","id":"a","method":"m"}"#, json!("a")),
            (r#"{"id":7,"method":"m"}"#, json!(7)),
            (r#"{"jsonrpc":2,"id":7,"method":"m"}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":[7],"params":{}}"#, Value::Null),
            (r#"{"jsonrpc":"1.0","id":7,"result":{}}"#, Value::Null),
            (r#"{"id":7,"error":{}}"#, Value::Null),
            (r#"{"id":7"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, Value::Null),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}"#,
                json!(7),
            ),
        ] {
            assert_eq!(id(text), expected, "{text}");
        }
    }

    #[test]
    fn reports_the_problem_of_an_invalid_message() {
        let code = |text: &str| read_one(text).err().map(|refusal| refusal.error.code);
        for good in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null,"_meta":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null,"_meta":null}}"#,
        ] {
            assert_eq!(code(good), None, "{good}");
        }
        for broken in ["", "{", "nonsense", "{}{}"] {
            assert_eq!(code(broken), Some(-32700), "{broken}");
        }
        for params in [
            "[1]",
            "5",
            "\"a\"",
            "false",
            r#"{"_meta":[1]}"#,
            r#"{"_meta":5}"#,
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#);
            assert_eq!(code(&text), Some(-32602), "{text}");
        }
        for wrong in [
            "[]",
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#,
            "1",
            "{}",
            r#"{"jsonrpc":"1.0","method":"m"}"#,
            r#"{"jsonrpc":"2.0"}"#,
        ] {
            assert_eq!(code(wrong), Some(-32600), "{wrong}");
        }
    }
}
