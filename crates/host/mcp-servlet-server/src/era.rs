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
        match context.protocol_version() {
            Some(version) => Self::of_version(version.as_str()),
            None => Self::Legacy,
        }
    }

    pub(crate) fn of_version(version: &str) -> Self {
        // Protocol versions are dates, so they compare as strings.
        if version >= ProtocolVersion::V_2026_07_28.as_str() {
            Self::Modern
        } else {
            Self::Legacy
        }
    }
}
