//! The beginning of a session, for transports that rmcp does not have.

use rmcp::model::{ClientRequest, GetMeta as _, JsonRpcMessage, ProtocolVersion};

use crate::message::Incoming;

/// Whether the request that decides the client's era has arrived. Before it does, rmcp ends the
/// session on anything but a request.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    is_over: bool,
}

impl Opening {
    /// Whether rmcp may get the message. The others can be ignored.
    pub(crate) fn admits(&mut self, message: &Incoming) -> bool {
        self.is_over = self.is_over || opens(message);
        let admits = self.is_over || matches!(message, JsonRpcMessage::Request(_));
        if !admits {
            tracing::debug!("message ignored, because the session has not begun");
        }
        admits
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
