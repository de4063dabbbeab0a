//! Connections of single sessions of clients, for servers that keep state for each of their clients.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use mcp_servlet_common::lock;
use mcp_servlet_runtime::{ClientSession, Nursery, RemoteFailure};

use crate::options::{Retries, Sessions};
use crate::shared::{Shared, stopped};
use crate::supervised::Supervised;

/// The connections of sessions, by the ids of the sessions. None after they were closed.
type BySession = Option<HashMap<String, Arc<Supervised>>>;

/// The connections of sessions.
#[derive(Debug)]
pub(crate) struct Connections(Arc<Mutex<BySession>>);

impl Default for Connections {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Some(HashMap::new()))))
    }
}

impl Connections {
    /// The connection of a session, or a new one. `main` is the connection of requests without a session.
    pub(crate) fn connection_for(
        &self,
        session: &ClientSession,
        most: usize,
        main: &Shared,
    ) -> Result<Arc<Supervised>, RemoteFailure> {
        let mut all = lock(&self.0);
        let connections = all.as_mut().ok_or_else(stopped)?;
        if let Some(connection) = connections.get(session.id()) {
            return Ok(Arc::clone(connection));
        }
        if connections.len() >= most {
            let why = format!("`most_sessions` is {most}, and that many sessions already use it");
            return Err(RemoteFailure::Unreachable { why });
        }
        let connection = Arc::new(Supervised::start(main.for_session()));
        connections.insert(session.id().to_owned(), Arc::clone(&connection));
        drop(all);
        self.close_when_session_ends(session.clone(), &main.waits);
        Ok(connection)
    }

    /// Closes the connection of a session when the session ends.
    fn close_when_session_ends(&self, session: ClientSession, waits: &Nursery) {
        let connections = Arc::downgrade(&self.0);
        waits.spawn(async move {
            session.ended().await;
            let connections = connections.upgrade();
            let connection = connections.and_then(|all| lock(&all).as_mut()?.remove(session.id()));
            if let Some(connection) = connection {
                connection.close().await;
            }
        });
    }

    /// Takes all connections out, to close them. There are no new ones after that.
    pub(crate) fn take(&self) -> Vec<Arc<Supervised>> {
        let all = lock(&self.0).take();
        all.into_iter().flatten().map(|(_, one)| one).collect()
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
        let mut shared = Self::new(
            self.name.clone(),
            self.target.clone(),
            options,
            self.keepers.clone(),
        );
        shared.waits = self.waits.clone();
        shared.is_of_session = true;
        shared
    }
}
