//! Finds out who sends a request before anything else reads it.

use std::{sync::Arc, time::SystemTime};

use axum::{
    Json,
    body::Body,
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::StreamExt as _;
use mcp_servlet_access::{
    Caller, Certificate, Gate, Head, Reason, Refusal,
    audit::{CallerFields, Event, Fields, shortened},
};
use mcp_servlet_call::RpcError;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Endpoint,
    new_session::RefusalDetail,
    peer::{Peer, Refused},
};
use crate::message::Message;

/// Response extension: the tool whose scopes the caller lacks.
#[derive(Clone)]
struct DeniedTool(String);

/// Request extension: when the caller was found out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GateTime {
    pub(crate) start: SystemTime,
    pub(crate) end: SystemTime,
}

/// How long a stream of events may stay open.
pub(super) struct Admitted {
    /// Cancelled when others may call the endpoint.
    pub(super) end: CancellationToken,
    /// When its caller needs another token.
    pub(super) until: Option<SystemTime>,
}

impl Endpoint {
    /// Notes the caller of a request in its extensions, and removes the credentials. If there is none, returns what the client
    /// gets instead.
    pub(super) async fn admit(
        &self,
        gate: Arc<Gate>,
        request: &mut Request,
    ) -> Result<Arc<Caller>, Response> {
        let head = Head {
            headers: request.headers(),
            query: request.uri().query(),
            certificate: request.extensions().get::<Arc<Certificate>>(),
        };
        let start = SystemTime::now();
        match gate.admit(head).await {
            Ok(caller) => {
                let end = SystemTime::now();
                request.extensions_mut().insert(GateTime { start, end });
                gate.strip(request.headers_mut());
                request.extensions_mut().insert(Arc::clone(&caller));
                request.extensions_mut().insert(gate);
                Ok(caller)
            }
            Err(refusal) => Err(refused(&refusal, None)),
        }
    }

    /// Counts and logs why a request was refused, which its client does not learn.
    pub(super) fn note(
        &self,
        response: &Response,
        peer: Option<Peer>,
        caller: Option<Arc<Caller>>,
    ) {
        let Some(reason) = response.extensions().get::<Reason>().copied() else {
            return;
        };
        let endpoint = self.server.name();
        let detail = response.extensions().get::<RefusalDetail>();
        let detail = detail.map(|RefusalDetail(detail)| detail.clone());
        let address = peer.and_then(Peer::address).map(tracing::field::display);
        tracing::debug!(
            reason = reason.name(),
            endpoint,
            address,
            detail,
            "caller refused"
        );
        if let Some(peer) = peer {
            self.refusals
                .add_with(Refused::Caller(reason), peer, detail);
        }
        let tool = response.extensions().get::<DeniedTool>();
        let event = if tool.is_some() {
            Event::Denied
        } else {
            Event::Refused
        };
        self.server.note(event, || Fields {
            endpoint: endpoint.map(str::to_owned),
            peer: peer
                .and_then(Peer::address)
                .map(|address| address.to_string()),
            caller: caller.map(|caller| CallerFields::of(&caller)),
            method: tool.map(|_| "tools/call"),
            name: tool.map(|DeniedTool(name)| shortened(name)),
            decision: tool.map(|_| "deny"),
            reason: Some(reason.name().to_owned()),
            status: Some(response.status().as_u16()),
            ..Fields::default()
        });
    }

    /// Whether the metadata say that clients call the endpoint at this path.
    pub(super) fn is_called_at(&self, path: &str) -> bool {
        let gate = self.server.0.access.gate().gate;
        gate.is_some_and(|gate| gate.is_called_at(path))
    }

    /// The metadata of the endpoint as a protected resource.
    pub(super) fn metadata(&self) -> Option<Response> {
        let metadata = self.server.0.access.gate().gate?.metadata()?;
        let headers = [(header::CACHE_CONTROL, "max-age=300")];
        Some((headers, Json(metadata)).into_response())
    }
}

impl Admitted {
    /// Ends a stream of events in time. A client then opens the next one with another token.
    pub(super) fn limit(self, response: Response) -> Response {
        let Self { end, until } = self;
        let ended = async move {
            let until = until.map(|until| {
                let left = until.duration_since(SystemTime::now());
                tokio::time::sleep(left.unwrap_or_default())
            });
            match until {
                Some(until) => tokio::select! {
                    () = until => {}
                    () = end.cancelled() => {}
                },
                None => end.cancelled().await,
            }
        };
        response.map(|body| {
            let events = body.into_data_stream();
            Body::from_stream(events.take_until(Box::pin(ended)))
        })
    }
}

/// The response to a call of a tool whose scopes the caller lacks.
pub(super) fn denied(refusal: &Refusal, message: &Message) -> Response {
    let mut response = refused(refusal, message.id());
    let tool = message.tool().map(DeniedTool);
    tool.map(|tool| response.extensions_mut().insert(tool));
    response
}

/// The response to a request whose caller is not accepted. Without an id, nothing has read its body.
pub(super) fn refused(refusal: &Refusal, id: Option<Value>) -> Response {
    let mut response = error_response(refusal.status, refusal.message, id);
    response.extensions_mut().insert(refusal.reason);
    if let Some(detail) = &refusal.detail {
        let detail = RefusalDetail(detail.clone());
        response.extensions_mut().insert(detail);
    }
    if let Some(seconds) = refusal.retry_after {
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    let challenge = refusal.challenge.as_ref();
    if let Some(challenge) = challenge.and_then(|text| HeaderValue::try_from(text).ok()) {
        let headers = response.headers_mut();
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// A response with an error of JSON-RPC.
pub(super) fn error_response(status: StatusCode, message: &str, id: Option<Value>) -> Response {
    let code = match status {
        StatusCode::FORBIDDEN => "FORBIDDEN",
        StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
        StatusCode::SERVICE_UNAVAILABLE => "UNAVAILABLE",
        _ => "INVALID_REQUEST",
    };
    // Later, the same request may be answered.
    let number = match status {
        StatusCode::SERVICE_UNAVAILABLE => RpcError::BUSY,
        _ => RpcError::INVALID_REQUEST,
    };
    let error = RpcError::new(number, message).with_data(json!({ "code": code }));
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": error });
    (status, Json(body)).into_response()
}
