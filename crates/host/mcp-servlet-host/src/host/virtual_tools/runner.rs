//! Runs the steps of a call of a virtual tool. A tool with `handler` has one step.

mod answer;
mod call;

use std::{future::Future, pin::Pin, sync::Arc};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use mcp_servlet_bundle::{Begin, Budget, Call, CheckArguments, Refused, Run, Step, Target};
use mcp_servlet_call::{CallError, JsonObject, RequestMeta};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{
    Served,
    call::checks_of,
    input_requests::Resumed,
    listener::Progress,
    mapping::{Mapping, Outcome},
    thrown,
};
use crate::CallToolResult;

/// A call of a step that runs.
type Running<'r> = Pin<Box<dyn Future<Output = (Call, Ended)> + Send + 'r>>;

/// How a call of a step has ended.
type Ended = Result<Outcome, Stopped>;

/// A call was stopped.
struct Stopped {
    has_begun: bool,
}

/// A call of a virtual tool while it runs.
pub(super) struct Runner<'r> {
    served: &'r Served,
    request_meta: &'r RequestMeta,
    mapping: Mapping<'r>,
    budget: Budget,
    run: Run<'r>,
    running: FuturesUnordered<Running<'r>>,
    /// Stops the calls that change nothing, and those that have not begun.
    stop: CancellationToken,
    progress: Option<Arc<Progress>>,
    deadline: Option<Instant>,
    /// The calls that ask the client, and their results of type `input_required`.
    asking: Vec<(Call, JsonObject)>,
    /// What the client was asked before.
    resumed: Resumed,
}

/// Why no more steps begin.
enum End {
    /// All steps are over, or the client is asked.
    Over,
    /// A step has failed.
    Failed { call: Call, outcome: Outcome },
    /// The arguments of a step cannot be made.
    Refused(Refused),
    /// The time of the tool is up. The text names the steps that still run.
    TimedOut(String),
}

impl<'r> Runner<'r> {
    pub(super) fn new(
        served: &'r Served,
        request_meta: &'r RequestMeta,
        mut mapping: Mapping<'r>,
        budget: Budget,
    ) -> Result<Self, CallError> {
        let tool = served.proven.tool();
        let progress = tool
            .has_steps()
            .then(|| Progress::new(request_meta, tool.steps().len()));
        let mut run = Run::new(tool);
        let resumed = match &request_meta.request_state {
            Some(state) if tool.has_steps() => Resumed::open(state, &mut run, &mut mapping)
                .map_err(|error| thrown::error(served.member_name(), error))?,
            _ => Resumed::default(),
        };
        // The time in which the client was asked does not count.
        let left = resumed.left.or(tool.timeout());
        Ok(Self {
            served,
            request_meta,
            mapping,
            budget,
            run,
            running: FuturesUnordered::new(),
            stop: CancellationToken::new(),
            progress: progress.flatten().map(Arc::new),
            deadline: left.map(|left| Instant::now() + left),
            asking: Vec::new(),
            resumed,
        })
    }

    pub(super) async fn run(mut self) -> Result<CallToolResult, CallError> {
        let end = match within(self.deadline, self.until_end()).await {
            Ok(End::Over) => End::Over,
            Ok(end) => self.wind_down(end).await,
            Err(TimeIsUp) => self.time_is_up(),
        };
        self.finish(end).await
    }

    /// Runs all steps, or those before the first one that fails or asks the client.
    async fn until_end(&mut self) -> End {
        loop {
            // Once a call asks, only those that run already go on.
            if self.asking.is_empty()
                && let Err(refused) = self.start().await
            {
                return End::Refused(refused);
            }
            let Some((call, ended)) = self.running.next().await else {
                return End::Over;
            };
            if let Some(end) = self.ended(call, ended) {
                return end;
            }
            if let Some(progress) = &self.progress {
                progress.over(self.run.progress(), call).await;
            }
            // Without it, results that are always there would hold off the deadline.
            tokio::task::yield_now().await;
        }
    }

    /// Begins the steps and calls that may begin.
    async fn start(&mut self) -> Result<(), Refused> {
        while let Some(step) = self.run.ready() {
            if !self.served.proven.tool().steps()[step].is_conditional() {
                self.run.begin(step, None);
                continue;
            }
            let state = (step, Arc::clone(self.run.values()));
            let begin = self.mapping.evaluate(
                &mut self.budget,
                state,
                |proven, request, (step, values), budget| {
                    proven.begin(*step, request, values, budget)
                },
            );
            // The values must not be shared when they change.
            let (begin, _) = begin.await;
            match begin {
                Ok(Begin::Skip) => self.run.skip(step),
                Ok(Begin::Once) => self.run.begin(step, None),
                Ok(Begin::Each(items)) => self.run.begin(step, Some(items.into())),
                Err(error) => {
                    self.run.cannot_begin(step);
                    return Err(Refused::Error(error));
                }
            }
        }
        while let Some(call) = self.run.next_call() {
            match self.inputs(call).await {
                Ok(inputs) => self.running.push(self.call(call, inputs)),
                Err(refused) => {
                    self.run.failed(call);
                    return Err(refused);
                }
            }
        }
        Ok(())
    }

    async fn inputs(&mut self, call: Call) -> Result<Option<JsonObject>, Refused> {
        let items = self.run.items(call).cloned();
        let values = Arc::clone(self.run.values());
        let checks = match self.step(call).target() {
            Target::Tool(_) => checks_of(&self.served.handlers[call.step]),
            Target::Resource(_) => CheckArguments::Check,
        };
        let inputs = self.mapping.evaluate(
            &mut self.budget,
            (call, items, values, checks),
            |proven, request, (call, items, values, checks), budget| {
                let item = items
                    .as_deref()
                    .zip(call.index)
                    .map(|(items, index)| (index, &items[index]));
                proven.inputs(call.step, item, request, values, *checks, budget)
            },
        );
        inputs.await.0
    }

    fn step(&self, call: Call) -> &'r Step {
        &self.served.proven.tool().steps()[call.step]
    }

    /// Takes the outcome of a call. Returns why the call of the tool ends, if it does.
    fn ended(&mut self, call: Call, ended: Ended) -> Option<End> {
        let step = self.step(call);
        let outcome = match ended {
            Ok(outcome) => outcome,
            Err(Stopped { has_begun: true }) => {
                self.run.stopped(call);
                return None;
            }
            Err(Stopped { has_begun: false }) => {
                self.run.not_begun(call);
                return None;
            }
        };
        let (value, is_failure) = match outcome {
            outcome if step.name().is_none() => {
                self.run.failed(call);
                return Some(End::Failed { call, outcome });
            }
            Outcome::InputRequired(result) => {
                self.run.asked(call);
                self.asking.push((call, result.into_json()));
                return None;
            }
            Outcome::Result(result) if !is_error(&result) => (result, false),
            Outcome::Result(result) if step.may_fail() => (result, true),
            Outcome::Failure(thrown, _) if step.may_fail() => (thrown.to_value(), true),
            outcome => {
                self.run.failed(call);
                return Some(End::Failed { call, outcome });
            }
        };
        let error = self.run.ended(call, value, is_failure).err()?;
        let error = self.error("RESULTS_TOO_LARGE", &error.to_string());
        Some(End::Refused(Refused::Error(error)))
    }

    /// Stops the calls that change nothing, and waits for the others, so that the answer says whether they have succeeded.
    async fn wind_down(&mut self, mut end: End) -> End {
        self.stop.cancel();
        while let Ok(Some((call, ended))) = within(self.deadline, self.running.next()).await {
            let other = self.ended(call, ended);
            // Of several failures of a step, that of the first item counts.
            if let (End::Failed { call: first, .. }, Some(End::Failed { call, .. })) =
                (&end, &other)
                && call.step == first.step
                && call.index < first.index
            {
                end = other.unwrap_or(end);
            }
        }
        self.cut_off();
        end
    }

    /// Stops everything.
    fn time_is_up(&mut self) -> End {
        let limit = self.served.proven.tool().timeout();
        let message = self.timeout(limit.unwrap_or_default());
        self.cut_off();
        End::TimedOut(message)
    }

    /// Drops what still runs. Whether it has changed anything is unknown.
    fn cut_off(&mut self) {
        self.running.clear();
        let proven = &self.served.proven;
        self.run.cut_off(|step| proven.is_read_only(step));
    }
}

fn is_error(result: &JsonObject) -> bool {
    result.get("isError") == Some(&Value::Bool(true))
}

/// The deadline of a tool has passed.
struct TimeIsUp;

/// The output of a future, if it is ready before the deadline.
async fn within<T>(
    deadline: Option<Instant>,
    future: impl Future<Output = T>,
) -> Result<T, TimeIsUp> {
    match deadline {
        Some(deadline) => timeout_at(deadline, future).await.map_err(|_| TimeIsUp),
        None => Ok(future.await),
    }
}
