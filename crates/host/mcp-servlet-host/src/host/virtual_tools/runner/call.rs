//! A call of a step.

use std::{borrow::Cow, sync::Arc, time::Duration};

use mcp_servlet_bundle::{Call, Step, Target};
use mcp_servlet_call::{
    CallError, CallErrorKind, CallMaker, CallTarget, InnerCall, InnerOutcome, JsonObject,
    ObservedCall, RemoteFailure, RequestMeta, RpcError, missing_capability, refusal_among,
};
use tokio::time::timeout;

use super::{Runner, Running, Stopped, is_error};
use crate::{
    CallToolResult, Member,
    host::virtual_tools::{input_requests::prefix, listener::StepListener, mapping::Outcome},
};

impl<'r> Runner<'r> {
    pub(super) fn call(&self, call: Call, inputs: Option<JsonObject>) -> Running<'r> {
        let (step, member) = (self.step(call), &self.served.handlers[call.step]);
        let may_stop = step.name().is_some() && self.served.proven.is_read_only(call.step);
        let stopping = self.stop.clone();
        let listener = self.listener(step, call);
        let mut request_meta = self.request_meta_of(call, listener.clone());
        Box::pin(async move {
            if stopping.is_cancelled() {
                return (call, Err(Stopped { has_begun: false }));
            }
            let observed = observe(member, (step, call), &mut request_meta);
            let outcome = outcome(member, step, inputs.as_ref(), &request_meta);
            let outcome = if may_stop {
                stopping.run_until_cancelled(outcome).await
            } else {
                Some(outcome.await)
            };
            let Some(outcome) = outcome else {
                return (call, Err(Stopped { has_begun: true }));
            };
            if let Some(observed) = observed {
                let usage = listener.as_ref().and_then(|listener| listener.usage());
                observed.end(outcome_of(&outcome), usage);
            }
            (call, Ok(outcome))
        })
    }

    fn listener(&self, step: &'r Step, call: Call) -> Option<Arc<StepListener>> {
        let (name, listener) = (step.name()?, self.request_meta.listener.as_ref()?);
        let (listener, progress) = (Arc::clone(listener), self.progress.clone());
        let weight = self.run.weight(call);
        let listener = StepListener::new(listener, name, (call, weight), progress);
        Some(Arc::new(listener))
    }

    /// The other parts of the request for a step.
    fn request_meta_of(
        &self,
        call: Call,
        listener: Option<Arc<StepListener>>,
    ) -> Cow<'r, RequestMeta> {
        let step = self.step(call);
        let guard = &self.request_meta.guard;
        if step.name().is_none() && guard.is_none() {
            return Cow::Borrowed(self.request_meta);
        }
        let mut request_meta = self.request_meta.clone();
        request_meta.guard = guard.as_ref().map(|guard| guard.of_step(call.step));
        if step.name().is_some() {
            (request_meta.input_responses, request_meta.request_state) =
                self.resumed.answers(step, call, self.request_meta);
            request_meta.listener = listener.map(|listener| listener as _);
            let withdrawal = self.request_meta.withdrawal.as_ref();
            request_meta.withdrawal = withdrawal.map(|of| of.of_part(&prefix(step, call)));
        }
        Cow::Owned(request_meta)
    }
}

/// Tells the observer of the request that a call of a step begins.
fn observe<'c>(
    member: &'c Member,
    (step, call): (&'c Step, Call),
    request_meta: &mut Cow<'_, RequestMeta>,
) -> Option<Box<dyn ObservedCall + 'c>> {
    let name = step.name()?;
    let observer = Arc::clone(request_meta.observer.as_ref()?);
    let inner = InnerCall {
        maker: CallMaker::Step {
            name,
            index: call.index,
            may_fail: step.may_fail(),
        },
        member: member.name(),
        target: match step.target() {
            Target::Tool(handler) => CallTarget::Tool(&handler.tool),
            Target::Resource(resource) => CallTarget::Resource(&resource.template),
        },
        is_known: true,
    };
    Some(observer.begin(inner, request_meta.to_mut()))
}

fn outcome_of(outcome: &Outcome) -> InnerOutcome<'_> {
    match (outcome.error(), outcome) {
        (Some(error), _) => InnerOutcome::StepError(error),
        (None, Outcome::Result(result)) if is_error(result) => InnerOutcome::ToolError,
        (None, Outcome::InputRequired(_)) => InnerOutcome::InputRequired,
        (None, _) => InnerOutcome::Ok,
    }
}

/// Calls the handler of a step, or reads its resource. Dropping this stops the call. The step fails if the client refuses an input
/// request, or cannot answer it.
async fn outcome(
    member: &Member,
    step: &Step,
    inputs: Option<&JsonObject>,
    request_meta: &RequestMeta,
) -> Outcome {
    let failed = |error: RpcError| {
        let fault = Box::new(error);
        Outcome::of_call(Err(CallErrorKind::Fault { fault }.at(member.name(), None)))
    };
    let responses = request_meta.input_responses.as_ref();
    if let Some(error) = responses.and_then(refusal_among) {
        return failed(error);
    }
    let outcome = within_time(member, step, inputs, request_meta).await;
    let lacks_capability = match &outcome {
        Outcome::InputRequired(result) => missing(result, request_meta),
        _ => None,
    };
    lacks_capability.map_or(outcome, failed)
}

/// The error if the client has not declared a capability that the input requests of a result need.
fn missing(result: &CallToolResult, request_meta: &RequestMeta) -> Option<RpcError> {
    let input_requests = result.json().get("inputRequests")?.as_object()?;
    missing_capability(request_meta.client_capabilities(), input_requests.values())
}

async fn within_time(
    member: &Member,
    step: &Step,
    inputs: Option<&JsonObject>,
    request_meta: &RequestMeta,
) -> Outcome {
    let outcome = async {
        match step.target() {
            Target::Tool(handler) => {
                Outcome::of_call(member.call_with(&handler.tool, inputs, request_meta).await)
            }
            Target::Resource(resource) => {
                let uri = resource.uri(inputs.unwrap_or(&JsonObject::new()));
                if let Some(guard) = &request_meta.guard
                    && let Err(denied) = guard.may_read(&uri)
                {
                    return Outcome::of_call(Ok(CallToolResult::denied(denied)));
                }
                Outcome::of_read(member.read_resource_with(&uri, request_meta).await)
            }
        }
    };
    match step.timeout() {
        None => outcome.await,
        Some(limit) => match timeout(limit, outcome).await {
            Ok(outcome) => outcome,
            Err(_) => Outcome::of_call(Err(timed_out(member, step, limit))),
        },
    }
}

fn timed_out(member: &Member, step: &Step, limit: Duration) -> CallError {
    let name = member.name();
    if let Some(servlet) = member.as_servlet() {
        let export = match step.target() {
            Target::Tool(_) => servlet.abi().call_tool(),
            Target::Resource(_) => "read_resource",
        };
        return CallErrorKind::Timeout { limit }.at(name, Some(export));
    }
    let failure = RemoteFailure::TimedOut { limit };
    let method = match step.target() {
        Target::Tool(_) => "tools/call",
        Target::Resource(_) => "resources/read",
    };
    CallErrorKind::Remote { failure }.at(name, Some(method))
}
