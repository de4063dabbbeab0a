//! Sessions (up to 2025-11-25), and when they end.
//!
//! rmcp ends a session after a while without messages, even while a tool runs or a person reads an
//! elicitation. Here a session is in use as long as one of its requests runs or the client listens
//! on a stream.

mod handshake;
mod shared;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use axum::http::Extensions;
use mcp_servlet_access::Owner;
use mcp_servlet_common::lock;
use rmcp::{
    model::InitializeRequestParams,
    transport::streamable_http_server::session::{SessionId, SessionManager as _},
};
use tokio_util::sync::CancellationToken;

use super::{in_flight::InFlight, peer::Peer};
use crate::{
    access,
    http::SessionStorage,
    message::BATCHES,
    records::SessionRecord,
    server::{Server, metrics::OneOf},
    store::{Away, Store},
};
use handshake::Restored;
pub(super) use handshake::{Handshakes, Manager, Passed, Turn, in_turn, passing};
use shared::Ended;
pub(super) use shared::TooLong;

/// Idle sessions are checked this many times per idle limit.
pub(super) const IDLE_CHECKS_PER_LIMIT: u32 = 8;
/// How often ended sessions are removed, if there is no idle limit.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);

/// How long a store remembers a session, if there is no idle limit.
const LONGEST_IN_STORE: Duration = Duration::from_hours(24);

/// After this time without use, a session that nobody seems to have opened makes room for others.
const ABANDONED_AFTER: Duration = Duration::from_secs(5);

/// All sessions.
pub(super) struct Sessions {
    server: Server,
    manager: Arc<Manager>,
    storage: SessionStorage,
    store: Option<Arc<Store>>,
    /// How long a session in the store lasts without a request.
    idle: Duration,
    ended: Ended,
    uses: Mutex<HashMap<SessionId, Arc<Use>>>,
}

/// A session that a request names.
pub(super) enum Found {
    /// It is in this process, or does not exist.
    Here,
    /// Another process has opened it, with this handshake.
    Elsewhere(Arc<InitializeRequestParams>),
    /// There is none that the caller may use.
    Nowhere,
}

/// How a session is used.
struct Use {
    open: Mutex<Open>,
    in_flight: Arc<InFlight>,
    /// Whether its protocol version has batches.
    takes_batches: bool,
    /// Cancelled when the client ends the session.
    end: CancellationToken,
    /// Who has opened it, if that is known.
    peer: Option<Peer>,
    /// To whom it belongs, if the endpoint knows its callers.
    owner: Option<Owner>,
    /// None if this process has opened it.
    restored: Option<Restored>,
    _counted: OneOf,
    _recorded: Option<SessionRecord>,
}

/// The open requests and streams of a session.
struct Open {
    count: usize,
    /// When the last one began or ended.
    since: Instant,
    /// Whether the client has sent a request after it opened the session.
    has_requested: bool,
    /// When a store has learned last that the session is used.
    kept: Instant,
}

impl Use {
    fn new(
        (peer, owner): (Option<Peer>, Option<Owner>),
        takes_batches: bool,
        (counted, recorded): (OneOf, Option<SessionRecord>),
    ) -> Self {
        let open = Open {
            count: 0,
            since: Instant::now(),
            has_requested: false,
            kept: Instant::now(),
        };
        Self {
            open: Mutex::new(open),
            in_flight: Arc::default(),
            takes_batches,
            end: CancellationToken::new(),
            peer,
            owner,
            restored: None,
            _counted: counted,
            _recorded: recorded,
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        lock(&self.open)
    }

    /// Adds an open request or stream until the returned guard is dropped.
    fn begin(self: &Arc<Self>) -> InUse {
        let mut open = self.open();
        open.count += 1;
        open.since = Instant::now();
        drop(open);
        InUse(Arc::clone(self))
    }

    fn is_idle(&self, limit: Duration) -> bool {
        let open = self.open();
        open.count == 0 && open.since.elapsed() >= limit
    }
}

impl Sessions {
    pub(super) fn new(
        server: &Server,
        storage: &SessionStorage,
        idle: Option<Duration>,
    ) -> Arc<Self> {
        let mut manager = Manager::default();
        manager.0.session_config.keep_alive = None;
        let store = match storage {
            SessionStorage::Store(options) => Some(server.0.process.store(options)),
            _ => None,
        };
        if let Some(store) = &store {
            server.0.seal.share(store);
        }
        Arc::new(Self {
            server: server.clone(),
            manager: Arc::new(manager),
            storage: storage.clone(),
            store,
            idle: idle.unwrap_or(LONGEST_IN_STORE),
            ended: Ended::default(),
            uses: Mutex::default(),
        })
    }

    /// Counts a session in the metrics.
    fn counted(&self) -> OneOf {
        let metrics = &self.server.0.process.metrics;
        metrics.session(self.server.name())
    }

    fn uses(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Use>>> {
        lock(&self.uses)
    }

    pub(super) fn manager(&self) -> &Arc<Manager> {
        &self.manager
    }

    /// The number of sessions.
    pub(super) async fn count(&self) -> usize {
        self.manager.0.sessions.read().await.len()
    }

    /// Whether the session exists.
    pub(super) async fn has(&self, id: &str) -> bool {
        self.manager.0.sessions.read().await.contains_key(id)
    }

    /// Registers a new session, which is in use until the returned guard is dropped. `opening` are the extensions of the request that
    /// opens it.
    pub(super) fn open(&self, id: &str, opening: &Extensions, takes_batches: bool) -> InUse {
        let recorded = SessionRecord::open(&self.server, id, Some(opening));
        let used = Arc::new(self.new_use(opening, takes_batches, recorded));
        let in_use = used.begin();
        self.uses().insert(id.into(), used);
        in_use
    }

    /// Keeps a session in use that may not begin yet, until the returned guard is dropped. `opening` is as for [`open`](Self::open).
    pub(super) fn hold(&self, id: &str, opening: &Extensions) -> InUse {
        let used = Arc::new(self.new_use(opening, false, None));
        let in_use = used.begin();
        self.uses().insert(id.into(), used);
        in_use
    }

    /// Registers a session that another process has opened, as [`open`](Self::open) does. `request` are the extensions of the request
    /// that brings it here.
    pub(super) fn resume(
        &self,
        id: &str,
        request: &Extensions,
        handshake: &InitializeRequestParams,
    ) -> InUse {
        let mut known = self.uses();
        // Another request of the session may have been faster.
        let resumed = known.entry(id.into()).or_insert_with(|| {
            let recorded = SessionRecord::resume(&self.server, id, Some(request));
            let takes_batches = handshake.protocol_version.as_str() == BATCHES;
            let mut used = self.new_use(request, takes_batches, recorded);
            used.restored = Some(Arc::default());
            Arc::new(used)
        });
        resumed.begin()
    }

    /// `by` are the extensions of the client's request.
    fn new_use(
        &self,
        by: &Extensions,
        takes_batches: bool,
        recorded: Option<SessionRecord>,
    ) -> Use {
        let client = (by.get().copied(), access::owner(by));
        Use::new(client, takes_batches, (self.counted(), recorded))
    }

    /// Whether a session of another process is restored here. None for the other sessions.
    pub(super) fn restored(&self, id: &str) -> Option<Restored> {
        self.uses().get(id)?.restored.clone()
    }

    /// Looks for the session that a caller names.
    pub(super) async fn find(&self, id: &str, owner: Option<Owner>) -> Result<Found, Away> {
        let is_local = matches!(self.storage, SessionStorage::Memory | SessionStorage::None);
        let is_here = !self.is_foreign(id, owner) && (is_local || self.has(id).await);
        if is_here {
            // A sealed session ends after its life, although it is used.
            let is_sealed = matches!(self.storage, SessionStorage::Sealed { .. });
            if is_sealed && self.unsealed(id, owner).is_none() {
                return Ok(Found::Nowhere);
            }
            if let Some(used) = self.uses().get(id) {
                self.keep(id, used);
            }
            return Ok(Found::Here);
        }
        Ok(match self.handshake(id, owner).await? {
            Some(handshake) => {
                self.keep_now(id);
                Found::Elsewhere(handshake)
            }
            None => Found::Nowhere,
        })
    }

    /// Whether the session belongs to another caller. Where callers are authenticated, a session that is not listed counts as
    /// foreign: it is being closed, or does not exist.
    fn is_foreign(&self, id: &str, owner: Option<Owner>) -> bool {
        let uses = self.uses();
        let known = uses.get(id).map(|used| used.owner);
        known.unwrap_or_default() != owner
    }

    /// Marks a session as in use until the returned guard is dropped. None if there is no such session.
    pub(super) fn enter(&self, id: &str) -> Option<InUse> {
        self.uses().get(id).map(Use::begin)
    }

    /// Records that the client of a session has sent a request.
    pub(super) fn requested(&self, id: &str) {
        if let Some(used) = self.uses().get(id) {
            used.open().has_requested = true;
        }
    }

    /// Ends a session of the address that has most of them, if that is more than `peer` has. Sessions that are not in use go first,
    /// then those that never sent a request, then those that were used longest ago. Returns whether there was one.
    pub(super) async fn make_room(&self, peer: Peer) -> bool {
        self.update(&*self.manager.0.sessions.read().await);
        let Some((id, used)) = self.take_rival(peer) else {
            return false;
        };
        used.end.cancel();
        self.close_soon(&id).await;
        true
    }

    fn take_rival(&self, peer: Peer) -> Option<(SessionId, Arc<Use>)> {
        let mut uses = self.uses();
        let is_left = |used: &Use| used.peer.is_none() && used.is_idle(ABANDONED_AFTER);
        let rival = peer.rival(uses.values().filter_map(|used| used.peer));
        let rivals = uses
            .iter()
            .filter(|(_, used)| is_left(used) || rival.is_some() && used.peer == rival);
        let (id, _) = rivals.min_by_key(|(_, used)| {
            let open = used.open();
            (open.count > 0, open.has_requested, open.since)
        })?;
        let id = id.clone();
        uses.remove_entry(&id)
    }

    /// Stops the calls of a session that has ended.
    pub(super) fn end(&self, id: &str) {
        if let Some(used) = self.uses().remove(id) {
            used.end.cancel();
        }
    }

    /// Removes ended sessions, and ends those that were idle for `limit`. Never returns.
    pub(super) async fn end_idle(&self, limit: Option<Duration>) {
        let every = limit.map_or(SWEEP_INTERVAL, |limit| limit / IDLE_CHECKS_PER_LIMIT);
        let mut looks = tokio::time::interval(every.max(Duration::from_millis(1)));
        loop {
            looks.tick().await;
            for id in self.idle(limit).await {
                self.close_soon(&id).await;
            }
        }
    }

    /// Ends a session.
    pub(super) async fn close(&self, id: &str) {
        if let Err(error) = self.manager.close_session(&id.into()).await {
            tracing::debug!(%error, "cannot end a session");
        }
    }

    /// As [`close`](Self::close), without waiting for the worker of the session: its client may not read what it still gets.
    async fn close_soon(&self, id: &SessionId) {
        if let Some(removed) = self.manager.0.sessions.write().await.remove(id) {
            let nursery = &self.server.0.process.nursery;
            nursery.spawn(async move { removed.close().await });
        }
    }

    /// Removes ended sessions, and adds those whose client has disconnected while they opened, and never uses them.
    fn update<T>(&self, living: &HashMap<SessionId, T>) {
        let mut uses = self.uses();
        // A session of another process is in use before it lives here.
        uses.retain(|id, used| living.contains_key(id) || used.open().count > 0);
        for id in living.keys() {
            uses.entry(id.clone())
                .or_insert_with(|| Use::new((None, None), false, (self.counted(), None)).into());
        }
    }

    /// The sessions that were idle for `limit`. These and ended ones are removed here.
    async fn idle(&self, limit: Option<Duration>) -> Vec<SessionId> {
        let living = self.manager.0.sessions.read().await;
        let mut idle = Vec::new();
        self.update(&living);
        let mut uses = self.uses();
        uses.retain(|id, used| {
            if used.open().count > 0 {
                self.keep(id, used);
            }
            let is_idle = limit.is_some_and(|limit| used.is_idle(limit));
            if is_idle {
                // Calls of a client that has left its streams would go on.
                used.end.cancel();
                idle.push(id.clone());
            }
            !is_idle
        });
        drop(uses);
        idle
    }
}

/// Keeps a session in use until dropped.
pub(super) struct InUse(Arc<Use>);

impl InUse {
    /// Cancelled when the session ends.
    pub(super) fn end(&self) -> &CancellationToken {
        &self.0.end
    }

    /// The requests that run.
    pub(super) fn in_flight(&self) -> &Arc<InFlight> {
        &self.0.in_flight
    }

    /// Whether the protocol version of the session has batches.
    pub(super) fn takes_batches(&self) -> bool {
        self.0.takes_batches
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut open = self.0.open();
        open.count -= 1;
        open.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use axum::http::{HeaderMap, header::AUTHORIZATION};
    use mcp_servlet_access::{AuthOptions, Caller, Gate, Head, KeyOptions, Sha256};
    use mcp_servlet_host::Host;

    use super::*;
    use crate::server::{Process, ServeOptions, Startup};

    fn server() -> Server {
        let options = ServeOptions::default();
        let process = Process::start(&options.tasks);
        let host = Arc::new(Host::new(Vec::new()));
        Server::new(&process, host, options, Startup::done())
    }

    async fn owner(name: &str) -> Owner {
        caller(name).await.owner()
    }

    async fn caller(name: &str) -> Arc<Caller> {
        let key = KeyOptions {
            name: name.to_owned(),
            sha256: Sha256::of(name.as_bytes()),
            scopes: BTreeSet::new(),
            until: None,
            header: AUTHORIZATION,
        };
        let options = AuthOptions {
            keys: vec![key],
            ..AuthOptions::default()
        };
        let gate = Gate::new(options, None);
        let value = format!("Bearer {name}").parse().expect("a header");
        let head = Head {
            headers: &HeaderMap::from_iter([(AUTHORIZATION, value)]),
            query: None,
            certificate: None,
        };
        gate.admit(head).await.expect("a caller")
    }

    #[tokio::test]
    async fn ended_sessions_are_removed_without_idle_timeout() {
        let sessions = Sessions::new(&server(), &SessionStorage::Memory, None);
        let (living, _transport) = sessions
            .manager
            .0
            .create_session()
            .await
            .expect("a session");
        for id in [&living, "ended"] {
            drop(sessions.open(id, &Extensions::new(), false));
        }
        assert!(sessions.idle(None).await.is_empty());
        assert!(sessions.enter(&living).is_some());
        assert!(sessions.enter("ended").is_none());
        assert_eq!(sessions.idle(Some(Duration::ZERO)).await, [living]);
    }

    #[tokio::test]
    async fn a_session_that_is_being_closed_belongs_to_nobody_else() {
        let sessions = Sessions::new(&server(), &SessionStorage::Memory, None);
        let (closing, _transport) = sessions
            .manager
            .0
            .create_session()
            .await
            .expect("a session");
        let (ann, bob) = (owner("ann").await, owner("bob").await);
        let mut opening = Extensions::new();
        opening.insert(caller("ann").await);
        drop(sessions.open(&closing, &opening, false));
        assert!(!sessions.is_foreign(&closing, Some(ann)));
        assert!(sessions.is_foreign(&closing, Some(bob)));
        assert!(sessions.idle(Some(Duration::ZERO)).await.contains(&closing));
        assert!(sessions.has(&closing).await);
        assert!(sessions.is_foreign(&closing, Some(bob)));
    }

    #[tokio::test]
    async fn a_session_whose_client_left_while_it_opened_ends() {
        let sessions = Sessions::new(&server(), &SessionStorage::Memory, None);
        let (unused, _transport) = sessions
            .manager
            .0
            .create_session()
            .await
            .expect("a session");
        assert_eq!(sessions.idle(Some(Duration::ZERO)).await, [unused]);
    }
}
