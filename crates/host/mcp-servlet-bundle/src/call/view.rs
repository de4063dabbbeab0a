//! What the expressions of a call see.

use std::{fmt, sync::LazyLock};

use mcp_servlet_expression::{Object, Part, Scope};

use crate::{JsonObject, step::RESULT, thrown::Thrown};

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
    /// The arguments, as [`accepted`](crate::Proven::accepted).
    pub arguments: Option<&'a JsonObject>,
    /// `_meta` as the client sent it.
    pub meta: &'a JsonObject,
    /// The session and the client.
    pub session: &'a Session,
}

impl<'a> Request<'a> {
    /// What inputs see of the request.
    pub(super) fn view_for_inputs(&self) -> RequestView<'a> {
        RequestView {
            meta: Some(self.meta),
            session: Some(self.session),
            ..self.view_for_outcome()
        }
    }

    /// What results and catches see of the request: neither the metadata nor the session.
    pub(super) fn view_for_outcome(&self) -> RequestView<'a> {
        RequestView {
            name: self.name,
            arguments: self.arguments.unwrap_or(&NONE),
            meta: None,
            session: None,
        }
    }
}

/// The arguments of a call without arguments.
static NONE: LazyLock<JsonObject> = LazyLock::new(JsonObject::new);

/// What expressions see of a request.
#[derive(Debug)]
pub(super) struct RequestView<'a> {
    name: &'a str,
    arguments: &'a JsonObject,
    meta: Option<&'a JsonObject>,
    session: Option<&'a Session>,
}

impl RequestView<'_> {
    pub(super) fn scope(&self) -> Scope<'_> {
        Scope::default().with("request", Part::Object(self))
    }
}

impl Object for RequestView<'_> {
    fn member(&self, name: &str) -> Option<Part<'_>> {
        Some(match name {
            "name" => Part::Text(self.name),
            "arguments" => Part::Map(self.arguments),
            "meta" => Part::Map(self.meta?),
            "session" => Part::Object(self.session?),
            _ => return None,
        })
    }

    fn members(&self) -> Vec<(&str, Part<'_>)> {
        members(self, ["name", "arguments", "meta", "session"])
    }
}

impl Object for Session {
    fn member(&self, name: &str) -> Option<Part<'_>> {
        Some(match name {
            "id" => Part::Text(&self.id),
            "clientInfo" => Part::Map(&self.client_info),
            "capabilities" => Part::Map(&self.capabilities),
            _ => return None,
        })
    }

    fn members(&self) -> Vec<(&str, Part<'_>)> {
        members(self, ["id", "clientInfo", "capabilities"])
    }
}

/// A result: its members, and the members of its structured content that have other names.
#[derive(Debug)]
pub(super) struct ResultView<'a>(pub(super) &'a JsonObject);

impl ResultView<'_> {
    fn structured(&self) -> Option<&JsonObject> {
        self.0.get("structuredContent")?.as_object()
    }
}

impl Object for ResultView<'_> {
    fn member(&self, name: &str) -> Option<Part<'_>> {
        let members = if RESULT.contains(&name) {
            self.0
        } else {
            self.structured()?
        };
        members.get(name).map(Part::Json)
    }

    fn members(&self) -> Vec<(&str, Part<'_>)> {
        let mut all = members(self, RESULT);
        let structured = self
            .structured()
            .into_iter()
            .flatten()
            .filter(|(name, _)| !RESULT.contains(&name.as_str()));
        all.extend(structured.map(|(name, value)| (name.as_str(), Part::Json(value))));
        all
    }
}

impl Object for Thrown {
    fn member(&self, name: &str) -> Option<Part<'_>> {
        Some(match name {
            "code" => Part::Text(&self.code),
            "message" => Part::Text(&self.message),
            "data" => Part::Json(self.data.as_ref()?),
            "step" => Part::Text(self.step.as_deref()?),
            _ => return None,
        })
    }

    fn members(&self) -> Vec<(&str, Part<'_>)> {
        members(self, ["code", "message", "data", "step"])
    }
}

/// The members with these names, as far as there are any.
fn members<'a, const N: usize>(
    object: &'a dyn Object,
    names: [&'static str; N],
) -> Vec<(&'a str, Part<'a>)> {
    let members = names.into_iter();
    members
        .filter_map(|name| Some((name, object.member(name)?)))
        .collect()
}
