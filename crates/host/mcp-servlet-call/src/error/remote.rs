//! Why another MCP server gave no result.

use std::{fmt, time::Duration};

use mcp_servlet_common::{FailureKind, RpcError};
use serde_json::json;

/// Why another MCP server gave no result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RemoteFailure {
    /// It cannot be reached, or the connection broke. Another attempt may help.
    Unreachable {
        /// The reason.
        why: String,
    },
    /// It can be reached, but does not do what is needed for a session. Another attempt may help.
    Unusable {
        /// The reason.
        why: String,
    },
    /// It requires credentials that the request did not have. Another attempt does not help.
    Unauthorized {
        /// The reason.
        why: String,
    },
    /// It takes no requests for some time.
    Throttled {
        /// The reason.
        why: String,
        /// The header `Retry-After` of its response: seconds or a date.
        retry_after: String,
    },
    /// The request was not sent, because it has no value for a header of the remote.
    NotSent {
        /// The reason.
        why: String,
    },
    /// The last attempt to connect has failed, and there will be no other one.
    RetriesExhausted {
        /// How many attempts there were.
        attempts: u32,
        /// Why the last one failed.
        why: String,
    },
    /// It did not answer in time.
    TimedOut {
        /// The time limit.
        limit: Duration,
    },
    /// It answered with a JSON-RPC error.
    Error {
        /// The error, as the server wrote it.
        fault: Box<RpcError>,
    },
    /// Its answer is not what MCP requires, or larger than the limits.
    Invalid {
        /// What is wrong.
        problem: String,
    },
}

impl RemoteFailure {
    /// The name in metrics, such as `connectivity`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } | Self::Throttled { .. } => "connectivity",
            Self::Unauthorized { .. } => "unauthorized",
            Self::Unusable { .. } => "unusable",
            Self::NotSent { .. } => "not_sent",
            Self::RetriesExhausted { .. } => "retry_exhausted",
            Self::TimedOut { .. } => "request_timeout",
            Self::Error { .. } => "remote",
            Self::Invalid { .. } => "bad_output",
        }
    }

    /// The kind of failure that a catch can handle.
    pub(super) fn kind(&self) -> FailureKind {
        match self {
            Self::TimedOut { .. } => FailureKind::Timeout,
            Self::Error { .. } | Self::NotSent { .. } => FailureKind::Remote,
            Self::Invalid { .. } => FailureKind::BadOutput,
            Self::Unreachable { .. }
            | Self::Unusable { .. }
            | Self::Unauthorized { .. }
            | Self::Throttled { .. }
            | Self::RetriesExhausted { .. } => FailureKind::Connectivity,
        }
    }

    /// Writes the error. `method` is the MCP method of the request.
    pub(super) fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        remote: &str,
        method: &str,
    ) -> fmt::Result {
        match self {
            Self::Unreachable { why } => write!(f, "remote `{remote}` cannot be reached: {why}"),
            Self::Unusable { why } | Self::Unauthorized { why } => {
                write!(f, "remote `{remote}` cannot be used: {why}")
            }
            Self::Throttled { why, .. } => {
                write!(f, "remote `{remote}` cannot be used now: {why}")
            }
            Self::NotSent { why } => write!(f, "remote `{remote}` got no `{method}`: {why}"),
            Self::RetriesExhausted { attempts, why } => write!(
                f,
                "remote `{remote}` cannot be used after {attempts} attempts: {why}"
            ),
            Self::TimedOut { limit } => write!(
                f,
                "remote `{remote}` did not answer `{method}` within {limit:?}"
            ),
            Self::Error { fault } => f.write_str(&fault.message),
            Self::Invalid { problem } => write!(
                f,
                "remote `{remote}` sent an invalid answer to `{method}`: {problem}"
            ),
        }
    }

    /// The failure as a JSON-RPC error with this message.
    pub(super) fn to_rpc_error(&self, remote: Option<&str>, message: String) -> RpcError {
        let (code, data) = match self {
            Self::Unreachable { .. } | Self::Unusable { .. } => (
                RpcError::BUSY,
                Some(json!({ "remote": remote, "retry": true })),
            ),
            Self::NotSent { .. } => (RpcError::INVALID_PARAMS, Some(json!({ "remote": remote }))),
            Self::Throttled { retry_after, .. } => (
                RpcError::BUSY,
                Some(json!({ "remote": remote, "retry": true, "retryAfter": retry_after })),
            ),
            Self::RetriesExhausted { .. } | Self::Unauthorized { .. } => {
                (RpcError::BUSY, Some(json!({ "remote": remote })))
            }
            Self::TimedOut { .. } | Self::Invalid { .. } => {
                (RpcError::INTERNAL, Some(json!({ "remote": remote })))
            }
            Self::Error { fault } => (relayed(fault.code), fault.data.clone()),
        };
        RpcError {
            code,
            message,
            data,
        }
    }
}

/// The code for the client. Codes that JSON-RPC and MCP reserve for themselves would say something
/// about the client's own request, so only those pass that also hold for it.
fn relayed(code: i32) -> i32 {
    // The parameters and the capabilities are the client's, and it can open a URL.
    let is_of_client = matches!(code, RpcError::INVALID_PARAMS | -32021 | -32042);
    let is_of_server = (-32019..=-32000).contains(&code);
    let is_reserved = (-32768..=-32000).contains(&code);
    if is_reserved && !is_of_client && !is_of_server {
        return RpcError::INTERNAL;
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_about_the_request_of_the_host_do_not_reach_its_client() {
        for (code, expected) in [
            (-32602, -32602),
            (-32042, -32042),
            (-32000, -32000),
            (-32019, -32019),
            (-32002, -32002),
            (-32020, -32603),
            (-32601, -32603),
            (-32700, -32603),
            (-32768, -32603),
            (-31999, -31999),
            (-40000, -40000),
            (7, 7),
        ] {
            assert_eq!(relayed(code), expected, "{code}");
        }
    }
}
