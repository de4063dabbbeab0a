//! Open sessions, and when they are idle.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::super::peer::Peer;
use crate::{message::Incoming, session_id::SessionId};

/// Idle sessions are checked this many times per idle limit.
const LOOKS: u32 = 8;

/// All sessions of an endpoint.
#[derive(Default)]
pub(super) struct Sessions {
    open: Mutex<HashMap<SessionId, Session>>,
}

/// One session.
#[derive(Clone)]
pub(super) struct Session {
    queue: mpsc::Sender<Incoming>,
    used: Arc<Mutex<Instant>>,
    end: CancellationToken,
    /// Who has opened it, if that is known.
    peer: Option<Peer>,
}

/// Keeps a session from being idle. Requests carry it until they are answered.
#[derive(Clone)]
pub(super) struct InUse {
    _use: Arc<Use>,
}

struct Use(Arc<Mutex<Instant>>);

impl Drop for Use {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl Session {
    /// Marks the session as used until the last clone is dropped.
    pub(super) fn in_use(&self) -> InUse {
        let used = Use(Arc::clone(&self.used));
        InUse {
            _use: Arc::new(used),
        }
    }

    /// Hands a message to the session. False if it has ended.
    pub(super) async fn send(&self, message: Incoming) -> bool {
        let sent = self.end.run_until_cancelled(self.queue.send(message)).await;
        sent.is_some_and(|sent| sent.is_ok())
    }

    fn last_use(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_idle(&self, limit: Duration) -> bool {
        // Each use has a reference.
        Arc::strong_count(&self.used) == 1 && self.last_use().elapsed() >= limit
    }
}

impl Sessions {
    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a session until the returned guard is dropped. If there are `most` already, the address with most sessions makes
    /// room. None if that is the address of the new one.
    pub(super) fn add(
        self: &Arc<Self>,
        id: &SessionId,
        queue: mpsc::Sender<Incoming>,
        end: &CancellationToken,
        (peer, most): (Option<Peer>, usize),
    ) -> Option<Registered> {
        let mut open = self.open();
        if open.len() >= most {
            let rival = peer?.rival(open.values().filter_map(|one| one.peer))?;
            let rivals = open.iter().filter(|(_, one)| one.peer == Some(rival));
            let (id, _) = rivals.min_by_key(|(_, one)| one.last_use())?;
            let id = id.clone();
            open.remove(&id)?.end.cancel();
        }
        let session = Session {
            queue,
            used: Arc::new(Mutex::new(Instant::now())),
            end: end.clone(),
            peer,
        };
        open.insert(id.clone(), session);
        Some(Registered {
            sessions: Arc::clone(self),
            id: id.clone(),
            end: end.clone(),
        })
    }

    pub(super) fn find(&self, id: &str) -> Option<Session> {
        self.open().get(id).cloned()
    }

    /// Ends the sessions that were idle for `limit`. Never returns.
    pub(super) async fn end_idle(&self, limit: Option<Duration>) {
        let Some(limit) = limit else {
            return std::future::pending().await;
        };
        let every = (limit / LOOKS).max(Duration::from_millis(1));
        let mut looks = tokio::time::interval(every);
        loop {
            looks.tick().await;
            for session in self.open().values() {
                if session.is_idle(limit) {
                    session.end.cancel();
                }
            }
        }
    }
}

/// Removes a session when it is dropped.
pub(super) struct Registered {
    sessions: Arc<Sessions>,
    id: SessionId,
    end: CancellationToken,
}

impl Registered {
    /// Cancelled when the session must end.
    pub(super) fn end(&self) -> CancellationToken {
        self.end.clone()
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.sessions.open().remove(self.id.as_str());
    }
}
