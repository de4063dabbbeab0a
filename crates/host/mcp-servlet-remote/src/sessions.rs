//! Connections of single sessions of clients, for servers that keep state for each of their clients.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_servlet_runtime::{ClientSession, RemoteFailure};

use crate::options::{Retries, Sessions};
use crate::shared::Shared;
use crate::supervised::Supervised;

/// The connections of sessions, by the ids of the sessions.
#[derive(Debug, Default)]
pub(crate) struct Connections(Arc<Mutex<HashMap<String, Arc<Supervised>>>>);

impl Connections {
    /// The connection of a session, or a new one. `main` is the connection of requests without a session.
    pub(crate) fn of(
        &self,
        session: &ClientSession,
        most: usize,
        main: &Shared,
    ) -> Result<Arc<Supervised>, RemoteFailure> {
        let mut connections = lock(&self.0);
        if let Some(connection) = connections.get(session.id()) {
            return Ok(Arc::clone(connection));
        }
        if connections.len() >= most {
            let why = format!("the most sessions, {most}, have connections to it");
            return Err(RemoteFailure::Unreachable { why });
        }
        let connection = Arc::new(Supervised::start(main.for_session()));
        connections.insert(session.id().to_owned(), Arc::clone(&connection));
        drop(connections);
        self.end_with(session.clone());
        Ok(connection)
    }

    /// Closes the connection of a session when the session ends.
    fn end_with(&self, session: ClientSession) {
        let connections = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            session.ended().await;
            let connections = connections.upgrade();
            let connection = connections.and_then(|all| lock(&all).remove(session.id()));
            if let Some(connection) = connection {
                connection.close().await;
            }
        });
    }

    /// Takes all connections out.
    pub(crate) fn take(&self) -> Vec<Arc<Supervised>> {
        lock(&self.0).drain().map(|(_, one)| one).collect()
    }
}

impl Shared {
    /// The state for the connection of one session. The connection is opened again only when a request needs it.
    pub(crate) fn for_session(&self) -> Self {
        let mut options = self.options.clone();
        options.sessions = Sessions::Shared;
        options.retries = Retries {
            most: None,
            ..options.retries
        };
        let mut shared = Self::new(self.name.clone(), self.target.clone(), options);
        shared.is_of_session = true;
        shared
    }
}

fn lock(
    connections: &Mutex<HashMap<String, Arc<Supervised>>>,
) -> MutexGuard<'_, HashMap<String, Arc<Supervised>>> {
    connections.lock().unwrap_or_else(PoisonError::into_inner)
}
