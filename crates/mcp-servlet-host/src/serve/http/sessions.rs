//! Sessions of the handshake era, and when they end for want of use.
//!
//! rmcp would end a session when nothing was said in it for a while, also while a tool works or somebody reads a question.
//! Here a session is in use for as long as a request is, or a stream on which the client listens.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rmcp::transport::streamable_http_server::session::{
    SessionId, SessionManager as _, local::LocalSessionManager,
};

/// How often is looked for sessions without use, as a part of the time after which they end.
const LOOKS: u32 = 8;

/// All sessions.
#[derive(Default)]
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    uses: Mutex<HashMap<SessionId, Use>>,
}

/// How a session is used.
struct Use {
    /// By so many requests and streams.
    open: usize,
    /// When that changed for the last time.
    since: Instant,
}

impl Sessions {
    pub(super) fn new() -> Arc<Self> {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = None;
        Arc::new(Self {
            manager: Arc::new(manager),
            uses: Mutex::default(),
        })
    }

    fn uses(&self) -> MutexGuard<'_, HashMap<SessionId, Use>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn manager(&self) -> &Arc<LocalSessionManager> {
        &self.manager
    }

    /// How many there are.
    pub(super) async fn count(&self) -> usize {
        self.manager.sessions.read().await.len()
    }

    /// A session was opened, and is in use until what this returns is dropped.
    pub(super) fn open(self: &Arc<Self>, id: &str) -> InUse {
        let used = Use {
            open: 1,
            since: Instant::now(),
        };
        self.uses().insert(id.into(), used);
        InUse {
            sessions: Arc::clone(self),
            id: id.into(),
        }
    }

    /// A session is in use until what this returns is dropped. None if there is no such session.
    pub(super) fn enter(self: &Arc<Self>, id: &str) -> Option<InUse> {
        let mut uses = self.uses();
        let id = Arc::clone(uses.get_key_value(id)?.0);
        uses.get_mut(&id)?.open += 1;
        drop(uses);
        Some(InUse {
            sessions: Arc::clone(self),
            id,
        })
    }

    /// Ends sessions that had no use for that long. Never returns.
    pub(super) async fn end_idle(&self, idle: Duration) {
        let mut looks = tokio::time::interval((idle / LOOKS).max(Duration::from_millis(1)));
        loop {
            looks.tick().await;
            for id in self.idle(idle).await {
                if let Err(error) = self.manager.close_session(&id).await {
                    tracing::debug!(%error, "a session did not end as it should");
                }
            }
        }
    }

    /// The sessions that had no use for that long. They, and those that ended otherwise, are forgotten here.
    async fn idle(&self, limit: Duration) -> Vec<SessionId> {
        let living = self.manager.sessions.read().await;
        let mut idle = Vec::new();
        self.uses().retain(|id, used| {
            let is_idle = used.open == 0 && used.since.elapsed() >= limit;
            let lives = living.contains_key(id);
            if is_idle && lives {
                idle.push(id.clone());
            }
            lives && !is_idle
        });
        idle
    }
}

/// Keeps a session, until dropped.
pub(super) struct InUse {
    sessions: Arc<Sessions>,
    id: SessionId,
}

impl Drop for InUse {
    fn drop(&mut self) {
        if let Some(used) = self.sessions.uses().get_mut(&self.id) {
            used.open -= 1;
            used.since = Instant::now();
        }
    }
}
