//! The codes of JSON-RPC errors that a bundle may use.

/// The code with which a server asks the client to let a person open a URL. It has to reach the client, so only an entry
/// of `catches` with this number catches it.
pub(crate) const URL_ELICITATION_REQUIRED: i64 = -32042;

/// Why a server must not use a code; `None` if it may.
pub(crate) fn problem(code: i64) -> Option<String> {
    if code >= 0 {
        return Some(format!("expected a negative code, found {code}"));
    }
    if i32::try_from(code).is_err() {
        return Some(format!("expected a code of 32 bits, found {code}"));
    }
    let is_reserved = (-32768..=-32000).contains(&code);
    if is_reserved && !(-32019..=-32000).contains(&code) {
        return Some(format!(
            "{code} is reserved by JSON-RPC and MCP; use -32000 to -32019, or a code outside -32768 to -32000"
        ));
    }
    None
}
