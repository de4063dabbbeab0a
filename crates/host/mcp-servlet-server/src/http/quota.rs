//! Quotas over streamable HTTP. A request that has to wait gets its status before the response begins, so it is decided here. The handler
//! decides about all others.

use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

use axum::{
    Json,
    http::{Extensions, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use mcp_servlet_access::{
    audit::{Fields, shortened},
    quota::{Exceeded, Permit},
};
use mcp_servlet_common::lock;
use mcp_servlet_host::{CALL_READ_ONLY_TOOL, CALL_TOOL};
use serde_json::{Value, json};

use super::peer::Peer;
use crate::{
    access::owner,
    message::Message,
    records::{exceeded_error, note_exceeded},
    server::Server,
};

/// The requests that servlets and remotes answer.
const COUNTED: [&str; 4] = [
    "tools/call",
    "resources/read",
    "prompts/get",
    "completion/complete",
];

/// Request extension: the permit of a request, until its handler takes it.
#[derive(Clone)]
pub(crate) struct Held(Arc<Mutex<Option<Permit>>>);

impl Held {
    pub(crate) fn take(&self) -> Option<Permit> {
        lock(&self.0).take()
    }
}

/// The address of the client that sent a request.
pub(crate) fn peer_text(extensions: &Extensions) -> Option<String> {
    let peer: &Peer = extensions.get()?;
    peer.address().map(|address| address.to_string())
}

/// Takes a request from the quotas. If one of them is used up, returns what the client gets instead.
pub(super) fn hold(server: &Server, parts: &mut Parts, message: &Message) -> Option<Response> {
    let quotas = server.0.access.quotas();
    if quotas.is_empty() || !COUNTED.contains(&message.method()) || !message.is_request() {
        return None;
    }
    let tool = message.tool();
    let host = server.host();
    // The tool that a search calls is known when its arguments are read.
    let names_another = host.search().is_some()
        && [CALL_READ_ONLY_TOOL, CALL_TOOL].contains(&tool.as_deref().unwrap_or_default());
    if names_another {
        return None;
    }
    let owner = owner(&parts.extensions);
    match quotas.begin(owner, tool.as_deref(), Instant::now()) {
        Ok(permit) => {
            let held = Held(Arc::new(Mutex::new(Some(permit))));
            parts.extensions.insert(held);
            None
        }
        Err(exceeded) => {
            let status = StatusCode::TOO_MANY_REQUESTS;
            let fields = Fields {
                method: COUNTED.into_iter().find(|one| *one == message.method()),
                name: tool.as_deref().map(shortened),
                ..server.fields_of(Some(&parts.extensions))
            };
            note_exceeded(server, fields, &exceeded, Some(status.as_u16()));
            Some(refused(&exceeded, message.id()))
        }
    }
}

fn refused(exceeded: &Exceeded, id: Option<Value>) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": exceeded_error(exceeded) });
    let retry = [(header::RETRY_AFTER, exceeded.seconds().to_string())];
    (StatusCode::TOO_MANY_REQUESTS, retry, Json(body)).into_response()
}
