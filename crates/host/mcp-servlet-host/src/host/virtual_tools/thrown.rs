//! Failures of servlets, as catches see them.

use mcp_servlet_bundle::{Kind, RpcError, Thrown};
use mcp_servlet_runtime::{CallError, CallErrorKind, Fault};
use serde_json::Value;

/// The failure that a catch can handle. `None` for errors of the caller, which pass as they are.
pub(super) fn thrown(error: &CallError) -> Option<Thrown> {
    let kind = kind(&error.kind)?;
    let fault = error.to_fault();
    let text = fault
        .data
        .as_ref()
        .and_then(|data| data.get("code")?.as_str());
    let code = match (kind, text) {
        (Kind::Fault, Some(code)) => code.to_owned(),
        (Kind::Fault, None) => fault.code.to_string(),
        (kind, _) => kind.name().to_uppercase(),
    };
    Some(Thrown {
        kind,
        code,
        number: fault.code.into(),
        message: fault.message,
        data: fault.data,
    })
}

fn kind(error: &CallErrorKind) -> Option<Kind> {
    Some(match error {
        CallErrorKind::Fault { .. } => Kind::Fault,
        CallErrorKind::Panic { .. } => Kind::Panic,
        CallErrorKind::Trap { .. } => Kind::Trap,
        CallErrorKind::HostDenied { .. } => Kind::HostDenied,
        CallErrorKind::Timeout { .. } => Kind::Timeout,
        CallErrorKind::OutOfMemory { .. } => Kind::OutOfMemory,
        CallErrorKind::OutOfFuel { .. } => Kind::OutOfFuel,
        CallErrorKind::Start { .. } => Kind::Start,
        CallErrorKind::Busy { .. } | CallErrorKind::Waited { .. } => Kind::Busy,
        CallErrorKind::OutputTooLarge { .. } => Kind::OutputTooLarge,
        CallErrorKind::BadOutput { .. } => Kind::BadOutput,
        _ => return None,
    })
}

/// The error of a virtual tool, at its servlet.
pub(super) fn error(servlet: &str, error: RpcError) -> CallError {
    let RpcError {
        code,
        message,
        data,
    } = error;
    let data: Option<Value> = data;
    let fault = Box::new(Fault {
        code,
        message,
        data,
    });
    CallErrorKind::Fault { fault }.at(servlet, None)
}
