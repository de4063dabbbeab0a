//! Notifications of steps: progress of the whole tool, and log messages.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use mcp_servlet_bundle::Call;
use mcp_servlet_call::{
    HttpFailure, HttpRequest, HttpResponse, JsonObject, Listener, Notification, RequestMeta,
    Sending, Usage,
};
use mcp_servlet_common::lock;
use serde_json::{Value, json};
use tokio::time::Instant;

/// The time between two notifications of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The progress of a call of a virtual tool: how many of its steps are over.
#[derive(Debug)]
pub(super) struct Progress {
    listener: Arc<dyn Listener>,
    token: Value,
    total: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What is over.
    over: f64,
    /// The parts of running steps that are done.
    parts: BTreeMap<Call, f64>,
    sent: f64,
    last: Option<Instant>,
}

impl Progress {
    /// `None` if the client does not want to know it.
    pub(super) fn new(request_meta: &RequestMeta, steps: usize) -> Option<Self> {
        let token = request_meta.meta.as_ref()?.get("progressToken")?;
        Some(Self {
            listener: Arc::clone(request_meta.listener.as_ref()?),
            token: token.clone(),
            total: steps,
            state: Mutex::default(),
        })
    }

    /// A call has ended. `over` is how many steps are over, with the calls of `each` that have ended.
    pub(super) async fn over(&self, over: f64, ended: Call) {
        self.update(None, |state| {
            state.over = over;
            state.parts.remove(&ended);
        })
        .await;
    }

    /// So much of its step is done by a call that runs.
    async fn part(&self, call: Call, part: f64, message: Option<String>) {
        self.update(message, |state| {
            state.parts.insert(call, part);
        })
        .await;
    }

    async fn update(&self, message: Option<String>, change: impl FnOnce(&mut State)) {
        let progress = {
            let mut state = lock(&self.state);
            change(&mut state);
            let progress = state.over + state.parts.values().sum::<f64>();
            let is_early = state
                .last
                .is_some_and(|last| last.elapsed() < PROGRESS_INTERVAL);
            if progress <= state.sent || is_early {
                return;
            }
            (state.sent, state.last) = (progress, Some(Instant::now()));
            progress
        };
        let mut params = JsonObject::from_iter([
            ("progressToken".to_owned(), self.token.clone()),
            ("progress".to_owned(), progress.into()),
            ("total".to_owned(), self.total.into()),
        ]);
        params.extend(message.map(|message| ("message".to_owned(), message.into())));
        self.listener.notify(Notification::Progress(params)).await;
    }
}

/// Receives what a call of a step sends.
#[derive(Debug)]
pub(super) struct StepListener {
    listener: Arc<dyn Listener>,
    step: String,
    call: Call,
    /// The part of its step that the call is.
    weight: f64,
    progress: Option<Arc<Progress>>,
    usage: OnceLock<Usage>,
}

impl StepListener {
    pub(super) fn new(
        listener: Arc<dyn Listener>,
        step: &str,
        (call, weight): (Call, f64),
        progress: Option<Arc<Progress>>,
    ) -> Self {
        Self {
            listener,
            step: step.to_owned(),
            call,
            weight,
            progress,
            usage: OnceLock::new(),
        }
    }

    /// What the call took, if it has ended.
    pub(super) fn usage(&self) -> Option<&Usage> {
        self.usage.get()
    }

    async fn report(&self, params: &JsonObject) {
        let Some(progress) = &self.progress else {
            return;
        };
        let number = |key: &str| params.get(key).and_then(Value::as_f64);
        let part = number("progress")
            .zip(number("total"))
            .map_or(0.0, |(done, total)| done / total);
        // A step that has not ended is not done.
        let part = if part.is_finite() {
            part.clamp(0.0, 0.99)
        } else {
            0.0
        };
        let message = params
            .get("message")
            .and_then(Value::as_str)
            .map(|message| format!("{}: {message}", self.step));
        progress.part(self.call, part * self.weight, message).await;
    }
}

impl Listener for StepListener {
    fn notify(&self, notification: Notification) -> Sending<'_> {
        match notification {
            Notification::Progress(params) => Box::pin(async move { self.report(&params).await }),
            Notification::Message(mut params) => {
                let step = Value::from(self.step.as_str());
                match params.get_mut("data") {
                    Some(Value::Object(data)) => {
                        data.insert("step".to_owned(), step);
                    }
                    data => {
                        let data = data.map(Value::take).unwrap_or_default();
                        let data = json!({ "message": data, "step": step });
                        params.insert("data".to_owned(), data);
                    }
                }
                self.listener.notify(Notification::Message(params))
            }
            other => self.listener.notify(other),
        }
    }

    fn ended(&self, usage: &Usage) {
        let _ = self.usage.set(*usage);
    }

    fn answers_http(&self) -> bool {
        self.listener.answers_http()
    }

    fn answer_http(&self, request: &HttpRequest) -> Option<Result<HttpResponse, HttpFailure>> {
        self.listener.answer_http(request)
    }
}
