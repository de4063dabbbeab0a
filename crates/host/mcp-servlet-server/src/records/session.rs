//! Sessions in the audit log.

use axum::http::Extensions;
use mcp_servlet_access::audit::{Event, Fields};

use crate::server::{Server, metrics::session_digest};

/// Writes that a session was opened, and that it has ended when this is dropped.
pub(crate) struct SessionRecord {
    server: Server,
    fields: Fields,
}

impl SessionRecord {
    /// `opening` are the extensions of the HTTP request that opens it. None if there is no audit log.
    pub(crate) fn open(server: &Server, id: &str, opening: Option<&Extensions>) -> Option<Self> {
        Self::begin(server, id, opening, "opened")
    }

    /// The same for a session that another process has opened. `request` are the extensions of the request that brings it here.
    pub(crate) fn resume(server: &Server, id: &str, request: Option<&Extensions>) -> Option<Self> {
        Self::begin(server, id, request, "resumed")
    }

    fn begin(
        server: &Server,
        id: &str,
        request: Option<&Extensions>,
        outcome: &'static str,
    ) -> Option<Self> {
        server.records()?.audit()?;
        let fields = Fields {
            session: Some(session_digest(id)),
            ..server.fields_of(request)
        };
        let record = Self {
            server: server.clone(),
            fields,
        };
        record.note(outcome);
        Some(record)
    }

    fn note(&self, outcome: &'static str) {
        self.server.note(Event::Session, || Fields {
            outcome: Some(outcome),
            ..self.fields.clone()
        });
    }
}

impl Drop for SessionRecord {
    fn drop(&mut self) {
        self.note("ended");
    }
}
