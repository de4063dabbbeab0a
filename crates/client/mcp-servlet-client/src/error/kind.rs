//! The kinds of errors.

/// The kind of an error. `docs/client-errors.md` has a section for each.
///
/// Later versions may add kinds, so a `match` has an arm for the others:
///
/// ```
/// # use mcp_servlet_client::ErrorKind;
/// fn is_worth_another_try(kind: ErrorKind) -> bool {
///     match kind {
///         ErrorKind::Connectivity | ErrorKind::RequestTimeout => true,
///         _ => false,
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The server cannot be reached, or the connection broke.
    Connectivity,
    /// The response did not arrive in time. The client has sent `notifications/cancelled`.
    RequestTimeout,
    /// The last of several attempts failed.
    RetryExhausted,
    /// The server requires credentials.
    Authentication,
    /// The server has no such method: -32601.
    MethodNotFound,
    /// The server rejects the request as invalid: -32600.
    InvalidRequest,
    /// The server rejects the parameters: -32602.
    InvalidParams,
    /// There is no such resource.
    InvalidUri,
    /// The server or this client could not parse a message: -32700.
    ParseError,
    /// The server failed: -32603.
    InternalError,
    /// The server failed in a way of its own: -32000 to -32099.
    ServerError,
    /// Any other JSON-RPC error.
    JsonRpcError,
    /// The session is gone, and a new one did not help.
    SessionInvalid,
    /// The server violates MCP.
    Protocol,
    /// A message, a list or something else is larger than its limit.
    Limit,
    /// The structured content of a result does not match the type that the caller wants.
    Schema,
    /// The server asks for something that this client does not answer.
    InputRequired,
    /// The caller cancelled the request.
    Cancelled,
}

impl ErrorKind {
    const ALL: [Self; 18] = [
        Self::Connectivity,
        Self::RequestTimeout,
        Self::RetryExhausted,
        Self::Authentication,
        Self::MethodNotFound,
        Self::InvalidRequest,
        Self::InvalidParams,
        Self::InvalidUri,
        Self::ParseError,
        Self::InternalError,
        Self::ServerError,
        Self::JsonRpcError,
        Self::SessionInvalid,
        Self::Protocol,
        Self::Limit,
        Self::Schema,
        Self::InputRequired,
        Self::Cancelled,
    ];

    /// All kinds, in the order of their exit codes.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }

    /// A text that never changes, such as `request-timeout`.
    pub fn code(self) -> &'static str {
        self.codes().0
    }

    /// The exit code that a command should end with.
    pub fn exit_code(self) -> u8 {
        self.codes().1
    }

    /// The kind of a JSON-RPC error.
    pub(crate) fn of_json_rpc(code: i64) -> Self {
        match code {
            -32700 => Self::ParseError,
            -32600 => Self::InvalidRequest,
            -32601 => Self::MethodNotFound,
            -32602 => Self::InvalidParams,
            -32603 => Self::InternalError,
            -32022..=-32020 => Self::Protocol,
            -32099..=-32000 => Self::ServerError,
            _ => Self::JsonRpcError,
        }
    }

    /// The code, and the exit code of a command.
    fn codes(self) -> (&'static str, u8) {
        match self {
            Self::Connectivity => ("connectivity", 10),
            Self::RequestTimeout => ("request-timeout", 11),
            Self::RetryExhausted => ("retry-exhausted", 12),
            Self::Authentication => ("authentication", 13),
            Self::MethodNotFound => ("method-not-found", 14),
            Self::InvalidRequest => ("invalid-request", 15),
            Self::InvalidParams => ("invalid-params", 16),
            Self::InvalidUri => ("invalid-uri", 17),
            Self::ParseError => ("parse-error", 18),
            Self::InternalError => ("internal-error", 19),
            Self::ServerError => ("server-error", 20),
            Self::JsonRpcError => ("json-rpc-error", 21),
            Self::SessionInvalid => ("session-invalid", 22),
            Self::Protocol => ("protocol", 23),
            Self::Limit => ("limit", 24),
            Self::Schema => ("schema", 25),
            Self::InputRequired => ("input-required", 26),
            Self::Cancelled => ("cancelled", 27),
        }
    }
}

/// A `match` without an arm for other kinds does not compile outside this crate, even if it has all of today's kinds.
///
/// ```compile_fail,E0004
/// use mcp_servlet_client::ErrorKind;
/// match ErrorKind::Limit {
///     ErrorKind::Connectivity => {}
///     ErrorKind::RequestTimeout => {}
///     ErrorKind::RetryExhausted => {}
///     ErrorKind::Authentication => {}
///     ErrorKind::MethodNotFound => {}
///     ErrorKind::InvalidRequest => {}
///     ErrorKind::InvalidParams => {}
///     ErrorKind::InvalidUri => {}
///     ErrorKind::ParseError => {}
///     ErrorKind::InternalError => {}
///     ErrorKind::ServerError => {}
///     ErrorKind::JsonRpcError => {}
///     ErrorKind::SessionInvalid => {}
///     ErrorKind::Protocol => {}
///     ErrorKind::Limit => {}
///     ErrorKind::Schema => {}
///     ErrorKind::InputRequired => {}
///     ErrorKind::Cancelled => {}
/// }
/// ```
///
/// ```
/// use mcp_servlet_client::ErrorKind;
/// match ErrorKind::Limit {
///     ErrorKind::Connectivity => {}
///     ErrorKind::RequestTimeout => {}
///     ErrorKind::RetryExhausted => {}
///     ErrorKind::Authentication => {}
///     ErrorKind::MethodNotFound => {}
///     ErrorKind::InvalidRequest => {}
///     ErrorKind::InvalidParams => {}
///     ErrorKind::InvalidUri => {}
///     ErrorKind::ParseError => {}
///     ErrorKind::InternalError => {}
///     ErrorKind::ServerError => {}
///     ErrorKind::JsonRpcError => {}
///     ErrorKind::SessionInvalid => {}
///     ErrorKind::Protocol => {}
///     ErrorKind::Limit => {}
///     ErrorKind::Schema => {}
///     ErrorKind::InputRequired => {}
///     ErrorKind::Cancelled => {}
///     _ => panic!("a kind that this test does not have"),
/// }
/// ```
#[cfg(doctest)]
struct Exhaustiveness;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_rpc_codes_have_kinds() {
        for (code, kind) in [
            (-32700, "parse-error"),
            (-32600, "invalid-request"),
            (-32601, "method-not-found"),
            (-32602, "invalid-params"),
            (-32603, "internal-error"),
            (-32000, "server-error"),
            (-32099, "server-error"),
            (-32020, "protocol"),
            (-32022, "protocol"),
            (-32100, "json-rpc-error"),
            (1, "json-rpc-error"),
        ] {
            assert_eq!(ErrorKind::of_json_rpc(code).code(), kind, "{code}");
        }
    }

    #[test]
    fn exit_codes_follow_each_other() {
        let codes: Vec<_> = ErrorKind::all().map(ErrorKind::exit_code).collect();
        assert_eq!(codes, (10..=27).collect::<Vec<_>>());
    }

    #[test]
    fn every_kind_has_a_section_in_the_documents_and_every_section_is_a_kind() {
        let document = include_str!("../../../../../docs/client-errors.md");
        let mut sections = document.split("\n## ").skip(1);
        for kind in ErrorKind::all() {
            let section = sections.next().unwrap_or_default();
            let (code, text) = section.split_once('\n').unwrap_or_default();
            assert_eq!(code, kind.code());
            let exit = format!("Exit code {}.", kind.exit_code());
            for part in [&exit, "**Causes.**", "**Fix.**"] {
                assert!(text.contains(part), "{code}: {part}");
            }
        }
        assert_eq!(sections.next(), None);
    }
}
