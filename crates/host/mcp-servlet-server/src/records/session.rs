//! Sessions in the audit log.

use axum::http::Extensions;
use mcp_servlet_access::audit::{CallerFields, Event, Fields};

use crate::{
    access::caller,
    http::peer_text,
    server::{Server, metrics::session_digest},
};

/// Writes that a session was opened, and that it has ended when this is dropped.
pub(crate) struct SessionRecord {
    server: Server,
    fields: Fields,
}

impl SessionRecord {
    /// `opening` are the extensions of the HTTP request that opens it. None if there is no audit log.
    pub(crate) fn open(server: &Server, id: &str, opening: Option<&Extensions>) -> Option<Self> {
        server.records()?.audit()?;
        let caller = opening.and_then(caller);
        let fields = Fields {
            endpoint: server.name().map(str::to_owned),
            peer: opening.and_then(peer_text),
            caller: caller.map(|caller| CallerFields::of(&caller)),
            session: Some(session_digest(id)),
            ..Fields::default()
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
