//! What a request contains in addition to the arguments: the client, and its `_meta`.
//!
//! The context holds the request as text, which is parsed only when the servlet reads a part of it.

use mcp_servlet_json::RawJson;

use super::Context;
use crate::json::member;
use crate::wire::{HYPER_MCP, PARAMS, WITH_META};

/// Keys of `_meta` that MCP defines. For clients of earlier protocol versions, the host fills them in
/// from `initialize`.
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

impl Context {
    /// The request's `_meta`, if the host passes it on.
    pub fn meta(&self) -> Option<RawJson> {
        self.with_request(|request| raw(meta(request)))
    }

    /// The value of one key in the request's `_meta`.
    pub fn meta_value(&self, key: &str) -> Option<RawJson> {
        self.with_request(|request| raw(member(meta(request), key)))
    }

    /// The name and version of the client, if the host passes them on.
    pub fn client(&self) -> Option<ClientInfo> {
        let json = self.meta_value(CLIENT_INFO)?;
        let text = |name| mcp_servlet_json::from_str(member(json.get(), name)).ok();
        Some(ClientInfo {
            name: text("name")?,
            version: text("version").unwrap_or_default(),
        })
    }

    /// The capabilities of the client; `None` if the host does not pass them on.
    pub fn capabilities(&self) -> Option<Capabilities> {
        let json = self.meta_value(CLIENT_CAPABILITIES)?;
        Some(Capabilities { json })
    }

    /// The parameter `name` with the state of earlier calls, as JSON; empty if there is none.
    pub(crate) fn continuation(&self, name: &str) -> String {
        self.with_request(|request| {
            let holder = if HYPER_MCP {
                meta(request)
            } else {
                member(request, PARAMS)
            };
            member(holder, name).to_owned()
        })
    }
}

fn meta(request: &str) -> &str {
    member(member(request, WITH_META), "_meta")
}

fn raw(json: &str) -> Option<RawJson> {
    RawJson::parse(json).ok()
}

/// The program that speaks MCP to the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientInfo {
    /// Its name for programs.
    pub name: String,
    /// Its version, in any scheme.
    pub version: String,
}

/// The capabilities that a client declared.
#[derive(Debug, Clone, PartialEq)]
pub struct Capabilities {
    json: RawJson,
}

impl Capabilities {
    /// Whether the client has a capability of MCP, such as `sampling`.
    pub fn has(&self, name: &str) -> bool {
        !self.member(name).is_empty()
    }

    /// Whether the client has an extension of MCP, such as `io.modelcontextprotocol/ui`.
    pub fn has_extension(&self, name: &str) -> bool {
        !member(self.member("extensions"), name).is_empty()
    }

    /// Whether the client can show a form: it has `elicitation`, and not only in the mode `url`.
    pub(crate) fn has_forms(&self) -> bool {
        let modes = self.member("elicitation");
        !modes.is_empty() && (member(modes, "url").is_empty() || !member(modes, "form").is_empty())
    }

    /// All capabilities, as JSON.
    pub fn json(&self) -> &RawJson {
        &self.json
    }

    fn member(&self, name: &str) -> &str {
        member(self.json.get(), name)
    }
}
