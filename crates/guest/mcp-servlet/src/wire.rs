//! How each ABI lays out the requests of hosts.
//!
//! | ABI | a request |
//! |---|---|
//! | MCP servlet | `{"params": {…, "_meta": {…}}}` |
//! | `hyper-mcp-v2` | `{"request": {…}, "context": {"id": …, "_meta": {…}}}` |
//!
//! Natively, tests write the first.

/// Whether this is wasm for the second ABI of hyper-mcp.
pub(crate) const HYPER_MCP: bool = cfg!(all(
    mcp_servlet_abi = "hyper-mcp-v2",
    target_family = "wasm"
));

/// Whether results have only forms that the first interfaces of servlets can express.
pub(crate) const STRICT: bool = cfg!(all(
    mcp_servlet_abi = "servlet-strict",
    target_family = "wasm"
));

/// The member of a request that contains MCP's `params`.
pub(crate) const PARAMS: &str = if HYPER_MCP { "request" } else { "params" };

/// The member of a request that contains `_meta`.
pub(crate) const WITH_META: &str = if HYPER_MCP { "context" } else { "params" };

/// The error of a call without a tool name.
pub(crate) const NO_NAME: &str = if HYPER_MCP {
    "the request has no `request.name`"
} else {
    "the request has no `params.name`"
};

/// The member with the responses to requests for input of earlier calls. The requests of hyper-mcp have
/// no field for it, so it is in their `_meta`. There, the member also shows that the host accepts
/// requests for input as results; other hosts have functions for them.
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
