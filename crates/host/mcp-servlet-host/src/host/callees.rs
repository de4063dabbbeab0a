//! What the servlets of a host call: tools and resources of all its members, whether clients see these or not.

use std::{fmt, sync::Arc};

use mcp_servlet_call::{
    Answering, CallError, CallErrorKind, Callee, CalleeError, Callees, JsonObject, RequestMeta,
    asks_client,
};
use mcp_servlet_common::FailureKind;
use mcp_servlet_schema::similar;
use serde_json::{Value, json};

use crate::{Member, Tool, member::or_similar};

/// Learns what the calls that servlets make return.
pub trait Recorder: fmt::Debug + Send + Sync {
    /// A call has ended. A call that asks the client has not: it is made again with the responses.
    fn ended(&self, callee: &Callee, outcome: &Result<JsonObject, CalleeError>);
}

/// The members of a host, as servlets call them.
#[derive(Debug)]
pub(super) struct MembersAsCallees {
    members: Vec<Member>,
    recorder: Option<Arc<dyn Recorder>>,
}

impl MembersAsCallees {
    /// `None` if no servlet may call anything.
    pub(super) fn of<'m>(
        members: impl Iterator<Item = &'m Member> + Clone,
        recorder: Option<Arc<dyn Recorder>>,
    ) -> Option<Self> {
        let is_needed = members.clone().any(Member::makes_calls);
        is_needed.then(|| Self {
            members: members.cloned().collect(),
            recorder,
        })
    }

    fn member(&self, name: &str) -> Result<&Member, CalleeError> {
        let mut members = self.members.iter();
        let found = members.find(|member| member.name() == name);
        found.ok_or_else(|| {
            let problem = format!("there is no servlet or remote `{name}`");
            let names = self.members.iter().map(Member::name);
            let message = or_similar(problem, similar(name, names));
            CalleeError::new(CalleeError::UNKNOWN, message)
        })
    }

    fn tool(&self, callee: &Callee) -> Option<&Tool> {
        self.member(callee.member()).ok()?.tool(callee.tool()?)
    }

    async fn answer(
        &self,
        callee: &Callee,
        request_meta: &RequestMeta,
    ) -> Result<JsonObject, CalleeError> {
        let member = self.member(callee.member())?;
        match callee {
            Callee::Tool {
                tool, arguments, ..
            } => call(member, tool, arguments.as_ref(), request_meta).await,
            Callee::Resource { uri, .. } => read(member, uri, request_meta).await,
        }
    }
}

impl Callees for MembersAsCallees {
    fn call<'a>(&'a self, callee: &'a Callee, request_meta: &'a RequestMeta) -> Answering<'a> {
        Box::pin(async move {
            let outcome = self.answer(callee, request_meta).await;
            if let Some(recorder) = &self.recorder
                && !outcome.as_ref().is_ok_and(asks_client)
            {
                recorder.ended(callee, &outcome);
            }
            outcome
        })
    }

    fn is_known(&self, callee: &Callee) -> bool {
        match callee.tool() {
            Some(_) => self.tool(callee).is_some(),
            None => self.member(callee.member()).is_ok(),
        }
    }

    fn is_read_only(&self, callee: &Callee) -> bool {
        callee.tool().is_none() || self.tool(callee).is_some_and(Tool::is_read_only)
    }
}

async fn call(
    member: &Member,
    tool: &str,
    arguments: Option<&JsonObject>,
    request_meta: &RequestMeta,
) -> Result<JsonObject, CalleeError> {
    let Some(described) = member.tool(tool) else {
        return Err(no_tool(member, tool));
    };
    let result = match member {
        Member::Servlet(servlet) => {
            let arguments = servlet.checked_arguments(tool, arguments).await;
            match arguments.map_err(|error| failed(&error))? {
                Ok(arguments) => servlet.run_tool(tool, arguments, request_meta).await,
                Err(text) => return Err(CalleeError::new(CalleeError::ARGUMENTS, text)),
            }
        }
        Member::Remote(_) => member.call_with(tool, arguments, request_meta).await,
    };
    let result = result.map_err(|error| failed(&error))?;
    if result.is_denied() {
        return Err(not_allowed(result.text()));
    }
    let mut json = result.into_json();
    if described.wraps_result() && json.contains_key("structuredContent") {
        mark_wrapped(&mut json);
    }
    Ok(json)
}

/// Says in a result, as `FastMCP` does, that the value is the member `result` of the structured content. The servlet has no output
/// schema that says so.
fn mark_wrapped(result: &mut JsonObject) {
    let meta = result.entry("_meta").or_insert_with(|| json!({}));
    if let Value::Object(meta) = meta {
        meta.insert("fastmcp".to_owned(), json!({ "wrap_result": true }));
    }
}

async fn read(
    member: &Member,
    uri: &str,
    request_meta: &RequestMeta,
) -> Result<JsonObject, CalleeError> {
    if let Some(guard) = &request_meta.guard
        && let Err(denied) = guard.may_read(uri)
    {
        return Err(not_allowed(denied.text));
    }
    let result = member.read_resource_with(uri, request_meta).await;
    Ok(result.map_err(|error| failed(&error))?.into_json())
}

fn no_tool(member: &Member, tool: &str) -> CalleeError {
    // What a remote lists is unknown until it was reached.
    if let Some(outage) = member
        .as_remote()
        .and_then(|member| member.remote().outage())
    {
        let message = format!("remote `{}` is not served now: {outage}", member.name());
        return CalleeError::new("connectivity", message);
    }
    CalleeError::new(CalleeError::UNKNOWN, member.without_tool(tool))
}

fn not_allowed(text: String) -> CalleeError {
    CalleeError::new(CalleeError::NOT_ALLOWED, text)
}

/// The failure of a callee, with the text that a client would get.
fn failed(error: &CallError) -> CalleeError {
    let rpc = error.to_rpc_error();
    let kind = match &error.kind {
        CallErrorKind::UnknownTool { .. } | CallErrorKind::UnknownResource { .. } => {
            CalleeError::UNKNOWN
        }
        kind => kind.failure().map_or(kind.name(), FailureKind::name),
    };
    CalleeError {
        kind: kind.into(),
        message: rpc.message,
        code: Some(rpc.code.into()),
        data: rpc.data.map(Box::new),
    }
}
