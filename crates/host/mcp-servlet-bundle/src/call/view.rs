//! What the expressions of a call see.

use std::fmt;

use serde_json::{Map, Value};

use crate::{
    JsonObject,
    scope::{Part, Scope},
    shape::RESULT,
    thrown::Thrown,
};

/// The session and the client of a request.
#[derive(Clone, Default, PartialEq)]
pub struct Session {
    /// The id of the session; empty if the protocol version has none.
    pub id: String,
    /// The client's name and version, as it sent them.
    pub client_info: JsonObject,
    /// The client's capabilities, as it sent them.
    pub capabilities: JsonObject,
}

impl fmt::Debug for Session {
    /// The id is a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("client_info", &self.client_info)
            .finish_non_exhaustive()
    }
}

/// A request to call a virtual tool.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The name of the tool.
    pub name: &'a str,
    /// The arguments.
    pub arguments: Option<&'a JsonObject>,
    /// `_meta` as the client sent it.
    pub meta: &'a JsonObject,
    /// The session and the client.
    pub session: &'a Session,
}

impl<'a> Request<'a> {
    /// What expressions see of the request. Only inputs see the metadata and the session.
    pub(super) fn scope(&self, given: &'a JsonObject, is_input: bool) -> Scope<'a>
    where
        Self: 'a,
    {
        let mut parts = vec![
            ("name", Part::Text(self.name)),
            ("arguments", Part::Map(given)),
        ];
        if is_input {
            let session = Part::Object(vec![
                ("id", Part::Text(&self.session.id)),
                ("clientInfo", Part::Map(&self.session.client_info)),
                ("capabilities", Part::Map(&self.session.capabilities)),
            ]);
            parts.extend([("meta", Part::Map(self.meta)), ("session", session)]);
        }
        Scope {
            roots: vec![("request", Part::Object(parts))],
        }
    }
}

/// A result: its members, and the members of its structured content that have other names.
pub(super) fn result(result: &Map<String, Value>) -> Part<'_> {
    let own = RESULT.into_iter();
    let own = own.filter_map(|name| Some((name, Part::Json(result.get(name)?))));
    let structured = result.get("structuredContent").and_then(Value::as_object);
    let structured = structured.into_iter().flatten();
    let structured = structured
        .filter(|(name, _)| !RESULT.contains(&name.as_str()))
        .map(|(name, value)| (name.as_str(), Part::Json(value)));
    Part::Object(own.chain(structured).collect())
}

/// A failure: its code, message and data.
pub(super) fn error(thrown: &Thrown) -> Part<'_> {
    let texts = [("code", &thrown.code), ("message", &thrown.message)];
    let texts = texts.map(|(name, text)| (name, Part::Text(text)));
    let data = thrown.data.as_ref().map(|data| ("data", Part::Json(data)));
    Part::Object(texts.into_iter().chain(data).collect())
}
