//! What the client gets for a call of a virtual tool.

use std::{sync::Arc, time::Duration};

use mcp_servlet_bundle::{Call, Proven, Refused, RpcError, Thrown};
use mcp_servlet_call::{CallError, INPUT_REQUIRED, JsonObject};
use serde_json::{Value, json};

use super::{End, Runner};
use crate::{
    CallToolResult,
    host::virtual_tools::{
        input_requests,
        mapping::{Mapped, Outcome},
        thrown,
    },
};

impl Runner<'_> {
    pub(super) async fn finish(mut self, end: End) -> Result<CallToolResult, CallError> {
        let has_steps = self.served.proven.tool().has_steps();
        match end {
            End::Over if !self.asking.is_empty() => self.ask(),
            End::Over => {
                let result = self.mapping.evaluate(
                    &mut self.budget,
                    Arc::clone(self.run.values()),
                    |proven, request, values, budget| {
                        proven.result_of_steps(request, values, budget)
                    },
                );
                match result.await.0 {
                    Ok(result) => Ok(CallToolResult::new(result)),
                    Err(error) => Err(self.thrown(error)),
                }
            }
            End::Failed { outcome, .. } if !has_steps => self.handler_outcome(outcome).await,
            End::Failed { call, outcome } => self.step_failed(call, outcome).await,
            End::Refused(Refused::Error(error)) => Err(self.thrown(error)),
            End::Refused(Refused::Arguments(text)) => {
                let mut result = CallToolResult::error(text).into_json();
                self.add_states(&mut result);
                Ok(CallToolResult::new(result))
            }
            End::TimedOut(message) => self.timed_out(message).await,
        }
    }

    /// What the client gets for the outcome of the only handler.
    async fn handler_outcome(&mut self, outcome: Outcome) -> Result<CallToolResult, CallError> {
        let mapped = match outcome {
            Outcome::InputRequired(result) => return Ok(result),
            Outcome::Error(error) => return Err(error),
            outcome => {
                let mapped = self.mapping.evaluate::<_, Mapped>(
                    &mut self.budget,
                    outcome,
                    |proven, request, outcome, budget| match outcome {
                        Outcome::Result(result) => {
                            proven.result(request, result, budget).transpose()
                        }
                        Outcome::Failure(thrown, _) => {
                            proven.caught(request, thrown, budget).map(Err)
                        }
                        Outcome::InputRequired(_) | Outcome::Error(_) => None,
                    },
                );
                mapped.await
            }
        };
        match mapped {
            (Some(Ok(result)), _) | (None, Outcome::Result(result)) => {
                Ok(CallToolResult::new(result))
            }
            (Some(Err(error)), _) => Err(self.thrown(error)),
            (None, Outcome::InputRequired(result)) => Ok(result),
            (None, Outcome::Failure(_, error) | Outcome::Error(error)) => Err(error),
        }
    }

    /// What the client gets if a step fails.
    async fn step_failed(
        &mut self,
        call: Call,
        outcome: Outcome,
    ) -> Result<CallToolResult, CallError> {
        let step = self.step(call);
        let name = step.name().unwrap_or_default();
        let target = step.target();
        let (thrown, outcome) = match outcome {
            Outcome::Result(result) => (Thrown::of_result(&result), Outcome::Result(result)),
            Outcome::Failure(thrown, error) => {
                (Some(thrown.clone()), Outcome::Failure(thrown, error))
            }
            outcome => (None, outcome),
        };
        if let Some(thrown) = thrown
            && let Some(error) = self.caught(thrown, Some(name)).await
        {
            return Err(error);
        }
        match outcome {
            Outcome::Result(result) => {
                let item = call
                    .index
                    .zip(self.run.item_count(call.step))
                    .map(|(index, of)| format!(", item {} of {of}", index + 1))
                    .unwrap_or_default();
                let text = format!("step \"{name}\"{item} failed ({target}):");
                Ok(self.failed_result(result, text))
            }
            Outcome::Failure(_, error) | Outcome::Error(error) => {
                let mut error = error.to_rpc_error();
                let data = data_of(&mut error);
                data.insert("step".to_owned(), name.into());
                data.extend(call.index.map(|index| ("index".to_owned(), index.into())));
                // Another try would repeat what other steps have written.
                if self.writes().any(|other| other != call.step) {
                    data.shift_remove("retry");
                }
                Err(self.thrown(error))
            }
            Outcome::InputRequired(result) => Ok(result),
        }
    }

    /// The input requests of all calls that ask, under the names of their steps.
    fn ask(&self) -> Result<CallToolResult, CallError> {
        let tool = self.served.proven.tool();
        let text = self.resumed.next(
            &self.run,
            &self.mapping,
            &self.asking,
            self.request_meta,
            self.deadline,
        );
        let state = match text {
            Ok(state) => state,
            Err((code, message)) => return Err(self.thrown(self.error(code, &message))),
        };
        let requests = input_requests::of_all(tool, &self.asking);
        let mut result = JsonObject::from_iter([
            ("resultType".to_owned(), INPUT_REQUIRED.into()),
            ("inputRequests".to_owned(), requests.into()),
            ("requestState".to_owned(), state.into()),
        ]);
        let done: Vec<_> = self
            .writes()
            .filter(|step| self.run.has_ended(*step))
            .filter_map(|step| tool.steps()[step].name())
            .collect();
        if !done.is_empty() {
            result.insert("_meta".to_owned(), json!({ "mcp-servlet/done": done }));
        }
        Ok(CallToolResult::new(result))
    }

    /// The steps that may have changed something.
    fn writes(&self) -> impl Iterator<Item = usize> {
        let proven = &self.served.proven;
        let steps = 0..proven.tool().steps().len();
        steps.filter(|step| !proven.is_read_only(*step) && self.run.has_begun(*step))
    }

    /// The error result of a handler, with a text that names the step.
    fn failed_result(&self, mut result: JsonObject, text: String) -> CallToolResult {
        let mut content = vec![json!({ "type": "text", "text": text })];
        if let Some(Value::Array(blocks)) = result.shift_remove("content") {
            content.extend(blocks);
        }
        let mut failed = JsonObject::from_iter([
            ("content".to_owned(), content.into()),
            ("isError".to_owned(), true.into()),
        ]);
        failed.extend(result.shift_remove_entry("_meta"));
        self.add_states(&mut failed);
        CallToolResult::new(failed)
    }

    pub(super) fn timeout(&self, limit: Duration) -> String {
        let steps: Vec<_> = self
            .run
            .running()
            .map(|step| {
                format!(
                    "`{}` (`{}`)",
                    step.name().unwrap_or_default(),
                    step.target()
                )
            })
            .collect();
        format!(
            "tool `{}` took longer than {limit:?}; still running: {}",
            self.served.name(),
            steps.join(", ")
        )
    }

    async fn timed_out(&mut self, message: String) -> Result<CallToolResult, CallError> {
        let thrown = thrown::timeout(message);
        if let Some(error) = self.caught(thrown.clone(), None).await {
            return Err(error);
        }
        Err(self.thrown(self.error(&thrown.code, &thrown.message)))
    }

    /// The error of the first catch that applies to a failure.
    async fn caught(&mut self, mut thrown: Thrown, step: Option<&str>) -> Option<CallError> {
        thrown.step = step.map(str::to_owned);
        let caught = self
            .mapping
            .evaluate(&mut self.budget, thrown, Proven::caught);
        let error = caught.await.0?;
        Some(thrown::error(self.served.member_name(), error))
    }

    pub(super) fn error(&self, code: &str, message: &str) -> RpcError {
        let tool = self.served.proven.tool();
        let data = json!({ "bundle": tool.bundle(), "tool": tool.name(), "code": code });
        RpcError {
            code: RpcError::INTERNAL,
            message: message.to_owned(),
            data: Some(data),
        }
    }

    /// An error of the tool, with what has become of its steps.
    fn thrown(&self, mut error: RpcError) -> CallError {
        if self.served.proven.tool().has_steps() {
            let states = self.run.states().into();
            data_of(&mut error).insert("steps".to_owned(), states);
        }
        thrown::error(self.served.member_name(), error)
    }

    /// Adds what has become of the steps to the metadata of a result.
    fn add_states(&self, result: &mut JsonObject) {
        if !self.served.proven.tool().has_steps() {
            return;
        }
        let meta = result.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert("mcp-servlet/steps".to_owned(), self.run.states().into());
        }
    }
}

/// The details of an error, as an object.
fn data_of(error: &mut RpcError) -> &mut JsonObject {
    let data = error.data.take();
    let object = match data {
        None => JsonObject::new(),
        Some(Value::Object(members)) => members,
        Some(other) => JsonObject::from_iter([("data".to_owned(), other)]),
    };
    let data = error.data.insert(Value::Object(object));
    data.as_object_mut().expect("it is an object")
}
