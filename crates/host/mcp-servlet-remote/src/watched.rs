//! The resources whose changes clients want to know, and the subscriptions to them at the server.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all, select_all};
use futures_util::stream::{self, StreamExt as _};
use mcp_servlet_client::{Error, Events};
use mcp_servlet_common::{is_uri_within, lock};
use mcp_servlet_host::ResourceWatch;
use tokio::sync::{Notify, broadcast};

use crate::connection::Connection;
use crate::timetable::Timetable;

/// The most resources of one server that are watched. One client can watch a tenth of them, so it cannot keep out the others.
const MAX_WATCHED: usize = 10_000;
/// The longest URI of a resource that is watched, in bytes.
const MAX_WATCHED_URI: usize = 2_048;
/// The most resources in one subscription. With the longest URIs, it is a request of about 1 MiB. Servers limit the size of a
/// request, and this one the resources of a subscription.
const MAX_URIS_PER_SUBSCRIPTION: usize = 500;
/// How many changes may wait for an endpoint that is slow. After that, it counts all resources as changed.
const MAX_WAITING_CHANGES: usize = 256;
/// How many requests to subscribe run at the same time, so that those of one client do not delay the others for long.
const MAX_REQUESTS_AT_ONCE: usize = 16;
/// The resources whose changes clients want to know.
#[derive(Debug)]
pub(crate) struct Watched {
    wanted: Mutex<HashMap<String, Wanted>>,
    /// The wanted resources are others than before.
    changed: Notify,
    updates: broadcast::Sender<String>,
}

#[derive(Debug, Default)]
struct Wanted {
    /// How many handles there are.
    handles: usize,
    /// Whether a request for reports of changes has been sent, perhaps on an earlier connection.
    was_asked: bool,
}

/// Keeps a resource watched until it is dropped.
struct Handle {
    watched: Arc<Watched>,
    uri: String,
}

impl Default for Watched {
    fn default() -> Self {
        Self {
            wanted: Mutex::default(),
            changed: Notify::new(),
            updates: broadcast::Sender::new(MAX_WAITING_CHANGES),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut wanted = self.watched.wanted();
        if let Some(one) = wanted.get_mut(&self.uri) {
            one.handles -= 1;
            if one.handles == 0 {
                wanted.remove(&self.uri);
                self.watched.changed.notify_one();
            }
        }
    }
}

impl Watched {
    /// Watches a resource until the result is dropped.
    pub(crate) fn add(self: &Arc<Self>, remote: &str, uri: &str) -> ResourceWatch {
        if uri.len() > MAX_WATCHED_URI {
            tracing::warn!(
                remote,
                "resource not watched: its URI is longer than {MAX_WATCHED_URI} bytes"
            );
            return ResourceWatch::new(());
        }
        let mut wanted = self.wanted();
        if wanted.len() >= MAX_WATCHED && !wanted.contains_key(uri) {
            tracing::warn!(
                remote,
                "resource not watched: clients watch {MAX_WATCHED} resources"
            );
            return ResourceWatch::new(());
        }
        let one = wanted.entry(uri.to_owned()).or_default();
        one.handles += 1;
        if one.handles == 1 {
            self.changed.notify_one();
        }
        drop(wanted);
        ResourceWatch::new(Handle {
            watched: Arc::clone(self),
            uri: uri.to_owned(),
        })
    }

    /// The URIs of resources that have changed, from now on.
    pub(crate) fn updates(&self) -> broadcast::Receiver<String> {
        self.updates.subscribe()
    }

    /// Passes on that a resource has changed, if a client watches it or one that it is a part of.
    pub(crate) fn changed_at_remote(&self, uri: String) {
        let is_wanted = |wanted: &String| is_uri_within(&uri, wanted);
        if self.wanted().keys().any(is_wanted) {
            self.report(uri);
        }
    }

    fn report(&self, uri: String) {
        // An error means that no endpoint serves the remote.
        let _ = self.updates.send(uri);
    }

    /// Reports all resources, because changes of them may have been missed.
    pub(crate) fn report_all(&self) {
        self.uris().into_iter().for_each(|uri| self.report(uri));
    }

    /// Waits until the wanted resources are others than before.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.wanted().is_empty()
    }

    /// Notes what has become of subscriptions.
    pub(crate) fn note(&self, outcome: Outcome, table: &mut Timetable) {
        match outcome {
            Outcome::Updated { new, has_failed } => {
                self.asked(new);
                if has_failed {
                    table.watch_again();
                }
            }
            Outcome::Ended => table.watch_again(),
        }
    }

    /// Notes that a request for reports about these resources has been sent. After an earlier request, changes may be missing.
    fn asked(&self, uris: Vec<String>) {
        let mut wanted = self.wanted();
        for uri in uris {
            let one = wanted.get_mut(&uri);
            if one.is_some_and(|one| std::mem::replace(&mut one.was_asked, true)) {
                self.report(uri);
            }
        }
    }

    pub(crate) fn uris(&self) -> BTreeSet<String> {
        self.wanted().keys().cloned().collect()
    }

    fn wanted(&self) -> MutexGuard<'_, HashMap<String, Wanted>> {
        lock(&self.wanted)
    }
}

/// What has become of subscriptions.
pub(crate) enum Outcome {
    /// Requests to subscribe were made.
    Updated {
        /// The resources that are new.
        new: Vec<String>,
        /// Whether a request has failed.
        has_failed: bool,
    },
    /// The server has ended a subscription.
    Ended,
}

/// The subscriptions on one connection, and the requests that change them.
#[derive(Default)]
pub(crate) struct Watching<'c> {
    /// Those that are made. While requests run, none.
    subscriptions: Subscriptions,
    running: Option<BoxFuture<'c, (Subscriptions, Vec<String>)>>,
    /// Whether the session ended that running requests belong to.
    is_forgotten: bool,
}

impl<'c> Watching<'c> {
    /// Whether requests to subscribe run.
    pub(crate) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Begins to subscribe to these resources and no others.
    pub(crate) fn begin(
        &mut self,
        remote: &'c str,
        connection: &'c Connection,
        wanted: BTreeSet<String>,
    ) {
        if connection.session.server().can_watch() {
            let subscriptions = std::mem::take(&mut self.subscriptions);
            let update = subscriptions.updated(remote, connection, wanted);
            self.running = Some(update.boxed());
        }
    }

    /// Forgets all subscriptions, because they have ended with their session.
    pub(crate) fn forget(&mut self) {
        self.subscriptions = Subscriptions::default();
        self.is_forgotten = self.is_busy();
    }

    /// What becomes of the subscriptions next. Nothing is lost if this is dropped before it returns.
    pub(crate) async fn next(&mut self) -> Outcome {
        let Some(running) = &mut self.running else {
            self.subscriptions.ended().await;
            return Outcome::Ended;
        };
        let (subscriptions, new) = running.await;
        self.running = None;
        let has_failed = subscriptions.has_failed;
        if !std::mem::take(&mut self.is_forgotten) {
            self.subscriptions = subscriptions;
        }
        Outcome::Updated { new, has_failed }
    }
}

/// The subscriptions on one connection.
#[derive(Debug, Default)]
struct Subscriptions {
    uris: BTreeSet<String>,
    /// Since 2026-07-28, a subscription has many resources.
    listening: Vec<Events>,
    /// A subscription has failed and should be tried again.
    has_failed: bool,
}

impl Subscriptions {
    /// As [`update`](Self::update), with itself.
    async fn updated(
        mut self,
        remote: &str,
        connection: &Connection,
        wanted: BTreeSet<String>,
    ) -> (Self, Vec<String>) {
        let new = self.update(remote, connection, wanted).await;
        (self, new)
    }

    /// Subscribes to these resources and no others. Returns those that are new.
    async fn update(
        &mut self,
        remote: &str,
        connection: &Connection,
        wanted: BTreeSet<String>,
    ) -> Vec<String> {
        if wanted == self.uris && !self.has_failed {
            return Vec::new();
        }
        let mut new: Vec<_> = wanted.difference(&self.uris).cloned().collect();
        let updated = if connection.session.server().is_stateless() {
            let listened = self.listen(connection, &wanted).await;
            listened.map(|()| BTreeSet::new())
        } else {
            Ok(self.subscribe(remote, connection, &wanted).await)
        };
        match updated {
            Ok(unanswered) => {
                self.has_failed = !unanswered.is_empty();
                self.uris = &wanted - &unanswered;
                new.retain(|uri| !unanswered.contains(uri));
                new
            }
            Err(error) => {
                tracing::debug!(remote, %error, "a remote does not report changes of resources");
                self.has_failed = true;
                self.uris.clear();
                Vec::new()
            }
        }
    }

    /// Replaces the subscriptions. The new ones begin before the previous ones end, so that no change is missed. If the server
    /// refuses one, the others begin. If it refuses all, the previous ones go on.
    async fn listen(
        &mut self,
        connection: &Connection,
        wanted: &BTreeSet<String>,
    ) -> Result<(), Error> {
        let uris: Vec<_> = wanted.iter().collect();
        let parts = uris.chunks(MAX_URIS_PER_SUBSCRIPTION);
        let subscriptions = parts.map(|uris| connection.session.watch(uris.iter().copied()));
        let (mut accepted, mut outcome) = (Vec::new(), Ok(()));
        for subscription in join_all(subscriptions).await {
            match subscription {
                Ok(events) => accepted.push(events),
                Err(error) => outcome = Err(error),
            }
        }
        if outcome.is_ok() || !accepted.is_empty() {
            self.listening = accepted;
        }
        outcome
    }

    /// Up to 2025-11-25, each resource has a subscription of its own. The server may refuse some. Returns those that it has
    /// not answered.
    async fn subscribe(
        &self,
        remote: &str,
        connection: &Connection,
        wanted: &BTreeSet<String>,
    ) -> BTreeSet<String> {
        let session = &connection.session;
        let add = async |uri: &String| match session.watch([uri]).await {
            Ok(_) => None,
            Err(error) => {
                tracing::debug!(remote, %error, "a remote does not report changes of a resource");
                error.code().is_none().then(|| uri.clone())
            }
        };
        let new = stream::iter(wanted.difference(&self.uris)).map(add);
        let unanswered = new
            .buffer_unordered(MAX_REQUESTS_AT_ONCE)
            .filter_map(std::future::ready)
            .collect()
            .await;
        for uri in self.uris.difference(wanted) {
            if let Err(error) = session.unwatch(uri).await {
                tracing::debug!(remote, %error, "a remote goes on to report changes of a resource");
            }
        }
        unanswered
    }

    /// Waits until the server has ended a subscription.
    async fn ended(&mut self) {
        if self.listening.is_empty() {
            return std::future::pending().await;
        }
        // The task that follows the connection has the events, too.
        let end = async |events: &mut Events| while events.next().await.is_some() {};
        select_all(
            self.listening
                .iter_mut()
                .map(|events| Box::pin(end(events))),
        )
        .await;
        self.listening.clear();
        self.uris.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_uri_of_a_server_costs_no_more_than_its_length() {
        let watched = Arc::new(Watched::default());
        let mut updates = watched.updates();
        let _watch = watched.add("far", "docs://open");
        watched.changed_at_remote(format!("docs://closed{}", "/".repeat(1 << 20)));
        let part = format!("docs://open{}", "/".repeat(1 << 20));
        watched.changed_at_remote(part.clone());
        assert_eq!(updates.try_recv(), Ok(part));
    }
}
