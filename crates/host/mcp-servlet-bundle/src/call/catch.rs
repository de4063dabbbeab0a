//! Which catch applies to a failure, and the error that it makes.

use mcp_servlet_common::{FailureKind, RpcError};
use mcp_servlet_expression::{Budget, Scope};
use serde_json::Value;

use crate::{
    code::URL_ELICITATION_REQUIRED,
    problem::Place,
    spec::{Catch, Code, VirtualTool},
    template::{Failed, Template},
    thrown::Thrown,
};

/// The error of the first entry that applies: in the order of the file, and entries for all
/// failures last.
pub(super) fn find(
    tool: &VirtualTool,
    thrown: &Thrown,
    scope: &Scope<'_>,
    budget: &mut Budget,
) -> Option<RpcError> {
    let is_for_all =
        |catch: &&Catch| catch.code.is_none() && catch.kind.is_none() && catch.when.is_none();
    let catches = || tool.catches.iter();
    let (some, all) = (
        catches().filter(|one| !is_for_all(one)),
        catches().filter(is_for_all),
    );
    for catch in some.chain(all) {
        // A tool that reports an error to the model has failed only if an entry names the failure.
        let names = catch.code.is_some() || catch.kind.is_some();
        if (names || thrown.kind != FailureKind::Tool)
            && applies(tool, catch, thrown, scope, budget)
        {
            return Some(error(tool, catch, thrown, scope, budget));
        }
    }
    None
}

fn applies(
    tool: &VirtualTool,
    catch: &Catch,
    thrown: &Thrown,
    scope: &Scope<'_>,
    budget: &mut Budget,
) -> bool {
    let has_code = match &catch.code {
        None => true,
        Some(Code::Name(name)) => *name == thrown.code,
        Some(Code::Number(number)) => thrown.kind != FailureKind::Tool && *number == thrown.number,
    };
    let is_named = catch.code == Some(Code::Number(URL_ELICITATION_REQUIRED));
    if thrown.number == URL_ELICITATION_REQUIRED && !is_named {
        return false;
    }
    if !has_code || catch.kind.is_some_and(|kind| kind != thrown.kind) {
        return false;
    }
    let Some(when) = &catch.when else { return true };
    let reason = match when.expression.run(scope, budget) {
        Ok(Some(Value::Bool(holds))) => return holds,
        Ok(_) => "the condition is not a boolean".to_owned(),
        Err(failure) => failure.to_string(),
    };
    // An attempt that needs more is run again, and then warns.
    if !budget.needs_more() {
        let (bundle, tool, entry) = (&tool.bundle, &tool.name, catch.number + 1);
        tracing::warn!(bundle, tool, entry, "catch skipped: {reason}");
    }
    false
}

/// The message of an entry that has none that could be made.
const FAILED: &str = "the tool failed";

/// The error for the client. If a part of it fails, the client gets a fixed message: the entry
/// replaces the original error, which may be secret.
fn error(
    tool: &VirtualTool,
    catch: &Catch,
    thrown: &Thrown,
    scope: &Scope<'_>,
    budget: &mut Budget,
) -> RpcError {
    let fill = |template: &Option<Template>, key: &str, budget: &mut Budget| match template {
        Some(template) => {
            let value = template.fill(scope, budget);
            value.map_err(|failed| failed.within_key(key))
        }
        None => Ok(None),
    };
    let message = fill(&catch.message, "message", budget);
    let data = fill(&catch.data, "data", budget);
    match (message, data) {
        (Ok(message), Ok(data)) => {
            let message = match message {
                Some(Value::String(text)) => text,
                Some(other) => other.to_string(),
                None if catch.message.is_none() => thrown.message.clone(),
                None => FAILED.to_owned(),
            };
            RpcError {
                code: catch.error,
                message,
                data,
            }
        }
        (Err(failed), _) | (_, Err(failed)) => {
            if !budget.needs_more() {
                warn(tool, catch, &failed);
            }
            RpcError {
                code: catch.error,
                message: FAILED.to_owned(),
                data: None,
            }
        }
    }
}

fn warn(tool: &VirtualTool, catch: &Catch, failed: &Failed) {
    let (bundle, tool) = (&tool.bundle, &tool.name);
    let entry = Place::of("catches").item(catch.number).key("error");
    let Failed { place, failure } = failed;
    tracing::warn!(bundle, tool, "cannot fill `{entry}.{place}`: {failure}");
}
