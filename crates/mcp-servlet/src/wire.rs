//! How the ABI lays out what hosts send, which is all in which the two differ before a host is asked something.
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
/// their `_meta`; there, it also says that its host takes results that ask, where others have functions to be asked by.
pub(crate) const RESPONSES: &str = if HYPER_MCP {
    "mcp-servlet/inputResponses"
} else {
    "inputResponses"
};

/// The member beside it with the state that an earlier call left.
pub(crate) const STATE: &str = if HYPER_MCP {
    "mcp-servlet/requestState"
} else {
    "requestState"
};
