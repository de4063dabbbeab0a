//! Connections of single sessions of clients, for servers that keep state for each of their clients, and of single callers, for servers
//! that get something about the caller in a header.
//!
//! See `docs/decisions/0081-sessions-begin-with-a-question.md`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use mcp_servlet_call::{ClientSession, Nursery, RemoteFailure};
use mcp_servlet_common::lock;
use tokio::time::sleep;

use crate::options::{Retries, Sessions};
use crate::shared::{Shared, stopped};
use crate::supervised::Supervised;

/// The connections of sessions, by the ids of the sessions. None after they were closed.
type BySession = Option<HashMap<String, Arc<Supervised>>>;

/// How many callers have connections. A further one takes the place of the caller who has not sent a request for the longest time.
const MAX_CALLERS: usize = 100;

/// The connection of a caller.
#[derive(Debug)]
struct OfCaller {
    connection: Arc<Supervised>,
    used: Instant,
}

/// The connections of sessions and of callers.
#[derive(Debug)]
pub(crate) struct Connections {
    sessions: Arc<Mutex<BySession>>,
    /// The connections of callers, by their keys. None after they were closed.
    callers: Mutex<Option<HashMap<String, OfCaller>>>,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            sessions: Arc::new(Mutex::new(Some(HashMap::new()))),
            callers: Mutex::new(Some(HashMap::new())),
        }
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
        let mut all = lock(&self.sessions);
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

    /// The connection of a caller, or a new one. `main` is the connection of requests without a caller.
    pub(crate) fn connection_of_caller(
        &self,
        key: &str,
        main: &Shared,
    ) -> Result<Arc<Supervised>, RemoteFailure> {
        let mut all = lock(&self.callers);
        let callers = all.as_mut().ok_or_else(stopped)?;
        if let Some(own) = callers.get_mut(key) {
            own.used = Instant::now();
            return Ok(Arc::clone(&own.connection));
        }
        if callers.len() >= MAX_CALLERS
            && let Some(key) = longest_unused(callers)
            && let Some(OfCaller { connection, .. }) = callers.remove(&key)
        {
            let drain = main.options.drain;
            main.waits.spawn(async move {
                // Its requests may still run.
                sleep(drain).await;
                connection.close().await;
            });
        }
        let connection = Arc::new(Supervised::start(main.for_session()));
        let own = OfCaller {
            connection: Arc::clone(&connection),
            used: Instant::now(),
        };
        callers.insert(key.to_owned(), own);
        Ok(connection)
    }

    /// Closes the connection of a session when the session ends.
    fn close_when_session_ends(&self, session: ClientSession, waits: &Nursery) {
        let connections = Arc::downgrade(&self.sessions);
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
        let sessions = lock(&self.sessions).take().into_iter().flatten();
        let callers = lock(&self.callers).take().into_iter().flatten();
        let of_sessions = sessions.map(|(_, connection)| connection);
        of_sessions
            .chain(callers.map(|(_, own)| own.connection))
            .collect()
    }
}

fn longest_unused(callers: &HashMap<String, OfCaller>) -> Option<String> {
    let (key, _) = callers.iter().min_by_key(|(_, own)| own.used)?;
    Some(key.clone())
}

impl Shared {
    /// The state for the connection of one session or one caller. The connection is opened again only when a request needs it.
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
