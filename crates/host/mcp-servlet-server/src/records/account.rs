//! What is known about one request: its quota, its line in the audit log and its span.
//!
//! A request can be cancelled, or become a task and end after its response. So its line is written when the account is dropped.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::http::request::Parts;
use mcp_servlet_access::{
    audit::{Event, Fields, shortened},
    quota::{Exceeded, Permit, Spent},
};
use mcp_servlet_call::{
    CallMaker, CallTarget, INPUT_REQUIRED, InnerCall, JsonObject, RequestMeta, RpcError, Usage,
    asks_client,
};
use mcp_servlet_common::lock;
use mcp_servlet_host::{Host, Member};
use opentelemetry::{KeyValue, trace::SpanKind};
use rmcp::{RoleServer, service::RequestContext};
use serde_json::json;

use super::{
    Records,
    audit_log::Reserved,
    traces::{OpenSpan, names},
};
use crate::{
    access::owner_of,
    http::{GateTime, Held},
    own_id::client_id,
    server::{
        Server,
        metrics::{OK, session_digest},
        task_results::json_size,
    },
};

/// A request to a servlet or a remote.
pub(crate) struct Asked<'a> {
    pub(crate) event: Event,
    pub(crate) method: &'static str,
    /// The name of the tool or prompt, or the URI.
    pub(crate) name: &'a str,
    /// The tool of a search through which the client calls.
    pub(crate) via: Option<&'static str>,
    pub(crate) arguments: Option<&'a JsonObject>,
    /// The id of the session.
    pub(crate) session: Option<&'a str>,
}

/// The account of a request. Empty if nothing is configured that needs it.
#[derive(Default)]
pub(crate) struct Account(Option<Box<Open>>);

struct Open {
    records: Option<Records>,
    permit: Option<Permit>,
    reserved: Option<Reserved>,
    span: Option<OpenSpan>,
    event: Event,
    fields: Fields,
    start: Instant,
    notes: Arc<Notes>,
}

/// The work of a request so far.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    noted: Mutex<Noted>,
    outer: Option<Outer>,
}

/// The parts of a request that also stand in the records of its inner calls.
#[derive(Debug)]
struct Outer {
    records: Records,
    /// The fields of their lines in the audit log.
    fields: Fields,
}

#[derive(Debug, Default)]
struct Noted {
    /// The decision of the rules or scopes, if there was one.
    decision: Option<&'static str>,
    rule: Option<String>,
    reason: Option<&'static str>,
    outcome: Option<&'static str>,
    /// The code of the error that the client gets.
    code: Option<i32>,
    steps: u64,
    fuel: Option<u64>,
    output: u64,
}

/// How many inner calls of a request have spans. A virtual tool can make thousands.
const MAX_INNER_SPANS: u64 = 100;

impl Account {
    /// Takes a request from the quotas, reserves its line in the audit log, and begins its span.
    ///
    /// # Errors
    /// A quota is used up, or the audit log cannot be written.
    pub(crate) fn begin(
        server: &Server,
        context: &RequestContext<RoleServer>,
        host: &Host,
        asked: &Asked<'_>,
    ) -> Result<Self, RpcError> {
        let records = server.records();
        let quotas = server.0.access.quotas();
        if records.is_none() && quotas.is_empty() {
            return Ok(Self::default());
        }
        let parts = context.extensions.get::<Parts>();
        let held = parts.and_then(|parts| parts.extensions.get::<Held>()?.take());
        let fields = || fields(server, context, asked);
        let audit = records.and_then(Records::audit);
        let reserved = match audit {
            None => None,
            Some(log) => match log.reserve() {
                Ok(reserved) => reserved,
                Err(_) => return Err(cannot_write()),
            },
        };
        let permit = if let Some(permit) = held {
            permit
        } else {
            let tool = (asked.event == Event::Call).then_some(asked.name);
            let begun = quotas.begin(owner_of(context), tool, Instant::now());
            begun.map_err(|exceeded| {
                note_exceeded(server, fields(), &exceeded, None);
                exceeded_error(&exceeded)
            })?
        };
        let measures = reserved.is_some() || !quotas.is_empty();
        let mut fields = audit.map(|_| fields()).unwrap_or_default();
        fields.input = measures.then(|| asked.arguments.map_or(0, json_size));
        let span = records.and_then(|records| begin_span(records, context, asked));
        fields.trace = span.as_ref().and_then(OpenSpan::trace);
        let outer = records.map(|records| Outer {
            records: records.clone(),
            fields: outer_fields(&fields),
        });
        if reserved.is_some() {
            let policy = audit.map(|log| &log.options.arguments);
            fields.arguments = policy.and_then(|policy| policy.show(asked.arguments?));
            fields.member = owner_name(host, asked);
        }
        Ok(Self(Some(Box::new(Open {
            records: records.cloned(),
            permit: Some(permit),
            reserved,
            span,
            event: asked.event,
            fields,
            start: Instant::now(),
            notes: Arc::new(Notes {
                outer,
                ..Notes::default()
            }),
        }))))
    }

    /// Notes of what others do for the request. None if nothing is recorded.
    pub(crate) fn notes(&self) -> Option<Arc<Notes>> {
        let open = self.0.as_ref()?;
        Some(Arc::clone(&open.notes))
    }

    /// Makes the span of the request the parent of what gets this `_meta`. If that is a remote, its request has a span of its own,
    /// which ends when the returned guard is dropped.
    pub(crate) fn trace(
        &self,
        request_meta: &mut RequestMeta,
        remote: Option<(&str, &str)>,
    ) -> Option<RemoteSpan> {
        let open = self.0.as_ref()?;
        let meta = request_meta.meta.get_or_insert_default();
        let span = open.span.as_ref()?;
        let Some((method, name)) = remote else {
            span.inject(meta);
            return None;
        };
        let traces = open.records.as_ref()?.traces()?;
        let attributes = vec![KeyValue::new(names::METHOD, method.to_owned())];
        let part = traces.part(
            span,
            format!("{method} {name}"),
            (SpanKind::Client, None),
            attributes,
        );
        part.inject(meta);
        Some(RemoteSpan(part, Arc::clone(&open.notes)))
    }

    /// Notes that the request begins to run.
    pub(crate) fn runs(&self) {
        if let Some(open) = &self.0 {
            let mut noted = lock(&open.notes.noted);
            noted.outcome = Some("cancelled");
            noted.code = None;
        }
    }

    /// Notes the error that the client gets.
    pub(crate) fn failed(&self, error: &RpcError) {
        if let Some(open) = &self.0 {
            lock(&open.notes.noted).code = Some(error.code);
        }
    }

    /// Notes how a run has ended. A request can run several times, if it asks the client.
    pub(crate) fn ran(&self, outcome: &'static str, usage: Option<&Usage>) {
        if let Some(open) = &self.0 {
            lock(&open.notes.noted).outcome = Some(outcome);
            open.notes.add_fuel(usage);
        }
    }

    /// Notes the result, and returns it.
    pub(crate) fn answered(&self, result: JsonObject) -> JsonObject {
        if let Some(open) = &self.0
            && open.fields.input.is_some()
        {
            let mut noted = lock(&open.notes.noted);
            noted.output += json_size(&result);
            if asks_client(&result) {
                // If the client does not answer, this is the outcome.
                noted.outcome = Some(INPUT_REQUIRED);
            }
        }
        result
    }

    /// Notes that the scopes of the caller do not allow the request.
    pub(crate) fn lacks_scope(&self) {
        if let Some(open) = &self.0 {
            open.notes.denied(None, "scope");
        }
    }
}

/// A request to a remote.
pub(crate) struct RemoteSpan(OpenSpan, Arc<Notes>);

impl Drop for RemoteSpan {
    fn drop(&mut self) {
        let outcome = lock(&self.1.noted).outcome;
        self.0.end(outcome.unwrap_or("cancelled"));
    }
}

/// What is recorded of an inner call.
pub(crate) struct InnerRecord {
    span: Option<OpenSpan>,
    /// Its line in the audit log.
    line: Option<(Records, Fields)>,
}

/// What the lines of inner calls have of the line of the request.
fn outer_fields(of: &Fields) -> Fields {
    Fields {
        endpoint: of.endpoint.clone(),
        peer: of.peer.clone(),
        caller: of.caller.clone(),
        session: of.session.clone(),
        outer: of.name.clone(),
        trace: of.trace.clone(),
        ..Fields::default()
    }
}

/// The line of an inner call, which has the caller of the request.
fn inner_fields(call: InnerCall<'_>, outer: &Fields) -> Fields {
    let (method, name) = match call.target {
        CallTarget::Tool(name) => ("tools/call", name),
        CallTarget::Resource(uri) => ("resources/read", uri),
    };
    let (step, index, via) = match call.maker {
        CallMaker::Step { name, index, .. } => (Some(name.to_owned()), index, None),
        CallMaker::Servlet(servlet) => (None, None, Some(servlet.to_owned())),
    };
    Fields {
        method: Some(method),
        name: Some(shortened(name)),
        member: Some(shortened(call.member)),
        step,
        index,
        via,
        ..outer.clone()
    }
}

impl Notes {
    /// Notes that a rule, or the lack of one, denies the request.
    pub(crate) fn denied(&self, rule: Option<&str>, reason: &'static str) {
        let mut noted = lock(&self.noted);
        noted.decision = Some("deny");
        noted.rule = rule.map(str::to_owned);
        noted.reason = Some(reason);
    }

    /// Notes that the rules allow the request.
    pub(crate) fn allowed(&self, rule: Option<&str>) {
        let mut noted = lock(&self.noted);
        noted.decision = Some("allow");
        noted.rule = rule.map(str::to_owned);
        noted.reason = None;
    }

    /// Notes that a call begins which is made for the request, and begins its span.
    pub(crate) fn begin_inner(&self, call: InnerCall<'_>, meta: &mut JsonObject) -> InnerRecord {
        let count = {
            let mut noted = lock(&self.noted);
            noted.steps += 1;
            noted.steps
        };
        let outer = self.outer.as_ref();
        let recorded = outer.filter(|_| count <= MAX_INNER_SPANS);
        let traces = recorded.and_then(|outer| outer.records.traces());
        let span = traces.map(|traces| traces.inner(call, meta));
        let audit = outer.filter(|outer| outer.records.audit().is_some());
        InnerRecord {
            span,
            line: audit.map(|outer| (outer.records.clone(), inner_fields(call, &outer.fields))),
        }
    }

    /// Notes how such a call has ended.
    pub(crate) fn end_inner(
        &self,
        InnerRecord { span, line }: InnerRecord,
        outcome: &'static str,
        time: Duration,
        usage: Option<&Usage>,
    ) {
        self.add_fuel(usage);
        if let Some(span) = span {
            span.end(outcome);
        }
        if let Some((records, mut fields)) = line {
            fields.outcome = Some(outcome);
            fields.ms = Some(milliseconds(time));
            fields.fuel = usage.and_then(|usage| usage.fuel);
            records.note(Event::Inner, fields);
        }
    }

    fn add_fuel(&self, usage: Option<&Usage>) {
        if let Some(fuel) = usage.and_then(|usage| usage.fuel) {
            let mut noted = lock(&self.noted);
            noted.fuel = Some(noted.fuel.unwrap_or(0) + fuel);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let noted = std::mem::take(&mut *lock(&self.notes.noted));
        let outcome = noted.outcome.unwrap_or("invalid");
        if let Some(permit) = self.permit.take() {
            let spent = Spent {
                bytes: self.fields.input.unwrap_or(0) + noted.output,
                fuel: noted.fuel.unwrap_or(0),
            };
            permit.charge(spent, Instant::now());
        }
        if let Some(span) = &self.span {
            if let Some(code) = noted.code {
                span.set(names::CODE, code.to_string());
            }
            span.end(outcome);
        }
        let is_denied = noted.decision == Some("deny");
        let event = if is_denied { Event::Denied } else { self.event };
        let fields = Fields {
            steps: noted.steps,
            decision: noted.decision,
            rule: noted.rule,
            reason: noted.reason.map(str::to_owned),
            outcome: Some(outcome),
            ms: Some(milliseconds(self.start.elapsed())),
            output: Some(noted.output),
            fuel: noted.fuel,
            ..std::mem::take(&mut self.fields)
        };
        match self.reserved.take() {
            Some(reserved) => reserved.write(event, fields),
            None => {
                if let Some(log) = self.records.as_ref().and_then(Records::audit) {
                    log.lose();
                }
            }
        }
    }
}

/// Milliseconds with three digits after the point.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Writes a request for a list to the audit log, if that has lists.
pub(crate) fn note_list(
    server: &Server,
    context: &RequestContext<RoleServer>,
    (method, session): (&'static str, Option<&str>),
) {
    let Some(log) = server.records().and_then(Records::audit) else {
        return;
    };
    if log.options.lists {
        let asked = Asked {
            event: Event::List,
            method,
            name: "",
            via: None,
            arguments: None,
            session,
        };
        let mut fields = fields(server, context, &asked);
        fields.name = None;
        log.write(Event::List, fields);
    }
}

/// What is known of a request before it runs.
fn fields(server: &Server, context: &RequestContext<RoleServer>, asked: &Asked<'_>) -> Fields {
    let parts = context.extensions.get::<Parts>();
    Fields {
        session: asked.session.map(session_digest),
        method: Some(asked.method),
        name: Some(shortened(asked.name)),
        via: asked.via.map(str::to_owned),
        ..server.fields_of(parts.map(|parts| &parts.extensions))
    }
}

fn owner_name(host: &Host, asked: &Asked<'_>) -> Option<String> {
    let name = asked.name;
    let member = match asked.event {
        Event::Call => {
            let member = host.member_of(name).map(Member::name);
            member.or_else(|| host.bundle_of(name))
        }
        Event::Prompt => host.member_of_prompt(name).map(Member::name),
        Event::Read => host
            .owners_of_resource(name)
            .first()
            .map(|member| member.name()),
        _ => None,
    };
    member.map(str::to_owned)
}

fn begin_span(
    records: &Records,
    context: &RequestContext<RoleServer>,
    asked: &Asked<'_>,
) -> Option<OpenSpan> {
    let traces = records.traces()?;
    let parts = context.extensions.get::<Parts>();
    let header = |name: &'static str| {
        let value = parts?.headers.get(name)?;
        value.to_str().ok().map(str::to_owned)
    };
    let id = client_id(&context.id).to_string();
    let transport = if parts.is_some() { "tcp" } else { "pipe" };
    let mut attributes = vec![
        KeyValue::new(names::METHOD, asked.method),
        KeyValue::new(names::REQUEST, shortened(&id)),
        KeyValue::new(names::TRANSPORT, transport),
    ];
    let session = asked.session.map(session_digest);
    attributes.extend(session.map(|session| KeyValue::new(names::SESSION, session)));
    let version = context
        .protocol_version()
        .map(|version| version.to_string());
    attributes.extend(version.map(|version| KeyValue::new(names::PROTOCOL, version)));
    let subject = shortened(asked.name);
    let mut name = asked.method.to_owned();
    match asked.event {
        Event::Call => {
            attributes.push(KeyValue::new(names::TOOL, subject.clone()));
            attributes.push(KeyValue::new(names::OPERATION, names::EXECUTE_TOOL));
            name = format!("{name} {subject}");
        }
        Event::Prompt => {
            attributes.push(KeyValue::new(names::PROMPT, subject.clone()));
            name = format!("{name} {subject}");
        }
        // URIs would give each span a name of its own.
        Event::Read => attributes.push(KeyValue::new(names::RESOURCE, subject)),
        _ => {}
    }
    let gate = parts.and_then(|parts| parts.extensions.get::<GateTime>());
    let start = gate.map(|gate| gate.start);
    let span = traces.begin((name, start), attributes, (&context.meta.0.0, header));
    if let Some(GateTime { start, end }) = gate {
        let times = (SpanKind::Internal, Some(*start));
        let part = traces.part(&span, "gate".to_owned(), times, Vec::new());
        part.end_at(OK, *end);
    }
    Some(span)
}

/// Notes a request that must wait. `status` is the status of the HTTP response, if the error is not in a response with status 200.
pub(crate) fn note_exceeded(
    server: &Server,
    mut fields: Fields,
    exceeded: &Exceeded,
    status: Option<u16>,
) {
    server.0.process.metrics.quota_refused();
    fields.reason = Some(exceeded.quota.clone());
    fields.status = status;
    server.note(Event::Quota, || fields);
}

/// The error for a quota that is used up.
pub(crate) fn exceeded_error(exceeded: &Exceeded) -> RpcError {
    let data = json!({
        "retry": true,
        "retry_after": exceeded.seconds(),
        "quota": exceeded.quota,
    });
    RpcError::new(RpcError::BUSY, exceeded.to_string()).with_data(data)
}

fn cannot_write() -> RpcError {
    let message =
        "the audit log cannot take another line, so this server takes no calls; try again later";
    RpcError::new(RpcError::BUSY, message).with_data(json!({ "retry": true }))
}
