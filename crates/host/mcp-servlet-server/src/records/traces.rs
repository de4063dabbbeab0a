//! Spans of requests, for a collector.
//!
//! They use the API of OpenTelemetry and not the spans of `tracing`: those are for the log, have other fields, and depend on its level.
//! See `docs/decisions/0079-spans-of-requests.md`.

use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use mcp_servlet_access::{Secret, Trust, audit::shortened};
use mcp_servlet_call::{CallMaker, CallTarget, INPUT_REQUIRED, InnerCall, JsonObject, Nursery};
use mcp_servlet_http::TrustError;
use opentelemetry::{
    Context, KeyValue,
    propagation::TextMapPropagator as _,
    trace::{Link, SpanKind, Status, TraceContextExt as _, Tracer as _, TracerProvider as _},
};
use opentelemetry_otlp::{ExporterBuildError, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    propagation::TraceContextPropagator,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider},
};
use url::Url;

use super::collector::Collector;
use crate::server::metrics::OK;

/// The names of the semantic conventions for MCP, which are still in development:
/// <https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/>.
pub(super) mod names {
    pub(crate) const METHOD: &str = "mcp.method.name";
    pub(crate) const PROTOCOL: &str = "mcp.protocol.version";
    pub(crate) const SESSION: &str = "mcp.session.id";
    pub(crate) const RESOURCE: &str = "mcp.resource.uri";
    pub(crate) const REQUEST: &str = "jsonrpc.request.id";
    pub(crate) const TOOL: &str = "gen_ai.tool.name";
    pub(crate) const OPERATION: &str = "gen_ai.operation.name";
    pub(crate) const EXECUTE_TOOL: &str = "execute_tool";
    pub(crate) const PROMPT: &str = "gen_ai.prompt.name";
    pub(crate) const TRANSPORT: &str = "network.transport";
    pub(crate) const ERROR: &str = "error.type";
    pub(crate) const CODE: &str = "rpc.response.status_code";
    /// Our own: what an inner call calls, and what makes it.
    pub(crate) const MEMBER: &str = "mcp_servlet.member";
    pub(crate) const STEP: &str = "mcp_servlet.step";
    pub(crate) const INDEX: &str = "mcp_servlet.index";
    pub(crate) const VIA: &str = "mcp_servlet.via";
}

/// The header, and the member of `_meta`, that names the parent of a span.
const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";
/// How long `tracestate` may be.
const MAX_TRACESTATE: usize = 512;

/// How many spans wait for the collector at most. Further ones are dropped.
const MAX_WAITING: usize = 2048;
/// How many spans a request to the collector has at most.
const MAX_AT_ONCE: usize = 512;
/// How long spans wait for others.
const DELAY: Duration = Duration::from_secs(5);
/// How long the process waits at its end for the collector.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Where spans go, and which ones.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceOptions {
    /// The URL of the collector, without `/v1/traces`.
    pub collector: Url,
    /// Headers of requests to it.
    pub headers: Vec<(String, Secret)>,
    /// Certificate authorities that are trusted for it, in addition to those of the operator.
    pub ca: Option<PathBuf>,
    /// The share of the traces that begin here which is recorded, from 0 to 1.
    pub sample: f64,
    /// What happens to the trace of the client.
    pub trust: TraceTrust,
    /// The name of this service.
    pub service: String,
}

/// What happens to the trace that a client names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceTrust {
    /// It goes on here, and is recorded if the client records it.
    #[default]
    Parent,
    /// A new trace begins, with a link to it.
    New,
}

/// Why spans cannot be sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum TracesError {
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error(transparent)]
    Build(#[from] ExporterBuildError),
}

/// Makes spans.
pub(crate) struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    trust: TraceTrust,
}

/// A span that has not ended, and its place in a trace.
pub(crate) struct OpenSpan(Context);

impl Traces {
    /// Requests to the collector run in the nursery.
    pub(super) fn start(options: &TraceOptions, nursery: Nursery) -> Result<Self, TracesError> {
        let trust = Trust::of_operator(options.ca.as_deref())?;
        let path = options.collector.as_str().trim_end_matches('/');
        let headers = options
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.0.clone()));
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new(trust, nursery))
            .with_endpoint(format!("{path}/v1/traces"))
            .with_headers(headers.collect())
            .build()?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(MAX_WAITING)
            .with_max_export_batch_size(MAX_AT_ONCE)
            .with_scheduled_delay(DELAY);
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches.build());
        let resource = Resource::builder_empty()
            .with_service_name(options.service.clone())
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let sampler = Sampler::TraceIdRatioBased(options.sample);
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor.build())
            .with_sampler(Sampler::ParentBased(Box::new(sampler)))
            .with_resource(resource.build())
            .build();
        Ok(Self {
            tracer: provider.tracer("mcp-servlet"),
            provider,
            trust: options.trust,
        })
    }

    /// Begins the span of a request, now or at an earlier time. `meta` names its parent, or else `header`: one connection carries many requests.
    pub(super) fn begin(
        &self,
        (name, start): (String, Option<SystemTime>),
        attributes: Vec<KeyValue>,
        (meta, header): (&JsonObject, impl Fn(&'static str) -> Option<String>),
    ) -> OpenSpan {
        let of_client = extract(meta, header);
        let mut builder = self.tracer.span_builder(name);
        builder.start_time = start;
        let builder = builder
            .with_kind(SpanKind::Server)
            .with_attributes(attributes);
        let span_of_client = of_client.span().span_context().clone();
        let (builder, parent) = match self.trust {
            TraceTrust::Parent => (builder, of_client),
            TraceTrust::New if span_of_client.is_valid() => {
                let link = Link::with_context(span_of_client);
                (builder.with_links(vec![link]), Context::new())
            }
            TraceTrust::New => (builder, Context::new()),
        };
        let span = builder.start_with_context(&self.tracer, &parent);
        OpenSpan(parent.with_span(span))
    }

    /// Begins a part of a request, now or at an earlier time.
    pub(super) fn part(
        &self,
        of: &OpenSpan,
        name: String,
        (kind, start): (SpanKind, Option<SystemTime>),
        attributes: Vec<KeyValue>,
    ) -> OpenSpan {
        let mut builder = self.tracer.span_builder(name);
        builder = builder.with_kind(kind).with_attributes(attributes);
        builder.start_time = start;
        let span = builder.start_with_context(&self.tracer, &of.0);
        OpenSpan(of.0.with_span(span))
    }

    /// Begins the span of an inner call. `meta` names the span of what makes the call, and gets this one instead.
    pub(super) fn inner(&self, call: InnerCall<'_>, meta: &mut JsonObject) -> OpenSpan {
        let of = OpenSpan(extract(meta, |_| None));
        let member = call.member;
        let mut attributes = vec![KeyValue::new(names::MEMBER, shortened(member))];
        let name = match call.target {
            CallTarget::Tool(tool) => {
                attributes.extend([
                    KeyValue::new(names::METHOD, "tools/call"),
                    KeyValue::new(names::TOOL, shortened(tool)),
                    KeyValue::new(names::OPERATION, names::EXECUTE_TOOL),
                ]);
                format!("tools/call {}", shortened(&format!("{member}:{tool}")))
            }
            CallTarget::Resource(uri) => {
                attributes.extend([
                    KeyValue::new(names::METHOD, "resources/read"),
                    KeyValue::new(names::RESOURCE, shortened(uri)),
                ]);
                "resources/read".to_owned()
            }
        };
        match call.maker {
            CallMaker::Step { name, index, .. } => {
                attributes.push(KeyValue::new(names::STEP, name.to_owned()));
                let index = index.map(|index| KeyValue::new(names::INDEX, index.to_string()));
                attributes.extend(index);
            }
            CallMaker::Servlet(servlet) => {
                attributes.push(KeyValue::new(names::VIA, servlet.to_owned()));
            }
        }
        let span = self.part(&of, name, (SpanKind::Internal, None), attributes);
        span.inject(meta);
        span
    }

    /// Sends the spans that wait.
    pub(super) async fn close(&self) {
        let provider = self.provider.clone();
        let closing = move || provider.shutdown_with_timeout(CLOSE_TIMEOUT);
        // The SDK waits on the thread that asks for it.
        match tokio::task::spawn_blocking(closing).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the last spans were not sent"),
            Err(error) => tracing::warn!(%error, "the last spans were not sent"),
        }
    }
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traces").finish_non_exhaustive()
    }
}

/// The span that `meta` names, or else `header`.
fn extract(meta: &JsonObject, header: impl Fn(&'static str) -> Option<String>) -> Context {
    let in_meta = |key: &str| meta.get(key)?.as_str().map(str::to_owned);
    let (parent, state) = match in_meta(TRACEPARENT) {
        Some(parent) => (Some(parent), in_meta(TRACESTATE)),
        None => (header(TRACEPARENT), header(TRACESTATE)),
    };
    let state = state.filter(|state| state.len() <= MAX_TRACESTATE);
    let parent = parent.map(|parent| (TRACEPARENT.to_owned(), parent));
    let state = state.map(|state| (TRACESTATE.to_owned(), state));
    let carrier: HashMap<_, _> = parent.into_iter().chain(state).collect();
    TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier)
}

impl OpenSpan {
    /// The id of its trace. None if it is not recorded.
    pub(super) fn trace(&self) -> Option<String> {
        let span = self.0.span();
        let context = span.span_context();
        context.is_sampled().then(|| context.trace_id().to_string())
    }

    /// Names the span as the parent of what gets this `_meta`.
    pub(super) fn inject(&self, meta: &mut JsonObject) {
        let mut carrier = HashMap::new();
        TraceContextPropagator::new().inject_context(&self.0, &mut carrier);
        meta.shift_remove(TRACESTATE);
        for (key, value) in carrier {
            if !value.is_empty() {
                meta.insert(key, value.into());
            }
        }
    }

    pub(super) fn set(&self, name: &'static str, value: String) {
        self.0.span().set_attribute(KeyValue::new(name, value));
    }

    /// Ends the span now, with the outcome of the metrics.
    pub(super) fn end(&self, outcome: &'static str) {
        self.end_at(outcome, SystemTime::now());
    }

    pub(super) fn end_at(&self, outcome: &'static str, time: SystemTime) {
        let span = self.0.span();
        if ![OK, INPUT_REQUIRED].contains(&outcome) {
            span.set_attribute(KeyValue::new(names::ERROR, outcome));
            span.set_status(Status::error(""));
        }
        span.end_with_timestamp(time);
    }
}
