//! A call of a tool: its measures, and its lines in the log.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use mcp_servlet_call::{
    CallError, CallErrorKind, CallMaker, CallObserver, CallTarget, INPUT_REQUIRED, InnerCall,
    InnerOutcome, ObservedCall, RequestMeta, Usage, asks_client,
};
use mcp_servlet_common::hex;
use mcp_servlet_host::{CallToolResult, Host, Member, Servlet};
use sha2::{Digest as _, Sha256};
use tracing::{Level, Span, field::Empty};

use super::{Called, Metrics, OK, Series};
use crate::{
    records::{InnerRecord, Notes},
    server::Server,
};

impl Metrics {
    /// Starts to measure a call.
    pub(crate) fn call<'a>(&'a self, host: &'a Host, tool: &str, caller: Caller<'a>) -> Call<'a> {
        let servlet = host.servlet_of(tool);
        self.running.inc();
        let member = host.member_of(tool).map(Member::name);
        let owner = member.or_else(|| host.bundle_of(tool));
        let series = owner.map(|owner| self.series(owner, tool));
        let labels = series.as_ref().map(|series| &series.labels);
        let span = labels.map_or_else(Span::none, Called::span);
        // Formatting the fields takes microseconds. Without the line `ended`, only the lines of failures have them: of this call, or of
        // a call that it makes.
        let makes_calls = caller.request_meta.observer.is_some();
        let is_described = makes_calls || tracing::enabled!(Level::INFO);
        if is_described {
            caller.describe(&span);
        }
        Call {
            metrics: self,
            servlet,
            caller: (!is_described).then_some(caller),
            span,
            series,
            start: Instant::now(),
        }
    }
}

impl Metrics {
    fn count(&self, series: &Series, outcome: &'static str, took: Duration, usage: Option<&Usage>) {
        if let Some(usage) = usage {
            self.add(series, usage);
        }
        if outcome == INPUT_REQUIRED {
            // The call goes on with the client's answer, and counts when it has ended.
            return;
        }
        let calls = || self.calls.get_or_create_owned(&series.ended(outcome));
        if outcome == OK {
            series.ok.get_or_init(calls).inc();
        } else {
            calls().inc();
        }
        let seconds = || self.seconds.get_or_create_owned(&series.labels);
        let seconds = series.seconds.get_or_init(seconds);
        seconds.observe(took.as_secs_f64());
    }
}

/// Counts the calls that virtual tools and servlets make as calls of their members, and logs them within the span of the call.
#[derive(Debug)]
pub(crate) struct InnerCalls {
    pub(crate) server: Server,
    /// What is known about the request, if that is recorded.
    pub(crate) notes: Option<Arc<Notes>>,
}

/// An inner call that runs. If it is stopped, dropping it counts it as cancelled.
struct Running<'c> {
    server: Server,
    record: Option<(Arc<Notes>, InnerRecord)>,
    call: InnerCall<'c>,
    start: Instant,
    has_ended: bool,
}

impl CallObserver for InnerCalls {
    fn begin<'c>(
        &self,
        call: InnerCall<'c>,
        request_meta: &mut RequestMeta,
    ) -> Box<dyn ObservedCall + 'c> {
        let record = self.notes.as_ref().map(|notes| {
            let meta = request_meta.meta.get_or_insert_default();
            (Arc::clone(notes), notes.begin_inner(call, meta))
        });
        Box::new(Running {
            server: self.server.clone(),
            record,
            call,
            start: Instant::now(),
            has_ended: false,
        })
    }
}

impl ObservedCall for Running<'_> {
    fn end(mut self: Box<Self>, outcome: InnerOutcome<'_>, usage: Option<&Usage>) {
        let error = match outcome {
            InnerOutcome::CalleeError(error) => Some(error.message.clone()),
            InnerOutcome::StepError(error) if concerns_operator(error) => Some(error.to_string()),
            _ => None,
        };
        self.record(outcome.name(), error.as_deref(), usage);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.record("cancelled", None, None);
        }
    }
}

impl Running<'_> {
    fn record(&mut self, outcome: &'static str, error: Option<&str>, usage: Option<&Usage>) {
        self.has_ended = true;
        let time = self.start.elapsed();
        self.log(outcome, error, time);
        let InnerCall {
            member,
            target,
            is_known,
            ..
        } = self.call;
        // Labels with names that servlets make up would exhaust the memory.
        if let CallTarget::Tool(tool) = target
            && is_known
        {
            let metrics = &self.server.0.process.metrics;
            let series = metrics.series(member, tool);
            metrics.count(&series, outcome, time, usage);
        }
        if let Some((notes, record)) = self.record.take() {
            notes.end_inner(record, outcome, time, usage);
        }
    }

    /// Logs the call. It is a warning if its error ends the call of a virtual tool. A servlet decides itself what an error means.
    fn log(&self, outcome: &'static str, error: Option<&str>, time: Duration) {
        let member = self.call.member;
        let (tool, resource) = match self.call.target {
            CallTarget::Tool(name) => (Some(name), None),
            CallTarget::Resource(uri) => (None, Some(uri)),
        };
        let (step, index, via, may_fail) = match self.call.maker {
            CallMaker::Step {
                name,
                index,
                may_fail,
            } => (Some(name), index, None, may_fail),
            CallMaker::Servlet(name) => (None, None, Some(name), true),
        };
        let milliseconds = time.as_secs_f64() * 1000.0;
        macro_rules! log {
            ($level:ident) => {
                tracing::$level!(
                    step,
                    index,
                    via,
                    member,
                    tool,
                    resource,
                    outcome,
                    error,
                    milliseconds,
                    "inner call ended"
                )
            };
        }
        if error.is_some() && !may_fail {
            log!(warn);
        } else {
            log!(info);
        }
    }
}

impl Called {
    /// The span of the call. The other fields are recorded when the call ends, if a log line shows them.
    fn span(&self) -> Span {
        let Self { servlet, tool } = self;
        // The error level keeps the span enabled at every log level.
        tracing::error_span!(
            "call",
            servlet,
            tool,
            endpoint = Empty,
            session = Empty,
            client = Empty,
            via = Empty,
            request = Empty,
            traceparent = Empty,
            outcome = Empty,
            milliseconds = Empty,
            memory = Empty,
            fuel = Empty,
            input = Empty,
            output = Empty
        )
    }
}

/// A call that is being measured.
pub(crate) struct Call<'a> {
    metrics: &'a Metrics,
    servlet: Option<&'a Servlet>,
    /// None if there is no such tool. Labels with names that clients make up would exhaust the memory.
    series: Option<Arc<Series>>,
    /// Who called, if the span does not say it yet.
    caller: Option<Caller<'a>>,
    span: Span,
    start: Instant,
}

/// The caller of a tool, for the log.
pub(crate) struct Caller<'a> {
    /// The name of the endpoint in the configuration.
    pub(crate) endpoint: Option<&'a str>,
    /// The tool of a search through which it calls.
    pub(crate) via: Option<&'a str>,
    pub(crate) request_meta: &'a RequestMeta,
    /// The header `traceparent` of the HTTP request.
    pub(crate) traceparent: Option<&'a str>,
}

impl Caller<'_> {
    /// Adds the caller to the span of a call.
    fn describe(&self, span: &Span) {
        let Self {
            endpoint,
            via,
            request_meta,
            traceparent,
        } = self;
        if let Some(endpoint) = endpoint {
            span.record("endpoint", endpoint);
        }
        if let Some(via) = via {
            span.record("via", via);
        }
        if let Some(session) = &request_meta.session {
            span.record("session", session_digest(session.id()));
        }
        let meta = request_meta.meta.as_ref();
        let client = meta.and_then(|meta| meta.get("io.modelcontextprotocol/clientInfo"));
        if let Some(client) = client.and_then(|client| client.get("name")?.as_str()) {
            span.record("client", shortened(client));
        }
        if let Some(id) = &request_meta.id {
            let json = id.to_string();
            span.record("request", shortened(id.as_str().unwrap_or(&json)));
        }
        let in_meta = meta.and_then(|meta| meta.get("traceparent")?.as_str());
        if let Some(traceparent) = in_meta.or(*traceparent) {
            span.record("traceparent", shortened(traceparent));
        }
    }
}

/// The first 16 digits of the SHA-256 digest of a session's id, which is a secret.
pub(crate) fn session_digest(session: &str) -> String {
    hex(&Sha256::digest(session)[..8])
}

/// A text that a client chose, as far as the log shows it.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(100)]
}

impl Call<'_> {
    /// The span of the call. Log lines of the servlet appear within it.
    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    /// Counts arguments that were removed before the call.
    pub(crate) fn dropped(&self, count: usize) {
        if let (Some(series), 1..) = (&self.series, count) {
            let dropped = || self.metrics.dropped.get_or_create_owned(&series.labels);
            series.dropped.get_or_init(dropped).inc_by(count as u64);
        }
    }

    /// Counts the outcome of the call and logs it, with what it took if that is known. Returns the outcome.
    pub(crate) fn end(
        self,
        result: &Result<CallToolResult, CallError>,
        usage: Option<&Usage>,
    ) -> &'static str {
        let asks = result
            .as_ref()
            .is_ok_and(|result| asks_client(result.json()));
        let outcome = match result {
            Ok(_) if asks => INPUT_REQUIRED,
            Ok(result) => outcome(result.is_error(), None),
            Err(error) => outcome(false, Some(error)),
        };
        let _within = self.span.enter();
        let took = self.start.elapsed();
        if result.is_err() || self.caller.is_none() {
            self.describe(outcome, took, usage);
        }
        if let Some(series) = &self.series {
            tracing::info!("ended");
            self.metrics.count(series, outcome, took, usage);
        }
        match result {
            Ok(result) => log_help(self.servlet, result),
            Err(error) => log_failure(error, None),
        }
        outcome
    }

    /// Adds what the call took to its span, and who called.
    fn describe(&self, outcome: &'static str, took: Duration, usage: Option<&Usage>) {
        if let Some(caller) = &self.caller {
            caller.describe(&self.span);
        }
        self.span.record("outcome", outcome);
        self.span
            .record("milliseconds", took.as_secs_f64() * 1000.0);
        let Some(usage) = usage else { return };
        self.span.record("input", usage.input);
        self.span.record("output", usage.output);
        if let Some(memory) = usage.memory {
            self.span.record("memory", memory);
        }
        if let Some(fuel) = usage.fuel {
            self.span.record("fuel", fuel);
        }
    }
}

/// The outcome of a call in logs and metrics.
pub(crate) fn outcome(is_tool_error: bool, error: Option<&CallError>) -> &'static str {
    match error {
        Some(error) => error.kind.name(),
        None if is_tool_error => "tool_error",
        None => OK,
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.metrics.running.dec();
    }
}

/// Logs the failure of a request. `method` is missing if the line has a span that names it.
pub(super) fn log_failure(error: &CallError, method: Option<&str>) {
    if concerns_operator(error) {
        tracing::warn!(method, %error, "failed");
    } else {
        tracing::debug!(method, %error, "failed");
    }
}

/// Whether an error is not a mistake of a client or a deliberate error of a servlet.
fn concerns_operator(error: &CallError) -> bool {
    !matches!(
        error.kind,
        CallErrorKind::UnknownTool { .. }
            | CallErrorKind::UnknownPrompt { .. }
            | CallErrorKind::UnknownResource { .. }
            | CallErrorKind::Fault { .. }
            | CallErrorKind::Cancelled
    )
}

/// Logs help for the operator. If the servlet may open directories, a missing file is not unusual.
fn log_help(servlet: Option<&Servlet>, result: &CallToolResult) {
    let Some(servlet) = servlet else { return };
    let Some(help) = servlet.help(result) else {
        return;
    };
    if servlet.options().allowed_paths.is_empty() {
        tracing::warn!(help, "the servlet could not open a file");
    } else {
        tracing::debug!(help, "the servlet could not open a file");
    }
}
