//! The protocol era of a request.

use rmcp::{RoleServer, model::ProtocolVersion, service::RequestContext};

/// The two eras differ in lifecycle and wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Up to 2025-11-25: `initialize` opens a session.
    Legacy,
    /// Since 2026-07-28: requests are stateless.
    Modern,
}

impl Era {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        // Protocol versions are dates, so they compare as strings.
        let modern = ProtocolVersion::V_2026_07_28;
        match context.protocol_version() {
            Some(version) if version.as_str() >= modern.as_str() => Self::Modern,
            _ => Self::Legacy,
        }
    }
}
