//! One round of input requests: which have responses, and what the client has to respond to next.
//!
//! The state of earlier calls travels as `requestState`: `{"answers": {…}, "once": {…}}`. The host may
//! seal it on the way to the client; the servlet reads it back as JSON and with the types that
//! requested it.

use mcp_servlet_json::{ObjectWriter, RawJson, write_raw, write_string};
use mcp_servlet_types::InputRequestKind;

use super::InputRequest;
use crate::answer::error::{Fault, ToolError};
use crate::host::context::{Capabilities, Context};
use crate::json::{Children, member};
use crate::wire::{RESPONSES, STATE};

/// MCP's error code for a capability that the client did not declare.
const MISSING_CAPABILITY: i64 = -32021;

/// The responses in a request, and the requests for input that are still open.
#[derive(Debug)]
pub struct Round {
    /// `inputResponses`, a JSON object or empty.
    responses: String,
    state: String,
    capabilities: Option<Capabilities>,
    /// `inputRequests`.
    requests: ObjectWriter,
    error: Option<ToolError>,
}

impl Round {
    pub(super) fn from_request(context: &Context) -> Result<Self, ToolError> {
        Ok(Self {
            responses: context.continuation(RESPONSES),
            state: state(context)?,
            capabilities: context.capabilities(),
            requests: ObjectWriter::new(),
            error: None,
        })
    }

    /// The response to a request. Without one, the request is sent in the next round. In hyper-mcp's second ABI, this call
    /// waits for the response, unless the host takes requests for input as results.
    pub(super) fn ask<Q: InputRequest>(&mut self, request: &Q) -> Option<Q::Response> {
        #[cfg(all(mcp_servlet_abi = "hyper-mcp-v2", target_family = "wasm"))]
        if self.responses.is_empty() {
            return self.wait(request);
        }
        let key = request.key();
        let response = request.read(self.response(key));
        if response.is_none() {
            self.require(Q::KIND);
            self.requests.json(key, &request.request());
        }
        response
    }

    /// Sends the request through a host that does not take requests as results. After a request without
    /// a response, no other one is sent.
    #[cfg(all(mcp_servlet_abi = "hyper-mcp-v2", target_family = "wasm"))]
    fn wait<Q: InputRequest>(&mut self, request: &Q) -> Option<Q::Response> {
        if self.error.is_some() {
            return None;
        }
        let response = super::wait::send(request, |params| request.put(params));
        response.map_err(|error| self.error = Some(error)).ok()
    }

    /// The response to the request `key`, of this or an earlier round; empty if there is none.
    fn response(&self, key: &str) -> &str {
        match member(&self.responses, key) {
            "" => member(member(&self.state, "answers"), key),
            now => now,
        }
    }

    /// Checks that the client supports the request, so that it never gets one that it cannot respond to.
    fn require(&mut self, kind: InputRequestKind) {
        let Some(capabilities) = &self.capabilities else {
            let message =
                "this tool requests input from the client, which its host does not support";
            self.error = Some(ToolError::new(message));
            return;
        };
        let has = match kind {
            InputRequestKind::Elicitation => capabilities.has_forms(),
            _ => capabilities.has(kind.capability()),
        };
        if !has {
            self.error = Some(lacking(kind.capability()).into());
        }
    }

    /// The error that carries the open requests to the host.
    pub(super) fn into_error(self, context: &Context) -> ToolError {
        if let Some(error) = self.error {
            return error;
        }
        let state = self.next_state(context);
        let mut json = ObjectWriter::new();
        json.string("resultType", "input_required");
        json.json("inputRequests", &self.requests.finish());
        if !state.is_empty() {
            json.string("requestState", &state);
        }
        ToolError::asking(json.finish())
    }

    /// The state for the next call: all responses and the results of `once`; empty if there is neither.
    fn next_state(&self, context: &Context) -> String {
        let answers = merged(member(&self.state, "answers"), &self.responses);
        let new = context.once_in_this_call(|once| object(once));
        let once = merged(member(&self.state, "once"), &new);
        if answers == "{}" && once == "{}" {
            return String::new();
        }
        let mut json = ObjectWriter::new();
        json.json("answers", &answers);
        json.json("once", &once);
        json.finish()
    }
}

/// Merges two JSON objects; a member of `later` replaces the one of `earlier`.
fn merged(earlier: &str, later: &str) -> String {
    let mut json = ObjectWriter::new();
    let kept = Children::new(earlier).filter(|(key, _)| member(later, key).is_empty());
    for (key, value) in kept.chain(Children::new(later)) {
        json.json(&key, value);
    }
    json.finish()
}

/// A JSON object of members that each have a comma after them.
fn object(members: &str) -> String {
    let mut json = String::from("{");
    write_raw(&mut json, members.strip_suffix(',').unwrap_or_default());
    json.push('}');
    json
}

#[cold]
fn lacking(capability: &str) -> Fault {
    let mut message = String::from("this tool needs a client with the capability `");
    write_raw(&mut message, capability);
    write_raw(&mut message, "`");
    let mut data = String::from("{\"requiredCapabilities\":{");
    write_string(&mut data, capability);
    write_raw(&mut data, ":{}}}");
    let fault = Fault::new(MISSING_CAPABILITY, message);
    match RawJson::from_string(data) {
        Ok(data) => fault.with_data(data),
        Err(_) => fault,
    }
}

/// The `requestState` of an earlier call, empty if there was none.
fn state(context: &Context) -> Result<String, Fault> {
    let param = context.continuation(STATE);
    if param.is_empty() {
        return Ok(param);
    }
    let state = mcp_servlet_json::from_str::<String>(&param)
        .ok()
        .and_then(|state| RawJson::from_string(state).ok());
    match state {
        Some(state) if state.get().starts_with('{') => Ok(state.into_string()),
        _ => Err(Fault::invalid_params(
            "`requestState` is not from this servlet",
        )),
    }
}

/// The result of `once` for this key, as JSON.
pub(super) fn kept(context: &Context, key: &str) -> Result<Option<String>, Fault> {
    let now = context.once_in_this_call(|once| member(&object(once), key).to_owned());
    let kept = if now.is_empty() {
        member(member(&state(context)?, "once"), key).to_owned()
    } else {
        now
    };
    Ok(Some(kept).filter(|kept| !kept.is_empty()))
}

pub(super) fn keep(context: &Context, key: &str, json: &str) {
    context.once_in_this_call(|once| {
        write_string(once, key);
        for part in [":", json, ","] {
            write_raw(once, part);
        }
    });
}
