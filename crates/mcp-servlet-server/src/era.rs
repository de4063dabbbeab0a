//! Which of MCP's two eras a request belongs to.

use rmcp::{RoleServer, model::ProtocolVersion, service::RequestContext};

/// The eras differ in lifecycle and wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Sessions that `initialize` opens: up to 2025-11-25.
    Legacy,
    /// Requests that stand alone: since 2026-07-28.
    Modern,
}

impl Era {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        // Revisions are dates, which compare as text.
        let modern = ProtocolVersion::V_2026_07_28;
        match context.protocol_version() {
            Some(version) if version.as_str() >= modern.as_str() => Self::Modern,
            _ => Self::Legacy,
        }
    }
}
