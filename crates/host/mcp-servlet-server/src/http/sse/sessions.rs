//! Open sessions, and when they are idle.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use mcp_servlet_access::Owner;
use mcp_servlet_common::lock;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::super::{
    peer::{Peer, Refusals, Refused},
    sessions::IDLE_CHECKS_PER_LIMIT,
};
use crate::{message::Incoming, session_id::SessionId};

/// All sessions of an endpoint.
#[derive(Default)]
pub(super) struct SseSessions {
    open: Mutex<HashMap<SessionId, SseSession>>,
}

/// One session.
#[derive(Clone)]
pub(super) struct SseSession {
    queue: mpsc::Sender<Incoming>,
    used: Arc<Mutex<LastUse>>,
    end: CancellationToken,
    /// Who has opened it, if that is known.
    peer: Option<Peer>,
    /// To whom it belongs, if the endpoint knows its callers.
    owner: Option<Owner>,
}

/// When a session was used last.
struct LastUse {
    at: Instant,
    /// Whether the client has sent a request after it opened the session.
    has_requested: bool,
}

/// Keeps a session from being idle. Requests carry it until they are answered.
#[derive(Clone)]
pub(super) struct InUse {
    _use: Arc<Use>,
}

struct Use(Arc<Mutex<LastUse>>);

impl Drop for Use {
    fn drop(&mut self) {
        lock(&self.0).at = Instant::now();
    }
}

impl SseSession {
    pub(super) fn new(
        queue: mpsc::Sender<Incoming>,
        end: CancellationToken,
        (peer, owner): (Option<Peer>, Option<Owner>),
    ) -> Self {
        let used = LastUse {
            at: Instant::now(),
            has_requested: false,
        };
        Self {
            queue,
            used: Arc::new(Mutex::new(used)),
            end,
            peer,
            owner,
        }
    }

    /// Records that the client has sent a request.
    pub(super) fn requested(&self) {
        lock(&self.used).has_requested = true;
    }

    /// Marks the session as used until the last clone is dropped.
    pub(super) fn in_use(&self) -> InUse {
        let used = Use(Arc::clone(&self.used));
        InUse {
            _use: Arc::new(used),
        }
    }

    /// Ends the session.
    pub(super) fn end(&self) {
        self.end.cancel();
    }

    /// Hands a message to the session. False if it has ended.
    pub(super) async fn send(&self, message: Incoming) -> bool {
        let sent = self.end.run_until_cancelled(self.queue.send(message)).await;
        sent.is_some_and(|sent| sent.is_ok())
    }

    fn is_idle(&self, limit: Duration) -> bool {
        // Each use has a reference.
        Arc::strong_count(&self.used) == 1 && lock(&self.used).at.elapsed() >= limit
    }
}

impl SseSessions {
    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, SseSession>> {
        lock(&self.open)
    }

    /// Adds a session until the returned guard is dropped. If there are `most` already, the address with most sessions makes
    /// room: sessions that never sent a request go first, and older ones before others. None if that is the address of the
    /// new one.
    pub(super) fn add(
        self: &Arc<Self>,
        id: &SessionId,
        session: SseSession,
        most: usize,
        refusals: &Refusals,
    ) -> Option<Registered> {
        let mut open = self.open();
        if open.len() >= most {
            let peer = session.peer?;
            let Some(rival) = peer.rival(open.values().filter_map(|one| one.peer)) else {
                drop(open);
                refusals.add(Refused::Session, peer);
                return None;
            };
            let rivals = open.iter().filter(|(_, one)| one.peer == Some(rival));
            let (id, _) = rivals.min_by_key(|(_, one)| {
                let used = lock(&one.used);
                (used.has_requested, used.at)
            })?;
            let id = id.clone();
            open.remove(&id)?.end.cancel();
            refusals.add(Refused::Evicted, peer);
        }
        let end = session.end.clone();
        open.insert(id.clone(), session);
        Some(Registered {
            sessions: Arc::clone(self),
            id: id.clone(),
            end,
        })
    }

    /// A session of this owner.
    pub(super) fn find(&self, id: &str, owner: Option<Owner>) -> Option<SseSession> {
        let open = self.open();
        open.get(id).filter(|one| one.owner == owner).cloned()
    }

    /// Ends the sessions that were idle for `limit`. Never returns.
    pub(super) async fn end_idle(&self, limit: Option<Duration>) {
        let Some(limit) = limit else {
            return std::future::pending().await;
        };
        let every = (limit / IDLE_CHECKS_PER_LIMIT).max(Duration::from_millis(1));
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
    sessions: Arc<SseSessions>,
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
