//! The function with which servlets call tools and read resources of other servlets and of remotes.

use std::sync::Arc;

use mcp_servlet_call::{
    CallMaker, CallTarget, Callee, CalleeError, InnerCall, InnerOutcome, JsonObject, ObservedCall,
    asks_client,
};
use serde::Deserialize;
use serde_json::{Value, json};
use wasmtime::{Caller, Error, Linker, Result};

use super::{json, result};
use crate::{
    call::journal::{Beginning, Begun, Journal, Unanswered},
    inspect::{USER, imports::CALL_TOOL},
    state::{Shared, State},
};

/// The maximum size of a request in bytes.
const REQUEST: u64 = 1 << 20;

/// The maximum size of a result in bytes.
const RESULT: usize = 8 << 20;

/// A request of a servlet, in the words of MCP.
#[derive(Deserialize)]
#[serde(tag = "method", content = "params")]
enum Request {
    #[serde(rename = "tools/call")]
    Call {
        name: String,
        #[serde(default)]
        arguments: Option<JsonObject>,
    },
    #[serde(rename = "resources/read")]
    Read { member: String, uri: String },
}

pub(super) fn link(linker: &mut Linker<State>) -> Result<()> {
    linker.func_wrap_async(USER, CALL_TOOL, |caller, (request,): (i64,)| {
        Box::new(call_tool(caller, request))
    })?;
    Ok(())
}

async fn call_tool(mut caller: Caller<'_, State>, request: i64) -> Result<i64> {
    let answer = match json::text(&mut caller, request, REQUEST)? {
        Ok(request) => {
            let request =
                request.ok_or_else(|| Error::msg("`call_tool` expects an offset in memory"))?;
            answer(caller.data_mut(), &request).await?
        }
        Err(large) => {
            let error = CalleeError::new(CalleeError::ARGUMENTS, large.to_string());
            error.to_json().to_string()
        }
    };
    result(&mut caller, answer.as_bytes())
}

/// The answer to a request, as JSON. An error stops the servlet.
async fn answer(state: &mut State, request: &[u8]) -> Result<String> {
    let json: Value = serde_json::from_slice(request)
        .map_err(|error| Error::msg(format!("`call_tool` expects JSON: {error}")))?;
    let callee = match callee(&state.shared, &state.call.journal, json) {
        Ok(callee) => callee,
        Err(error) => return Ok(error.to_json().to_string()),
    };
    let shared = Arc::clone(&state.shared);
    let journal = &mut state.call.journal;
    let mut begun = match journal.begin(&shared.name, &callee, request) {
        Beginning::Known(answer) => return Ok(answer),
        Beginning::Refused(error) => return Ok(error.to_json().to_string()),
        Beginning::Call(begun) => begun,
    };
    let observed = observe(&shared.name, &callee, &mut begun);
    let outcome = begun.callees.call(&callee, &begun.request_meta).await;
    if let Some(observed) = observed {
        let listener = begun.listener.as_ref();
        let usage = listener.and_then(|listener| listener.usage());
        observed.end(outcome_of(&outcome), usage);
    }
    let answer = match outcome {
        Ok(result) if asks_client(&result) => {
            journal.ask(*begun, &callee, result);
            return Err(Unanswered(callee.to_string()).into());
        }
        Ok(result) => {
            let answer = json!({ "result": result }).to_string();
            match answer.len() {
                0..=RESULT => answer,
                length => too_large(&shared.name, &callee, length)
                    .to_json()
                    .to_string(),
            }
        }
        Err(error) => error.to_json().to_string(),
    };
    journal.end_call(*begun, &callee, &answer);
    Ok(answer)
}

/// Tells the observer of the request that a call begins.
fn observe<'c>(
    servlet: &'c str,
    callee: &'c Callee,
    begun: &mut Begun,
) -> Option<Box<dyn ObservedCall + 'c>> {
    let observer = Arc::clone(begun.request_meta.observer.as_ref()?);
    let call = InnerCall {
        maker: CallMaker::Servlet(servlet),
        member: callee.member(),
        target: match callee {
            Callee::Tool { tool, .. } => CallTarget::Tool(tool),
            Callee::Resource { uri, .. } => CallTarget::Resource(uri),
        },
        is_known: begun.callees.is_known(callee),
    };
    Some(observer.begin(call, &mut begun.request_meta))
}

fn outcome_of(outcome: &Result<JsonObject, CalleeError>) -> InnerOutcome<'_> {
    match outcome {
        Ok(result) if result.get("isError") == Some(&Value::Bool(true)) => InnerOutcome::ToolError,
        Ok(result) if asks_client(result) => InnerOutcome::InputRequired,
        Ok(_) => InnerOutcome::Ok,
        Err(error) => InnerOutcome::CalleeError(error),
    }
}

/// What a request calls or reads, if the operator allows it.
fn callee(shared: &Shared, journal: &Journal, request: Value) -> Result<Callee, CalleeError> {
    let request = Request::deserialize(request).map_err(|error| {
        let message =
            format!("`call_tool` expects a request `tools/call` or `resources/read`: {error}");
        CalleeError::new(CalleeError::ARGUMENTS, message)
    })?;
    let options = &shared.options;
    let (callee, is_allowed, key) = match request {
        Request::Call { name, arguments } => {
            let Some((member, tool)) = name.split_once(':') else {
                let message = format!(
                    "`{name}` has no colon; write the name of a servlet or remote, a colon, and its tool"
                );
                return Err(CalleeError::new(CalleeError::UNKNOWN, message));
            };
            let mut grants = options.allowed_tools.iter();
            let is_allowed = grants.any(|grant| grant.allows_tool(member, tool));
            let callee = Callee::Tool {
                member: member.to_owned(),
                tool: tool.to_owned(),
                arguments,
            };
            (callee, is_allowed, "tool")
        }
        Request::Read { member, uri } => {
            let mut grants = options.allowed_resources.iter();
            let is_allowed = grants.any(|grant| grant.allows_resource(&member, &uri));
            (Callee::Resource { member, uri }, is_allowed, "resource")
        }
    };
    if is_allowed || journal.are_all_allowed() {
        return Ok(callee);
    }
    let verb = if key == "tool" { "call" } else { "read" };
    let message = format!(
        "servlet `{}` may not {verb} `{callee}`: the operator must allow it with `allow.{key}s` or `--allow-{key} {callee}`",
        shared.name
    );
    Err(CalleeError::new(CalleeError::NOT_ALLOWED, message))
}

fn too_large(servlet: &str, callee: &Callee, length: usize) -> CalleeError {
    let (found, limit) = (length.div_ceil(1 << 20), RESULT >> 20);
    let message =
        format!("the result of `{callee}` has {found} MiB; servlet `{servlet}` takes {limit} MiB");
    CalleeError::new(CalleeError::TOO_LARGE, message)
}
