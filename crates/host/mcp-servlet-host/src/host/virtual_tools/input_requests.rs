//! Input requests of steps: what the client is asked, and how the call goes on with its answers.
//!
//! The state between two requests goes to the client, and the server encrypts it. It stays in this process for clients up to
//! 2025-11-25.

use std::{borrow::Cow, collections::BTreeMap, sync::Mutex, time::Duration};

use mcp_servlet_bundle::{Call, RpcError, Run, Step, VirtualTool};
use mcp_servlet_call::{JsonObject, RequestMeta};
use mcp_servlet_common::lock;
use mcp_servlet_runtime::{MAX_STATE, MAX_STATE_TEXT};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::mapping::{Mapping, RequestView};

/// How many rounds of input requests a call may have.
pub const INPUT_ROUNDS: usize = 16;

/// What a call knows of the requests before.
#[derive(Debug, Default)]
pub(super) struct Resumed {
    /// How often the client was asked.
    rounds: usize,
    /// The time that is left for the steps.
    pub(super) left: Option<Duration>,
    /// The calls that have asked and have not gone on since.
    asked: Mutex<BTreeMap<Call, Asked>>,
}

/// A call that has asked.
#[derive(Debug)]
struct Asked {
    /// Its own state.
    state: Option<String>,
    /// The responses of an earlier request, in which it could not go on: another call asked before its turn came.
    responses: Option<JsonObject>,
}

impl Resumed {
    /// Reads the text that [`next`](Self::next) has made. The expressions see what the first request had.
    pub(super) fn open(
        text: &str,
        run: &mut Run<'_>,
        mapping: &mut Mapping<'_>,
    ) -> Result<Self, RpcError> {
        let state: Value = serde_json::from_str(text).unwrap_or_default();
        if state["tool"] != mapping.proven.tool().digest() {
            return Err(invalid(
                "the tool has changed since it asked; call it again",
            ));
        }
        if let Some(seen) = RequestView::of_json(&state["seen"]) {
            mapping.seen = Cow::Owned(seen);
        }
        let steps = mapping.proven.tool().steps().len();
        let resumed = run
            .resume(&state["run"])
            .and_then(|()| Self::of(&state, steps));
        resumed.ok_or_else(|| invalid("invalid `requestState`; call the tool again without one"))
    }

    /// `steps` is how many steps the tool has.
    fn of(state: &Value, steps: usize) -> Option<Self> {
        let mut asked = BTreeMap::new();
        for one in state["asked"].as_array()? {
            let number = |key: &str| usize::try_from(one[key].as_u64()?).ok();
            let call = Call {
                step: number("step").filter(|step| *step < steps)?,
                index: number("index"),
            };
            let state = one["state"].as_str().map(str::to_owned);
            let responses = one["responses"].as_object().cloned();
            asked.insert(call, Asked { state, responses });
        }
        Some(Self {
            rounds: usize::try_from(state["rounds"].as_u64()?).ok()?,
            left: state["left_ms"].as_u64().map(Duration::from_millis),
            asked: Mutex::new(asked),
        })
    }

    /// The responses for a call that goes on, and its own state.
    pub(super) fn answers(
        &self,
        step: &Step,
        call: Call,
        request_meta: &RequestMeta,
    ) -> (Option<JsonObject>, Option<String>) {
        let Some(asked) = lock(&self.asked).remove(&call) else {
            return (None, None);
        };
        let responses = asked
            .responses
            .unwrap_or_else(|| responses_for(step, call, request_meta));
        (Some(responses), asked.state)
    }

    /// The state for the next request, or the code and the message of an error.
    pub(super) fn next(
        &self,
        run: &Run<'_>,
        mapping: &Mapping<'_>,
        asking: &[(Call, JsonObject)],
        request_meta: &RequestMeta,
        deadline: Option<Instant>,
    ) -> Result<String, (&'static str, String)> {
        let tool = mapping.proven.tool();
        if self.rounds >= INPUT_ROUNDS {
            let name = tool.name();
            let message =
                format!("tool `{name}` asked {INPUT_ROUNDS} times without returning a result");
            return Err(("TOO_MANY_INPUT_REQUESTS", message));
        }
        let left = deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()))
            .map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
        let asked = asking.iter().map(|(call, result)| {
            let state = result.get("requestState");
            json!({ "step": call.step, "index": call.index, "state": state })
        });
        let not_gone_on = lock(&self.asked);
        let not_gone_on = not_gone_on.iter().map(|(call, asked)| {
            let step = &tool.steps()[call.step];
            let responses = asked.responses.clone().unwrap_or_else(|| responses_for(step, *call, request_meta));
            json!({ "step": call.step, "index": call.index, "state": asked.state, "responses": responses })
        });
        let reads_client = mapping.proven.reads_client();
        let state = json!({
            "tool": tool.digest(),
            "rounds": self.rounds + 1,
            "left_ms": left,
            "seen": reads_client.then(|| mapping.seen.to_json()),
            "asked": asked.chain(not_gone_on).collect::<Vec<_>>(),
            "run": run.snapshot(),
        });
        let text = state.to_string();
        if request_meta.keeps_state || text.len() <= MAX_STATE_TEXT {
            return Ok(text);
        }
        Err(("STATE_TOO_LARGE", too_large(run, tool, asking)))
    }
}

/// The message about a state that is too large.
fn too_large(run: &Run<'_>, tool: &VirtualTool, asking: &[(Call, JsonObject)]) -> String {
    let name_of = |step: usize| tool.steps()[step].name().unwrap_or_default();
    let results = run
        .sizes()
        .map(|(step, size)| (size, step, ("results", "do")));
    let states = asking.iter().map(|(call, result)| {
        let state = result.get("requestState").and_then(Value::as_str);
        (state.map_or(0, str::len), call.step, ("state", "does"))
    });
    let largest = results.chain(states).max().unwrap_or_default();
    let (size, step, (what, verb)) = largest;
    let (size, step) = (size >> 10, name_of(step));
    let asks = asking.first().map_or("", |(call, _)| name_of(call.step));
    let name = tool.name();
    format!(
        "tool `{name}` cannot ask: the {what} of `{step}` ({size} KiB) {verb} not fit in the state of {MAX_STATE} KiB; read fewer members of them after `{asks}`"
    )
}

fn invalid(message: &str) -> RpcError {
    RpcError {
        code: RpcError::INVALID_PARAMS,
        message: message.to_owned(),
        data: None,
    }
}

/// The responses for a call in a request.
fn responses_for(step: &Step, call: Call, request_meta: &RequestMeta) -> JsonObject {
    let prefix = prefix(step, call);
    let all = request_meta.input_responses.iter().flatten();
    let own = all.filter_map(|(key, response)| {
        Some((key.strip_prefix(&prefix)?.to_owned(), response.clone()))
    });
    own.collect()
}

/// What the keys of a call's input requests begin with: `STEP.`, or `STEP.INDEX.`.
pub(super) fn prefix(step: &Step, call: Call) -> String {
    let name = step.name().unwrap_or_default();
    match call.index {
        Some(index) => format!("{name}.{index}."),
        None => format!("{name}."),
    }
}

/// The input requests of all calls, by key.
pub(super) fn of_all(tool: &VirtualTool, asking: &[(Call, JsonObject)]) -> JsonObject {
    let all = asking.iter().flat_map(|(call, result)| {
        let prefix = prefix(&tool.steps()[call.step], *call);
        let requests = result
            .get("inputRequests")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        requests.map(move |(key, request)| (format!("{prefix}{key}"), request.clone()))
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_names_steps_of_its_tool() {
        let state = |step: usize| json!({ "rounds": 1, "asked": [{ "step": step }] });
        assert!(Resumed::of(&state(1), 2).is_some());
        assert!(Resumed::of(&state(2), 2).is_none());
    }
}
