//! Sessions that other processes know.
//!
//! With [`SessionStorage::Sealed`], the id of a session is its handshake, sealed for its owner. A process that gets an id which it does
//! not know opens it, and goes on with the session as if it had opened it. With [`SessionStorage::Store`], the sealed handshake is in the
//! store instead. docs/decisions/0082-shared-sessions.md has the reasons.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use mcp_servlet_access::Owner;
use mcp_servlet_common::lock;
use rmcp::model::{Implementation, InitializeRequestParams};
use serde::Deserialize;

use super::{IDLE_CHECKS_PER_LIMIT, SessionId, Sessions, Use};
use crate::{
    http::SessionStorage,
    server::{
        metrics::session_digest,
        seal::{Purpose, Request},
    },
    store::Away,
};

/// How the ids of sealed sessions begin.
const PREFIX: &str = "s1.";
/// The longest id of a sealed session. Some servers in between allow 8 KiB for a header.
const MAX_ID: usize = 1024;
/// What is kept of a client's name and version if the id would be longer, in characters.
const MAX_NAME: usize = 64;
/// The kind of keys in a store.
const KIND: &str = "session";
/// How many sessions are known that clients have ended.
const MAX_ENDED: usize = 10_000;

/// Sealed sessions that clients have ended at this process. Their ids would still be valid.
#[derive(Default)]
pub(super) struct Ended(Mutex<EndedIds>);

/// The digests of their ids.
#[derive(Default)]
struct EndedIds {
    all: HashSet<String>,
    oldest_first: VecDeque<String>,
}

impl Ended {
    fn add(&self, id: &str) {
        let EndedIds { all, oldest_first } = &mut *lock(&self.0);
        let digest = session_digest(id);
        if !all.insert(digest.clone()) {
            return;
        }
        oldest_first.push_back(digest);
        if oldest_first.len() > MAX_ENDED
            && let Some(oldest) = oldest_first.pop_front()
        {
            all.remove(&oldest);
        }
    }

    fn has(&self, id: &str) -> bool {
        lock(&self.0).all.contains(&session_digest(id))
    }
}

/// The names and capabilities of a client do not fit in an id.
pub(in crate::http) struct TooLong;

impl Sessions {
    /// The id of a session that a message opens, if the id contains the handshake. For a store, only checks how long that is.
    ///
    /// # Errors
    /// [`TooLong`] for a client that has too much to say.
    pub(in crate::http) fn sealed_id(
        &self,
        message: &[u8],
        owner: Option<Owner>,
    ) -> Result<Option<SessionId>, TooLong> {
        let life = match self.storage {
            SessionStorage::Sealed { life } => life,
            SessionStorage::Store(_) => Duration::MAX,
            SessionStorage::Memory | SessionStorage::None => return Ok(None),
        };
        // rmcp refuses what cannot be read.
        let Some(params) = handshake_in(message) else {
            return Ok(None);
        };
        let sealed = self.sealed(params, &bound_to("", owner), life)?;
        let is_id = matches!(self.storage, SessionStorage::Sealed { .. });
        Ok(is_id.then(|| format!("{PREFIX}{sealed}").into()))
    }

    /// A handshake that is sealed, without what a client can do without if it would be too long.
    fn sealed(
        &self,
        params: InitializeRequestParams,
        bound: &Request<'_>,
        life: Duration,
    ) -> Result<String, TooLong> {
        let fits = |sealed: &String| PREFIX.len() + sealed.len() <= MAX_ID;
        let sealed = Some(self.seal(&params, bound, life)).filter(fits);
        let shorter = || Some(self.seal(&shortened(params), bound, life)).filter(fits);
        sealed.or_else(shorter).ok_or(TooLong)
    }

    /// Puts a session that a message has opened into the store, if there is one.
    pub(in crate::http) async fn publish(
        &self,
        id: &str,
        message: &[u8],
        owner: Option<Owner>,
    ) -> Result<(), Away> {
        let (Some(store), Some(params)) = (&self.store, handshake_in(message)) else {
            return Ok(());
        };
        // The store forgets it in time. The id was checked before, so that the handshake fits.
        let Ok(sealed) = self.sealed(params, &bound_to(id, owner), Duration::MAX) else {
            return Err(Away);
        };
        let key = store.key(KIND, id);
        store.add(&key, &sealed, self.stored_for()).await.map(drop)
    }

    fn seal(
        &self,
        params: &InitializeRequestParams,
        bound: &Request<'_>,
        life: Duration,
    ) -> String {
        let text = serde_json::to_string(params).expect("it was JSON");
        self.server.0.seal.close_for(life, &text, bound)
    }

    /// The handshake of a session that another process has opened for this owner. None if there is no such session.
    pub(super) async fn handshake(
        &self,
        id: &str,
        owner: Option<Owner>,
    ) -> Result<Option<Arc<InitializeRequestParams>>, Away> {
        let text = match (&self.storage, &self.store) {
            (SessionStorage::Sealed { .. }, _) if !self.ended.has(id) => self.unsealed(id, owner),
            (_, Some(store)) => {
                let sealed = store.get(&store.key(KIND, id)).await?;
                sealed.and_then(|sealed| self.server.0.seal.read(&sealed, &bound_to(id, owner)))
            }
            _ => None,
        };
        Ok(text.and_then(|text| serde_json::from_str(&text).ok().map(Arc::new)))
    }

    /// The handshake in the id of a sealed session. None if it is not one of this owner, or if its life has ended.
    pub(super) fn unsealed(&self, id: &str, owner: Option<Owner>) -> Option<String> {
        let sealed = id.strip_prefix(PREFIX)?;
        self.server.0.seal.read(sealed, &bound_to("", owner))
    }

    /// Remembers that a client has ended a session.
    ///
    /// # Errors
    /// Other processes go on with it, because the store is away.
    pub(in crate::http) async fn forget(&self, id: &str) -> Result<(), Away> {
        match (&self.storage, &self.store) {
            (SessionStorage::Sealed { .. }, _) => self.ended.add(id),
            (_, Some(store)) => store.remove(&store.key(KIND, id)).await?,
            _ => {}
        }
        Ok(())
    }

    /// How long the store remembers a session: longer than the process that uses it, which tells the store only now and then.
    fn stored_for(&self) -> Duration {
        self.idle + self.idle / 4
    }

    /// Lets the store know that a session is used, now and then.
    pub(super) fn keep(&self, id: &str, used: &Use) {
        if self.store.is_none() {
            return;
        }
        let mut open = used.open();
        if open.kept.elapsed() < self.idle / IDLE_CHECKS_PER_LIMIT {
            return;
        }
        open.kept = Instant::now();
        drop(open);
        self.keep_now(id);
    }

    /// Lets the store know that a session is used.
    pub(super) fn keep_now(&self, id: &str) {
        let Some(store) = &self.store else {
            return;
        };
        let (store, time, key) = (Arc::clone(store), self.stored_for(), store.key(KIND, id));
        let keep = async move { store.keep(&key, time).await };
        self.server.0.process.nursery.spawn(keep);
    }
}

/// Binds a session to its owner and, in a store, to its id.
fn bound_to(id: &str, owner: Option<Owner>) -> Request<'_> {
    Request {
        purpose: if id.is_empty() {
            Purpose::Session
        } else {
            Purpose::StoredSession
        },
        name: id,
        arguments: None,
        owner,
        once: false,
    }
}

/// What a message that opens a session says about its client.
fn handshake_in(message: &[u8]) -> Option<InitializeRequestParams> {
    #[derive(Deserialize)]
    struct Opening {
        params: InitializeRequestParams,
    }
    let Opening { mut params } = serde_json::from_slice(message).ok()?;
    params.meta = None;
    Some(params)
}

/// A client without what it can do without.
fn shortened(params: InitializeRequestParams) -> InitializeRequestParams {
    let start = |text: &str| text.chars().take(MAX_NAME).collect::<String>();
    let info = &params.client_info;
    let info = Implementation::new(start(&info.name), start(&info.version));
    let mut capabilities = params.capabilities;
    capabilities.experimental = None;
    capabilities.extensions = None;
    InitializeRequestParams::new(capabilities, info).with_protocol_version(params.protocol_version)
}
