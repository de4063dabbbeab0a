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
        server.records()?.audit()?;
        let fields = Fields {
            session: Some(session_digest(id)),
            ..server.fields_of(opening)
        };
        let record = Self {
            server: server.clone(),
            fields,
        };
        record.note("opened");
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
