//! Metrics of the server.

use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::{Duration, Instant},
};

use mcp_servlet_host::{CallToolResult, Host, Servlet};
use mcp_servlet_runtime::{CallError, CallErrorKind, Usage};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};
use tracing::{Level, Span, field::Empty};

/// The outcome of most calls.
const OK: &str = "ok";

/// Labels: the tool and the outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    servlet: String,
    tool: String,
    outcome: &'static str,
}

/// Labels: what a client was refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RefusedLabel {
    pub(crate) what: &'static str,
}

/// How often clients were refused something.
pub(crate) type RefusedTotal = Family<RefusedLabel, Counter>;

/// Labels: the tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Called {
    servlet: String,
    tool: String,
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
            outcome = Empty,
            milliseconds = Empty,
            memory = Empty,
            fuel = Empty,
            input = Empty,
            output = Empty
        )
    }
}

/// The metrics of one server.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<Ended, Counter>,
    seconds: Family<Called, Histogram>,
    memory: Family<Called, Histogram>,
    input: Family<Called, Counter>,
    output: Family<Called, Counter>,
    fuel: Family<Called, Counter>,
    running: Gauge,
    dropped: Family<Called, Counter>,
    pub(crate) refused: RefusedTotal,
    /// The series of each tool, by the names of its member and the tool.
    series: RwLock<HashMap<String, HashMap<String, Arc<Series>>>>,
}

/// The series of one tool, so that a call needs no look-up by labels. Each of them begins with its first value.
#[derive(Debug)]
struct Series {
    labels: Called,
    ok: OnceLock<Counter>,
    seconds: OnceLock<Histogram>,
    memory: OnceLock<Histogram>,
    input: OnceLock<Counter>,
    output: OnceLock<Counter>,
    fuel: OnceLock<Counter>,
    dropped: OnceLock<Counter>,
}

impl Series {
    fn new(labels: Called) -> Self {
        Self {
            labels,
            ok: OnceLock::new(),
            seconds: OnceLock::new(),
            memory: OnceLock::new(),
            input: OnceLock::new(),
            output: OnceLock::new(),
            fuel: OnceLock::new(),
            dropped: OnceLock::new(),
        }
    }

    fn ended(&self, outcome: &'static str) -> Ended {
        Ended {
            servlet: self.labels.servlet.clone(),
            tool: self.labels.tool.clone(),
            outcome,
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("servlet");
        let calls = Family::default();
        registry.register("calls", "Calls of tools that have ended", calls.clone());
        // From 0.1 ms to 26 s. Each bucket is four times as large as the one before.
        let seconds = Family::new_with_constructor(buckets as fn() -> Histogram);
        registry.register_with_unit(
            "call_duration",
            "How long calls of tools took, waiting included",
            Unit::Seconds,
            seconds.clone(),
        );
        // From 64 KiB to 1 GiB.
        let memory = Family::new_with_constructor(sizes as fn() -> Histogram);
        registry.register_with_unit(
            "call_memory",
            "How much memory calls of tools had in the end",
            Unit::Bytes,
            memory.clone(),
        );
        let mut bytes = |name, help| {
            let counter = Family::default();
            registry.register_with_unit(name, help, Unit::Bytes, counter.clone());
            counter
        };
        let input = bytes("call_input", "How much input calls of tools had");
        let output = bytes("call_output", "How much output calls of tools had");
        let fuel = Family::default();
        registry.register(
            "call_fuel",
            "How much fuel calls of tools took, if it is counted",
            fuel.clone(),
        );
        let running = Gauge::default();
        registry.register(
            "calls_running",
            "Calls of tools that have not ended",
            running.clone(),
        );
        let dropped = Family::default();
        registry.register(
            "arguments_dropped",
            "Unknown arguments that were removed before the call",
            dropped.clone(),
        );
        let refused = register_refused(&mut registry);
        Self {
            registry,
            calls,
            seconds,
            memory,
            input,
            output,
            fuel,
            running,
            dropped,
            refused,
            series: RwLock::default(),
        }
    }
}

fn register_refused(registry: &mut Registry) -> RefusedTotal {
    let refused = RefusedTotal::default();
    registry.register(
        "refused",
        "Connections and sessions that clients were refused, because a limit was reached",
        refused.clone(),
    );
    refused
}

fn buckets() -> Histogram {
    Histogram::new(exponential_buckets(0.0001, 4.0, 10))
}

fn sizes() -> Histogram {
    Histogram::new(exponential_buckets(65_536.0, 4.0, 8))
}

impl Metrics {
    /// All counters, in the Prometheus text format.
    pub(crate) fn encode(&self) -> String {
        let mut text = String::new();
        if let Err(error) = encode(&mut text, &self.registry) {
            text.clear();
            let _ = writeln!(text, "# {error}");
        }
        text
    }

    /// Starts to measure a call.
    pub(crate) fn call<'a>(&'a self, host: &'a Host, tool: &str) -> Call<'a> {
        let servlet = host.servlet_of(tool);
        self.running.inc();
        let member = host.member_of(tool);
        let series = member.map(|member| self.series(member.name(), tool));
        let labels = series.as_ref().map(|series| &series.labels);
        Call {
            metrics: self,
            servlet,
            span: labels.map_or_else(Span::none, Called::span),
            series,
            start: Instant::now(),
        }
    }

    /// The series of a tool.
    fn series(&self, servlet: &str, tool: &str) -> Arc<Series> {
        let known = self.series.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = known.get(servlet).and_then(|tools| tools.get(tool)) {
            return Arc::clone(series);
        }
        drop(known);
        let labels = Called {
            servlet: servlet.to_owned(),
            tool: tool.to_owned(),
        };
        let mut known = self.series.write().unwrap_or_else(PoisonError::into_inner);
        let tools = known.entry(servlet.to_owned()).or_default();
        let series = tools.entry(tool.to_owned());
        Arc::clone(series.or_insert_with(|| Arc::new(Series::new(labels))))
    }

    /// Adds what a call took.
    fn add(&self, series: &Series, usage: &Usage) {
        let labels = &series.labels;
        let input = || self.input.get_or_create_owned(labels);
        series.input.get_or_init(input).inc_by(usage.input);
        let output = || self.output.get_or_create_owned(labels);
        series.output.get_or_init(output).inc_by(usage.output);
        if let Some(memory) = usage.memory {
            let bytes = || self.memory.get_or_create_owned(labels);
            #[expect(clippy::cast_precision_loss, reason = "a histogram is not exact")]
            series.memory.get_or_init(bytes).observe(memory as f64);
        }
        if let Some(taken) = usage.fuel {
            let fuel = || self.fuel.get_or_create_owned(labels);
            series.fuel.get_or_init(fuel).inc_by(taken);
        }
    }
}

/// A call that is being measured.
pub(crate) struct Call<'a> {
    metrics: &'a Metrics,
    servlet: Option<&'a Servlet>,
    /// None if there is no such tool. Labels with names that clients make up would exhaust the memory.
    series: Option<Arc<Series>>,
    span: Span,
    start: Instant,
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

    /// Counts the outcome of the call and logs it, with what it took if that is known.
    pub(crate) fn end(self, result: &Result<CallToolResult, CallError>, usage: Option<&Usage>) {
        let outcome = match result {
            Ok(result) if result.is_error() => "tool_error",
            Ok(_) => OK,
            Err(error) => error.kind.name(),
        };
        let _within = self.span.enter();
        let took = self.start.elapsed();
        // Formatting the fields takes microseconds, and without the line `ended` only failures show them.
        if result.is_err() || tracing::enabled!(Level::INFO) {
            self.describe(outcome, took, usage);
        }
        self.count(outcome, took, usage);
        match result {
            Ok(result) => log_help(self.servlet, result),
            // Mistakes of clients and deliberate errors of servlets do not concern the operator.
            Err(
                error @ CallError {
                    kind:
                        CallErrorKind::UnknownTool { .. }
                        | CallErrorKind::Fault { .. }
                        | CallErrorKind::Cancelled,
                    ..
                },
            ) => tracing::debug!(%error, "failed"),
            Err(error) => tracing::warn!(%error, "failed"),
        }
    }

    /// Adds what the call took to its span.
    fn describe(&self, outcome: &'static str, took: Duration, usage: Option<&Usage>) {
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

    fn count(&self, outcome: &'static str, took: Duration, usage: Option<&Usage>) {
        let (Some(series), metrics) = (&self.series, self.metrics) else {
            return;
        };
        if let Some(usage) = usage {
            metrics.add(series, usage);
        }
        tracing::info!("ended");
        let calls = || metrics.calls.get_or_create_owned(&series.ended(outcome));
        if outcome == OK {
            series.ok.get_or_init(calls).inc();
        } else {
            calls().inc();
        }
        let seconds = || metrics.seconds.get_or_create_owned(&series.labels);
        let seconds = series.seconds.get_or_init(seconds);
        seconds.observe(took.as_secs_f64());
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.metrics.running.dec();
    }
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
