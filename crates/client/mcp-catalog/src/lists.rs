//! The lists of one server, as JSON text.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A server's description of itself and its lists, entry by entry as the server wrote them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lists {
    /// The protocol version of the connection.
    pub protocol: String,
    /// What the server says about itself.
    pub server: ServerText,
    /// The entries of all pages of `tools/list`; `None` if the server does not have the capability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Box<RawValue>>>,
    /// The entries of `resources/list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<Box<RawValue>>>,
    /// The entries of `resources/templates/list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_templates: Option<Vec<Box<RawValue>>>,
    /// The entries of `prompts/list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Vec<Box<RawValue>>>,
    /// What went wrong while they were listed. The catalog's diagnostics begin with these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ListProblem>,
}

/// What a server says about itself, as it wrote it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServerText {
    /// `serverInfo`: name, version and more.
    pub info: Box<RawValue>,
    /// The parts of MCP that the server implements.
    pub capabilities: Box<RawValue>,
    /// How to use the server, for models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// A problem with a whole list, which a client found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListProblem {
    /// One of the constants in [`code`](crate::code), such as `cursor-repeats`.
    pub code: Cow<'static, str>,
    /// The method of the list, such as `tools/list`.
    pub list: Cow<'static, str>,
    /// What is wrong.
    pub message: String,
}
