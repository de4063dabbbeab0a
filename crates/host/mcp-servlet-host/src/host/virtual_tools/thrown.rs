//! Failures of servlets and remotes, as catches see them.

use mcp_servlet_bundle::Thrown;
use mcp_servlet_call::{CallError, CallErrorKind, RemoteFailure, RpcError};
use mcp_servlet_common::FailureKind;

/// The failure that a catch can handle. `None` for errors of the caller, which pass as they are.
pub(super) fn thrown(error: &CallError) -> Option<Thrown> {
    let kind = error.kind.failure()?;
    let fault = error.to_rpc_error();
    let text = fault
        .data
        .as_ref()
        .and_then(|data| data.get("code")?.as_str());
    let code = match (kind, text) {
        (FailureKind::Fault, Some(code)) => code.to_owned(),
        (FailureKind::Fault, None) => fault.code.to_string(),
        _ if let Some(fault) = fault_of_remote(&error.kind) => rpc_code(fault.code).to_owned(),
        _ if let CallErrorKind::Remote { failure } = &error.kind => remote_code(failure).to_owned(),
        (kind, _) => kind.name().to_uppercase(),
    };
    // Without a catch, the client may get another code than the remote sent.
    let number = fault_of_remote(&error.kind).map_or(fault.code, |fault| fault.code);
    Some(Thrown {
        kind,
        code,
        number: number.into(),
        message: fault.message,
        data: fault.data,
        step: None,
    })
}

/// The failure of a tool with steps whose time is up.
pub(super) fn timeout(message: String) -> Thrown {
    let kind = FailureKind::Timeout;
    Thrown {
        kind,
        code: kind.name().to_uppercase(),
        number: RpcError::INTERNAL.into(),
        message,
        data: None,
        step: None,
    }
}

/// The error of a virtual tool, at its servlet.
pub(super) fn error(servlet: &str, error: RpcError) -> CallError {
    let fault = Box::new(error);
    CallErrorKind::Fault { fault }.at(servlet, None)
}

/// The error that a remote sent.
fn fault_of_remote(error: &CallErrorKind) -> Option<&RpcError> {
    match error {
        CallErrorKind::Remote {
            failure: RemoteFailure::Error { fault },
        }
        | CallErrorKind::UnknownResource {
            fault: Some(fault), ..
        } => Some(fault),
        _ => None,
    }
}

/// The code that a catch compares with a name, if the remote sent no error.
fn remote_code(failure: &RemoteFailure) -> &'static str {
    match failure {
        RemoteFailure::TimedOut { .. } => "REQUEST_TIMEOUT",
        RemoteFailure::RetriesExhausted { .. } => "RETRY_EXHAUSTED",
        RemoteFailure::Invalid { .. } => "BAD_OUTPUT",
        RemoteFailure::NotSent { .. } => rpc_code(RpcError::INVALID_PARAMS),
        _ => "CONNECTIVITY",
    }
}

/// The name of an error code of JSON-RPC.
fn rpc_code(code: i32) -> &'static str {
    match code {
        RpcError::PARSE_ERROR => "PARSE_ERROR",
        RpcError::INVALID_REQUEST => "INVALID_REQUEST",
        RpcError::METHOD_NOT_FOUND => "METHOD_NOT_FOUND",
        RpcError::INVALID_PARAMS => "INVALID_PARAMS",
        RpcError::INTERNAL => "INTERNAL_ERROR",
        -32099..=-32000 => "SERVER_ERROR",
        _ => "JSON_RPC_ERROR",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn failures_of_remotes_have_a_kind_and_a_code() {
        let why = || "refused".to_owned();
        let error = |code| RemoteFailure::Error {
            fault: Box::new(RpcError {
                code,
                message: "no".to_owned(),
                data: None,
            }),
        };
        for (failure, kind, code) in [
            (
                RemoteFailure::Unreachable { why: why() },
                FailureKind::Connectivity,
                "CONNECTIVITY",
            ),
            (
                RemoteFailure::RetriesExhausted {
                    attempts: 3,
                    why: why(),
                },
                FailureKind::Connectivity,
                "RETRY_EXHAUSTED",
            ),
            (
                RemoteFailure::TimedOut {
                    limit: Duration::from_secs(1),
                },
                FailureKind::Timeout,
                "REQUEST_TIMEOUT",
            ),
            (
                RemoteFailure::Invalid { problem: why() },
                FailureKind::BadOutput,
                "BAD_OUTPUT",
            ),
            (error(-32601), FailureKind::Remote, "METHOD_NOT_FOUND"),
            (error(-32050), FailureKind::Remote, "SERVER_ERROR"),
            (error(7), FailureKind::Remote, "JSON_RPC_ERROR"),
        ] {
            let thrown = thrown(&CallErrorKind::Remote { failure }.at("r", None))
                .expect("a failure that catches see");
            assert_eq!((thrown.kind, thrown.code.as_str()), (kind, code));
            if code == "METHOD_NOT_FOUND" {
                assert_eq!(thrown.number, -32601);
            }
        }
    }

    #[test]
    fn an_error_about_a_resource_is_one_of_the_remote() {
        for (sent, code) in [(-32002, "SERVER_ERROR"), (-32602, "INVALID_PARAMS")] {
            let fault = RpcError::new(sent, "gone");
            let error = CallError::refused_resource("a:b", fault, RpcError::RESOURCE_NOT_FOUND);
            let thrown = thrown(&error).expect("a failure that catches see");
            assert_eq!(
                (thrown.kind, thrown.code.as_str(), thrown.number),
                (FailureKind::Remote, code, sent.into())
            );
        }
    }
}
