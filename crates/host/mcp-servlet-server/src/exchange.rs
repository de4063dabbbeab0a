//! A session on one stream of messages: over stdio or HTTP+SSE.

use std::collections::HashMap;

use rmcp::{
    RoleServer,
    model::{
        ClientNotification, ClientRequest, GetMeta as _, JsonRpcMessage, ProtocolVersion, RequestId,
    },
    service::TxJsonRpcMessage,
};
use serde_json::json;

use crate::{
    message::{Incoming, Refusal},
    own_id::{Number, client_id},
};

/// The requests of a session, and what rmcp needs to be protected from: messages before the session has begun, and ids that are
/// used twice.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    /// Whether the request that decides the client's era has arrived. Before it does, rmcp ends the session on anything but a
    /// request.
    has_begun: bool,
    /// The requests that have no response yet: the client's id and that with which rmcp knows it.
    in_flight: HashMap<RequestId, RequestId>,
}

impl Exchange {
    /// The message, if rmcp may get it. The others can be ignored.
    ///
    /// # Errors
    /// Another request with this id has no response yet. The client could not tell their responses apart.
    pub(crate) fn admit(&mut self, mut message: Incoming) -> Result<Option<Incoming>, Refusal> {
        self.has_begun = self.has_begun || opens(&message);
        match &mut message {
            JsonRpcMessage::Request(request) => {
                let id = request.id.clone();
                if self.in_flight.contains_key(&id) {
                    let refusal = Refusal::invalid(
                        "another request with this `id` is running; give each request its own",
                    );
                    return Err(refusal.with_id(Some(json!(id))));
                }
                // The notifications of a subscription contain its id.
                let is_subscription = matches!(
                    request.request,
                    ClientRequest::SubscriptionsListenRequest(_)
                );
                if !is_subscription {
                    request.id = Number::next().own_id(&id);
                }
                self.in_flight.insert(id, request.id.clone());
            }
            _ if !self.has_begun => {
                tracing::debug!("message ignored, because the session has not begun");
                return Ok(None);
            }
            JsonRpcMessage::Notification(notification) => {
                // rmcp sends no response to a request that was cancelled.
                if let ClientNotification::CancelledNotification(cancelled) =
                    &mut notification.notification
                    && let Some(id) = &mut cancelled.params.request_id
                    && let Some(own) = self.in_flight.remove(id)
                {
                    *id = own;
                }
            }
            _ => {}
        }
        Ok(Some(message))
    }

    /// Notes that a message was sent. Returns the client's id of the request that it answers.
    pub(crate) fn sent(&mut self, message: &TxJsonRpcMessage<RoleServer>) -> Option<RequestId> {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let id = client_id(id?);
        self.in_flight.remove(&id);
        Some(id)
    }
}

/// Whether this request decides the client's era in rmcp.
fn opens(message: &Incoming) -> bool {
    let JsonRpcMessage::Request(request) = message else {
        return false;
    };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let version = meta.protocol_version();
            let is_known =
                version.is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
            let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
            is_known && missing.is_empty()
        }
    }
}
