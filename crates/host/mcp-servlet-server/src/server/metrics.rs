//! Metrics of the server.

mod call;

use std::{
    collections::{BTreeMap, HashMap},
    fmt::{Debug, Write as _},
    hash::Hash,
    sync::{Arc, OnceLock, RwLock},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use call::log_failure;
pub(crate) use call::{Caller, InnerCalls, outcome, session_digest};
use mcp_servlet_call::{CallError, CallErrorKind, Usage};
use mcp_servlet_common::{read_lock, write_lock};
use prometheus_client::{
    encoding::{
        EncodeLabelSet, EncodeMetric,
        text::{encode_eof, encode_registry},
    },
    metrics::{
        TypedMetric,
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};

use super::process::RemoteState;

/// The outcome of most calls.
pub(crate) const OK: &str = "ok";

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

/// Labels: the state of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct ConnectionLabel {
    pub(crate) state: &'static str,
}

/// The connections of clients over HTTP.
pub(crate) type Connections = Family<ConnectionLabel, Gauge>;

/// Labels: the endpoint, if the configuration has endpoints.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndpointLabel {
    endpoint: Option<String>,
}

/// Labels: the method of a request other than `tools/call`, and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabel {
    method: &'static str,
    outcome: &'static str,
}

/// Labels: the method of a request other than `tools/call`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MethodLabel {
    method: &'static str,
}

/// Labels: the outcome of a reload.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReloadLabel {
    outcome: &'static str,
}

/// Labels: the name of a remote.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RemoteLabel {
    remote: String,
}

/// Counts one thing in a gauge until it is dropped.
#[derive(Debug)]
pub(crate) struct OneOf(Gauge);

impl OneOf {
    pub(crate) fn of(gauge: Gauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for OneOf {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Labels: the listener.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ListenerLabel {
    listener: String,
}

/// When the certificates of listeners expire.
#[derive(Clone, Debug)]
pub(crate) struct CertificateExpiries(Family<ListenerLabel, Gauge>);

impl CertificateExpiries {
    pub(crate) fn set(&self, listener: &str, ends: Option<SystemTime>) {
        let listener = listener.to_owned();
        let label = ListenerLabel { listener };
        let seconds = ends
            .and_then(|ends| ends.duration_since(UNIX_EPOCH).ok())
            .and_then(|seconds| i64::try_from(seconds.as_secs()).ok());
        match seconds {
            Some(seconds) => {
                self.0.get_or_create_owned(&label).set(seconds);
            }
            None => {
                self.0.remove(&label);
            }
        }
    }
}

/// How a reload of the configuration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReloadOutcome {
    /// All of the new version is served.
    Ok,
    /// The new version is served, without servlets that could not be loaded or with their previous versions.
    Partial,
    /// The previous version is still served.
    Failed,
}

/// Labels: the tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Called {
    servlet: String,
    tool: String,
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
    pub(crate) audit_lost: Counter,
    pub(crate) connections: Connections,
    pub(crate) expiries: CertificateExpiries,
    sessions: Family<EndpointLabel, Gauge>,
    requests: Family<RequestLabel, Counter>,
    request_seconds: Family<MethodLabel, Histogram>,
    reloads: Family<ReloadLabel, Counter>,
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
        let all = &mut registry;
        Self {
            calls: registered(all, "calls", "Calls of tools that have ended"),
            seconds: durations(
                all,
                "call_duration",
                "How long calls of tools took, waiting included",
            ),
            memory: sizes(
                all,
                "call_memory",
                "How much memory calls of tools had in the end",
            ),
            input: bytes(all, "call_input", "How much input calls of tools had"),
            output: bytes(all, "call_output", "How much output calls of tools had"),
            fuel: registered(
                all,
                "call_fuel",
                "How much fuel calls of tools took, if it is counted",
            ),
            running: running(all),
            dropped: registered(
                all,
                "arguments_dropped",
                "Unknown arguments that were removed before the call",
            ),
            refused: registered(
                all,
                "refused",
                "Connections, sessions and requests that had to wait or were refused, because of a limit or their caller",
            ),
            connections: registered(all, "connections", "Connections over HTTP"),
            sessions: registered(all, "sessions", "Sessions over HTTP"),
            requests: registered(
                all,
                "requests",
                "Requests for resources, prompts and completions that have ended",
            ),
            request_seconds: durations(
                all,
                "request_duration",
                "How long requests for resources, prompts and completions took",
            ),
            reloads: registered(all, "reloads", "Reloads of the configuration"),
            audit_lost: audit_lost(all),
            expiries: CertificateExpiries(expiries(all)),
            registry,
            series: RwLock::default(),
        }
    }
}

/// A new family of the registry.
fn registered<L, M>(registry: &mut Registry, name: &str, help: &str) -> Family<L, M>
where
    L: EncodeLabelSet + Clone + Debug + Eq + Hash + Send + Sync + 'static,
    M: Default + EncodeMetric + TypedMetric + Debug + Send + Sync + 'static,
{
    let family = Family::default();
    registry.register(name, help, family.clone());
    family
}

fn running(registry: &mut Registry) -> Gauge {
    let running = Gauge::default();
    let help = "Calls of tools that have not ended";
    registry.register("calls_running", help, running.clone());
    running
}

fn audit_lost(registry: &mut Registry) -> Counter {
    let lost = Counter::default();
    let help = "Lines of the audit log that could not be written";
    registry.register("audit_lost", help, lost.clone());
    lost
}

fn expiries(registry: &mut Registry) -> Family<ListenerLabel, Gauge> {
    let expiries = Family::default();
    let help = "When the certificate of a listener expires, in seconds since 1970";
    registry.register_with_unit("certificate_expires", help, Unit::Seconds, expiries.clone());
    expiries
}

fn bytes(registry: &mut Registry, name: &str, help: &str) -> Family<Called, Counter> {
    let family = Family::default();
    registry.register_with_unit(name, help, Unit::Bytes, family.clone());
    family
}

/// Durations from 0.1 ms to 26 s. Each bucket is four times as large as the one before.
fn durations<L>(registry: &mut Registry, name: &str, help: &str) -> Family<L, Histogram>
where
    L: EncodeLabelSet + Clone + Debug + Eq + Hash + Send + Sync + 'static,
{
    let buckets = || Histogram::new(exponential_buckets(0.0001, 4.0, 10));
    let family = Family::new_with_constructor(buckets as fn() -> Histogram);
    registry.register_with_unit(name, help, Unit::Seconds, family.clone());
    family
}

/// Sizes from 64 KiB to 1 GiB.
fn sizes(registry: &mut Registry, name: &str, help: &str) -> Family<Called, Histogram> {
    let buckets = || Histogram::new(exponential_buckets(65_536.0, 4.0, 8));
    let family = Family::new_with_constructor(buckets as fn() -> Histogram);
    registry.register_with_unit(name, help, Unit::Bytes, family.clone());
    family
}

impl Metrics {
    /// All metrics, in the Prometheus text format. `remotes` are all remotes.
    pub(crate) fn encode(&self, remotes: &BTreeMap<String, RemoteState>) -> String {
        let mut now = Registry::with_prefix("servlet");
        let up: Family<RemoteLabel, Gauge> = registered(
            &mut now,
            "remote_up",
            "Whether a remote can be reached: 1, or 0",
        );
        let hidden: Family<RemoteLabel, Gauge> = registered(
            &mut now,
            "remote_hidden_entries",
            "Entries of a remote that are hidden, because the lock does not have them",
        );
        for (remote, state) in remotes {
            let remote = remote.clone();
            let label = RemoteLabel { remote };
            up.get_or_create(&label)
                .set(i64::from(state.outage.is_none()));
            let count = i64::try_from(state.hidden).unwrap_or(i64::MAX);
            hidden.get_or_create(&label).set(count);
        }
        let mut text = String::new();
        let encoded = encode_registry(&mut text, &self.registry)
            .and_then(|()| encode_registry(&mut text, &now))
            .and_then(|()| encode_eof(&mut text));
        if let Err(error) = encoded {
            text.clear();
            let _ = writeln!(text, "# {error}");
        }
        text
    }

    /// Counts a session of this endpoint until the returned guard is dropped.
    pub(crate) fn session(&self, endpoint: Option<&str>) -> OneOf {
        let endpoint = endpoint.map(str::to_owned);
        let sessions = self
            .sessions
            .get_or_create_owned(&EndpointLabel { endpoint });
        OneOf::of(sessions)
    }

    /// Counts a reload, and whether the new version is served. Returns the name of the outcome.
    pub(super) fn reloaded(&self, outcome: ReloadOutcome) -> &'static str {
        let outcome = match outcome {
            ReloadOutcome::Ok => OK,
            ReloadOutcome::Partial => "partial",
            ReloadOutcome::Failed => "failed",
        };
        self.reloads.get_or_create(&ReloadLabel { outcome }).inc();
        outcome
    }

    /// Counts a request that has to wait because of a quota.
    pub(crate) fn quota_refused(&self) {
        let what = "quota";
        self.refused.get_or_create(&RefusedLabel { what }).inc();
    }

    /// Counts a request other than `tools/call`, and logs its failure.
    pub(crate) fn request<T>(
        &self,
        method: &'static str,
        result: &Result<T, CallError>,
        took: Duration,
    ) {
        let outcome = match result {
            Ok(_) => OK,
            Err(error) => error.kind.name(),
        };
        self.answered(RequestLabel { method, outcome }, took);
        if let Err(error) = result {
            log_failure(error, Some(method));
        }
    }

    /// As [`request`](Self::request), for one that took longer than its endpoint allows.
    pub(crate) fn request_timed_out(&self, method: &'static str, limit: Duration, took: Duration) {
        let outcome = CallErrorKind::Timeout { limit }.name();
        self.answered(RequestLabel { method, outcome }, took);
        tracing::warn!(
            method,
            ?limit,
            "a request took longer than its endpoint allows"
        );
    }

    fn answered(&self, answered: RequestLabel, took: Duration) {
        let method = answered.method;
        self.requests.get_or_create_owned(&answered).inc();
        let seconds = self
            .request_seconds
            .get_or_create_owned(&MethodLabel { method });
        seconds.observe(took.as_secs_f64());
    }

    /// The series of a tool.
    fn series(&self, servlet: &str, tool: &str) -> Arc<Series> {
        let known = read_lock(&self.series);
        if let Some(series) = known.get(servlet).and_then(|tools| tools.get(tool)) {
            return Arc::clone(series);
        }
        drop(known);
        let labels = Called {
            servlet: servlet.to_owned(),
            tool: tool.to_owned(),
        };
        let mut known = write_lock(&self.series);
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

#[cfg(test)]
mod tests;
