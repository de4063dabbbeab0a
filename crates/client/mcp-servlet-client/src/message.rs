//! What a message of this client is.

use reqwest::header::HeaderMap;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId};

/// The headers of one request, in its extensions.
#[derive(Clone, Debug)]
pub(crate) struct Headers(pub(crate) HeaderMap);

/// The headers of a message that the caller has added to it.
pub(crate) fn own_headers(message: &ClientJsonRpcMessage) -> Option<&HeaderMap> {
    let ClientJsonRpcMessage::Request(request) = message else {
        return None;
    };
    let ClientRequest::CustomRequest(request) = &request.request else {
        return None;
    };
    let Headers(headers) = request.extensions.get()?;
    Some(headers)
}

/// The id of a request.
pub(crate) fn request_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) => Some(&request.id),
        _ => None,
    }
}

/// The id of a response as the request had it: a number. Some servers send it back as a string.
pub(crate) fn as_sent(id: RequestId) -> RequestId {
    let number: Option<i64> = match &id {
        RequestId::String(text) => text.parse().ok(),
        RequestId::Number(_) => None,
    };
    number.map_or(id, RequestId::Number)
}

/// The id of a request that asks which protocol versions the server has.
pub(crate) fn probe_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::DiscoverRequest(_)) =>
        {
            Some(&request.id)
        }
        _ => None,
    }
}

/// The id of the request that `notifications/cancelled` cancels.
pub(crate) fn cancelled_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match notification(message)? {
        ClientNotification::CancelledNotification(cancelled) => {
            cancelled.params.request_id.as_ref()
        }
        _ => None,
    }
}

/// Whether this is `notifications/initialized`, the end of the handshake.
pub(crate) fn is_initialized(message: &ClientJsonRpcMessage) -> bool {
    matches!(
        notification(message),
        Some(ClientNotification::InitializedNotification(_))
    )
}

fn notification(message: &ClientJsonRpcMessage) -> Option<&ClientNotification> {
    match message {
        ClientJsonRpcMessage::Notification(notification) => Some(&notification.notification),
        _ => None,
    }
}
