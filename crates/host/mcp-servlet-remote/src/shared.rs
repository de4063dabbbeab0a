//! What the requests to a server and the task that keeps it connected share.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use mcp_servlet_call::{Nursery, RemoteFailure};
use mcp_servlet_client::Target;
use mcp_servlet_common::lock;
use mcp_servlet_host::{RemoteLists, ResourceWatch};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::lists::ReadLists;
use crate::options::RemoteOptions;
use crate::parked::Parked;
use crate::state::Link;
use crate::watched::Watched;

/// What the task and the requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) origin: String,
    pub(crate) target: Target,
    pub(crate) options: RemoteOptions,
    /// Sent after each attempt to connect, even if nothing else has changed.
    pub(crate) link: watch::Sender<Link>,
    pub(crate) lists: watch::Sender<Arc<RemoteLists>>,
    /// The lists that were read last, for those that cannot be read later.
    pub(crate) last_read: Mutex<Option<Arc<ReadLists>>>,
    /// A request needs a connection now.
    pub(crate) wanted: Notify,
    /// A request has failed in a way that may mean the end of the connection.
    pub(crate) suspect: Notify,
    pub(crate) parked: Parked,
    pub(crate) watched: Arc<Watched>,
    /// Cancelled when requests must end.
    pub(crate) aborted: CancellationToken,
    /// The tasks that keep the connections of the remote. They close them before they end.
    pub(crate) keepers: Nursery,
    /// The tasks that wait for answers of clients or the end of their sessions.
    pub(crate) waits: Nursery,
    /// Whether this is the connection of one session.
    pub(crate) is_of_session: bool,
    last_use: Mutex<tokio::time::Instant>,
}

impl Shared {
    pub(crate) fn new(
        name: String,
        target: Target,
        options: RemoteOptions,
        keepers: Nursery,
    ) -> Self {
        Self {
            name,
            origin: target.to_string(),
            target,
            options,
            link: watch::Sender::new(Link::Connecting),
            lists: watch::Sender::default(),
            last_read: Mutex::default(),
            wanted: Notify::new(),
            suspect: Notify::new(),
            parked: Parked::default(),
            watched: Arc::default(),
            aborted: CancellationToken::new(),
            waits: keepers.child(),
            keepers,
            is_of_session: false,
            last_use: Mutex::new(tokio::time::Instant::now()),
        }
    }

    /// Notes a use of the connection.
    pub(crate) fn used(&self) {
        *lock(&self.last_use) = tokio::time::Instant::now();
    }

    /// When the connection was last used.
    pub(crate) fn last_use(&self) -> tokio::time::Instant {
        *lock(&self.last_use)
    }

    /// Watches a resource until the result is dropped. A server that is idle is connected for it.
    pub(crate) fn watch_resource(&self, uri: &str) -> ResourceWatch {
        self.used();
        let watch = self.watched.add(&self.name, uri);
        if matches!(&*self.link.borrow(), Link::Idle) {
            self.wanted.notify_one();
        }
        watch
    }

    /// How long one attempt to connect may take. A command may have to be started twice.
    pub(crate) fn attempt_limit(&self) -> Duration {
        let starts = match self.target {
            Target::Command(_) => 2,
            _ => 1,
        };
        self.options.connect.saturating_mul(starts)
    }

    /// The connection. A server that is idle or down is connected at once, unless that was just tried. If the
    /// connection was lost just now, this waits for the next one.
    pub(crate) async fn connected(&self) -> Result<Arc<Connection>, RemoteFailure> {
        self.used();
        let mut link = self.link.subscribe();
        let mut is_first = true;
        let waiting = async {
            loop {
                match &*link.borrow_and_update() {
                    Link::Up(connection) if !connection.session.has_ended() => {
                        return Ok(Arc::clone(connection));
                    }
                    // The next attempt begins at once.
                    Link::Down { tried: None, .. } => {}
                    Link::Down {
                        why,
                        tried: Some(tried),
                        ..
                    } if !is_first || self.was_tried(why, *tried) => {
                        return Err(why.clone());
                    }
                    Link::Down { .. } | Link::Idle if is_first => self.wanted.notify_one(),
                    // It has ended, but the task that follows it may not know that yet.
                    Link::Up(_) => self.suspect.notify_one(),
                    _ => {}
                }
                is_first = false;
                if link.changed().await.is_err() {
                    return Err(stopped());
                }
            }
        };
        let limit = self.attempt_limit();
        let waited = timeout(limit, waiting).await;
        waited.unwrap_or_else(|_| {
            let why = format!("it did not answer within {limit:?}");
            Err(RemoteFailure::Unreachable { why })
        })
    }

    /// Changes the link, and returns the previous one.
    pub(crate) fn set_link(&self, mut link: Link) -> Link {
        self.link.send_modify(|current| {
            // Requests look at the link while it is locked. Those that wanted a connection before have the outcome now.
            let _ = self.wanted.notified().now_or_never();
            std::mem::swap(current, &mut link);
        });
        link
    }

    /// Whether another attempt is too early, or the last one was made.
    fn was_tried(&self, why: &RemoteFailure, tried: Instant) -> bool {
        is_final(why) || tried.elapsed() < self.options.retries.every
    }
}

/// Whether there is no further attempt to connect.
pub(crate) fn is_final(why: &RemoteFailure) -> bool {
    matches!(why, RemoteFailure::RetriesExhausted { .. }) || *why == stopped()
}

/// The failure of requests after the end.
pub(crate) fn stopped() -> RemoteFailure {
    let why = "the host no longer uses it".to_owned();
    RemoteFailure::Unreachable { why }
}
