//! How each ABI lays out the requests of hosts. Apart from requests for input, this is the only
//! difference between the two.
//!
//! | ABI | a request |
//! |---|---|
//! | of servlets | `{"params": {…, "_meta": {…}}}` |
//! | `hyper-mcp-v2` | `{"request": {…}, "context": {"id": …, "_meta": {…}}}` |
//!
//! Natively, tests write the first.

/// Whether this is wasm for the second ABI of hyper-mcp.
pub(crate) const HYPER_MCP: bool = cfg!(all(feature = "hyper-mcp-v2", target_family = "wasm"));

/// The member of a request that holds what MCP calls its parameters.
pub(crate) const PARAMS: &str = if HYPER_MCP { "request" } else { "params" };

/// The member of a request that holds `_meta`.
pub(crate) const WITH_META: &str = if HYPER_MCP { "context" } else { "params" };

/// What is wrong with a call that names no tool.
pub(crate) const NO_NAME: &str = if HYPER_MCP {
    "the request has no `request.name`"
} else {
    "the request has no `params.name`"
};

/// The member that holds the answers to questions of earlier calls. The requests of hyper-mcp have no place for it, so it is in
/// their `_meta`. There, the member also shows that the host accepts requests for input as results; other hosts have
/// functions for them.
pub(crate) const RESPONSES: &str = if HYPER_MCP {
    "mcp-servlet/inputResponses"
} else {
    "inputResponses"
};

/// The member with the state that an earlier call left.
pub(crate) const STATE: &str = if HYPER_MCP {
    "mcp-servlet/requestState"
} else {
    "requestState"
};
