//! What a message of this client is.

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, RequestId};

/// The id of a request.
pub(crate) fn request_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) => Some(&request.id),
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
