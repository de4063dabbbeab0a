//! What the requests of one session share.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_servlet_call::{ClientSession, InputTimeout, JsonObject, RequestMeta};
use mcp_servlet_common::lock;
use rmcp::{RoleServer, model::InitializeRequestParams, service::RequestContext};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    era::Era,
    handler::{
        attributes,
        input_rounds::Inputs,
        notifications::{Notifier, PROGRESS_TOKEN, TaskCell, Threshold},
    },
    own_id::{client_id, client_value},
    server::{ServeOptions, Server},
    session_id::SessionId,
};

/// Properties of the client that servlets find in `_meta`.
const PROPERTIES: [&str; 3] = [
    "io.modelcontextprotocol/protocolVersion",
    attributes::CLIENT_INFO,
    "io.modelcontextprotocol/clientCapabilities",
];

/// The values of these properties.
type Values = Arc<[Value; PROPERTIES.len()]>;

/// What the requests of one connection share or, since 2026-07-28 over HTTP, what belongs to one request.
#[derive(Debug)]
pub(super) struct Session {
    /// The id of the connection's session. None if requests name their sessions.
    id: Option<SessionId>,
    /// Cancelled when the handler is dropped, because the client has disconnected.
    pub(super) end: CancellationToken,
    pub(super) threshold: Threshold,
    client: Client,
}

impl Session {
    pub(super) fn new(id: Option<SessionId>, end: CancellationToken) -> Self {
        Self {
            id,
            end,
            threshold: Threshold::default(),
            client: Client::default(),
        }
    }

    /// The id of the session of a request, if it has one.
    pub(super) fn id<'c>(
        &'c self,
        context: &'c RequestContext<RoleServer>,
        era: Era,
    ) -> Option<&'c str> {
        match &self.id {
            Some(id) => Some(id.as_str()),
            None => attributes::session_header(context, era),
        }
    }

    /// Sends the notifications of a servlet while it answers a request.
    pub(super) fn notifier(
        &self,
        server: &Server,
        context: &RequestContext<RoleServer>,
        era: Era,
        task: TaskCell,
    ) -> Notifier {
        Notifier::new(server, context, era, &self.threshold, task)
    }

    /// The parts of a request that servlets receive in addition to its arguments. What clients up to
    /// 2025-11-25 send only in `initialize` is added to `_meta`, where later clients send it. So are the
    /// session and the forwarded headers.
    pub(super) fn request_meta(
        &self,
        context: &RequestContext<RoleServer>,
        era: Era,
        inputs: Inputs,
        notifier: Notifier,
        options: &ServeOptions,
    ) -> RequestMeta {
        let mut meta = context.meta.0.0.clone();
        if let Some(token) = meta.get_mut(PROGRESS_TOKEN) {
            *token = client_value(token);
        }
        attributes::set(&mut meta, context, era, self.id.as_ref(), options);
        self.client.add_to(&mut meta, context);
        let mut request_meta = RequestMeta::default();
        request_meta.id = Some(json!(client_id(&context.id)));
        let session = attributes::session(&meta);
        request_meta.session = session.map(|id| ClientSession::new(id, self.end.clone()));
        request_meta.meta = Some(meta);
        request_meta.input_responses = inputs.responses;
        request_meta.request_state = inputs.state;
        let limit = match era {
            // The server sends input requests while the request of the client is open. Each has its own limit, and all end with it.
            Era::Legacy => Duration::MAX,
            Era::Modern => options.question_time,
        };
        let input_timeout = InputTimeout::new(limit).end_with(inputs.open.end);
        request_meta.input_timeout = Some(input_timeout);
        request_meta.withdrawal = Some(inputs.open.withdrawal);
        request_meta.keeps_state = era == Era::Legacy;
        request_meta.listener = Some(Arc::new(notifier));
        request_meta.caller = Some(attributes::caller(context));
        request_meta
    }
}

/// What the client sent in `initialize`, and the properties in it.
#[derive(Debug, Default)]
struct Client(Mutex<Option<(Arc<InitializeRequestParams>, Values)>>);

impl Client {
    /// Adds the properties that the request does not have itself.
    fn add_to(&self, meta: &mut JsonObject, context: &RequestContext<RoleServer>) {
        let is_missing = |key: &str| !meta.contains_key(key);
        if !PROPERTIES.into_iter().any(is_missing) {
            return;
        }
        let Some(sent) = context.peer.peer_info() else {
            return;
        };
        for (key, value) in PROPERTIES.iter().zip(&*self.values(sent)) {
            if !meta.contains_key(*key) {
                meta.insert((*key).to_owned(), value.clone());
            }
        }
    }

    fn values(&self, sent: Arc<InitializeRequestParams>) -> Values {
        let mut known = lock(&self.0);
        match &*known {
            Some((before, values)) if Arc::ptr_eq(before, &sent) => Arc::clone(values),
            _ => {
                let (version, info) = (json!(sent.protocol_version), json!(sent.client_info));
                let values = Arc::new([version, info, json!(sent.capabilities)]);
                *known = Some((sent, Arc::clone(&values)));
                values
            }
        }
    }
}
