//! The client in native tests: the prepared responses, and the requests of the servlet.

use std::collections::BTreeMap;

use mcp_servlet_json::ObjectWriter;

use super::Context;
use super::request::CLIENT_CAPABILITIES;
use crate::answer::error::Fault;
use crate::json::{Children, member};

/// The maximum of rounds of input requests in one call.
const MAX_INPUT_ROUNDS: usize = 16;

/// The test's client: all members are JSON.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// `_meta` without capabilities.
    pub(crate) meta: BTreeMap<String, String>,
    pub(crate) capabilities: Option<BTreeMap<String, String>>,
    /// Responses to requests of the servlet, by key.
    pub(crate) responses: BTreeMap<String, String>,
    /// The requests of the servlet so far: keys and JSON.
    pub(crate) input_requests: Vec<(String, String)>,
}

impl Default for Prepared {
    fn default() -> Self {
        let all = ["elicitation", "roots", "sampling"];
        Self {
            meta: BTreeMap::new(),
            capabilities: Some(all.map(|name| (name.to_owned(), "{}".to_owned())).into()),
            responses: BTreeMap::new(),
            input_requests: Vec::new(),
        }
    }
}

impl Context {
    /// Starts a request.
    pub(crate) fn begin(&self, request: &str) {
        let mut state = self.host.state_mut();
        request.clone_into(&mut state.request);
        state.once.clear();
    }

    /// Reads from the request; without one, from what the test prepared.
    pub(crate) fn with_request<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        let request = self.host.state().request.clone();
        if request.is_empty() {
            read(&format!("{{\"params\":{{{}}}}}", self.request_meta(true)))
        } else {
            read(&request)
        }
    }

    /// The members of a request's parameters next to the arguments, as the test prepared them.
    pub(crate) fn request_meta(&self, with_responses: bool) -> String {
        let state = self.host.state();
        let client = &state.client;
        let mut meta = client.meta.clone();
        if let Some(capabilities) = &client.capabilities {
            meta.insert(CLIENT_CAPABILITIES.to_owned(), object(capabilities));
        }
        let mut members = format!("\"_meta\":{}", object(&meta));
        if with_responses {
            members.push_str(",\"inputResponses\":");
            members.push_str(&object(&client.responses));
        }
        members
    }

    /// Accesses the results of `once` in this call.
    pub(crate) fn once_in_this_call<T>(&self, work: impl FnOnce(&mut String) -> T) -> T {
        let mut state = self.host.state_mut();
        if state.request.is_empty() {
            // A direct call of the function runs it once, without a loop.
            return work(&mut String::new());
        }
        work(&mut state.once)
    }

    /// Calls like a host: while the result requests input, adds the responses and calls again.
    ///
    /// `run` gets the members of the request's parameters other than name and arguments.
    pub(crate) fn converse(
        &self,
        run: impl Fn(&str) -> Result<String, Fault>,
    ) -> Result<String, Fault> {
        let mut request_meta = self.request_meta(false);
        let mut before = Vec::new();
        for _ in 0..MAX_INPUT_ROUNDS {
            let answer = run(&request_meta)?;
            if member(&answer, "resultType") != "\"input_required\"" {
                return Ok(answer);
            }
            let responses = self.respond(member(&answer, "inputRequests"), &mut before)?;
            request_meta = format!(
                "{},\"inputResponses\":{responses}",
                self.request_meta(false)
            );
            let state = member(&answer, "requestState");
            if !state.is_empty() {
                request_meta = format!("{request_meta},\"requestState\":{state}");
            }
        }
        Err(Fault::internal(format!(
            "the tool requested input {MAX_INPUT_ROUNDS} times and has no result"
        )))
    }

    /// The prepared responses to these requests. If a request repeats one of the round before, its
    /// response was invalid.
    fn respond(&self, requests: &str, before: &mut Vec<String>) -> Result<String, Fault> {
        let mut state = self.host.state_mut();
        let mut responses = BTreeMap::new();
        for (key, request) in Children::new(requests) {
            let key = key.into_owned();
            state
                .client
                .input_requests
                .push((key.clone(), request.to_owned()));
            let Some(response) = state.client.responses.get(&key) else {
                return Err(Fault::internal(format!(
                    "the tool requests the input `{key}`, and the test has no response; add one with `with_form`, `with_confirmation`, `with_sample` or `with_roots`"
                )));
            };
            if before.contains(&key) {
                return Err(Fault::internal(format!(
                    "the tool requests the input `{key}` again: the response is invalid for {request}"
                )));
            }
            responses.insert(key, response.clone());
        }
        *before = responses.keys().cloned().collect();
        Ok(object(&responses))
    }
}

/// A JSON object of members that are JSON.
fn object(members: &BTreeMap<String, String>) -> String {
    let mut json = ObjectWriter::new();
    for (key, value) in members {
        json.json(key, value);
    }
    json.finish()
}
