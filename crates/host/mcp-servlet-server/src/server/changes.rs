//! Notifies clients of changed lists and resources.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use mcp_servlet_access::Caller;

use mcp_servlet_call::{Change, JsonObject};
use mcp_servlet_common::{is_uri_within, lock};
use mcp_servlet_host::{FeatureKind, Host, Listed, Tool};
use rmcp::{
    Peer, RoleServer,
    model::ResourceUpdatedNotificationParam,
    service::{ServiceError, SubscriptionContext, SubscriptionSendError},
};
use tokio::sync::broadcast::{self, error::RecvError};

use super::{Server, watches::ClientWatch};
use crate::permissions::Permissions;

/// How many changes may queue up for a slow client. After that, it is notified of all lists at once.
const MAX_CLIENT_QUEUE: usize = 64;

/// A channel from the server to everything that is connected to it.
#[derive(Debug)]
pub(crate) struct Changes(broadcast::Sender<Change>);

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::Sender::new(MAX_CLIENT_QUEUE))
    }
}

impl Changes {
    pub(crate) fn send(&self, change: Change) {
        // `send` fails if no client is connected, which is fine.
        let _ = self.0.send(change);
    }
}

/// Receives the changes since it was created, in order. With rules, these are the changes of what the caller may use.
#[derive(Debug)]
pub(crate) struct Follower {
    changes: broadcast::Receiver<Change>,
    server: Server,
    caller: Arc<LastCaller>,
    /// Digests of the lists that the caller saw last.
    seen: Seen,
}

/// The caller of the last request in a session. A new token can change its scopes.
#[derive(Debug, Default)]
pub(crate) struct LastCaller(Mutex<Option<Arc<Caller>>>);

impl LastCaller {
    pub(crate) fn new(caller: Option<Arc<Caller>>) -> Self {
        Self(Mutex::new(caller))
    }

    pub(crate) fn set(&self, caller: Option<&Arc<Caller>>) {
        *lock(&self.0) = caller.cloned();
    }

    fn get(&self) -> Option<Arc<Caller>> {
        lock(&self.0).clone()
    }
}

impl Server {
    /// The changes from now on, for one caller.
    pub(crate) fn changes_for(&self, caller: Arc<LastCaller>) -> Follower {
        let changes = self.0.changes.0.subscribe();
        let seen = Seen::of(&self.permissions(self.host(), caller.get()));
        Follower {
            changes,
            server: self.clone(),
            caller,
            seen,
        }
    }
}

/// Digests of tools, prompts, and resources with templates. None without rules.
#[derive(Debug, Default)]
struct Seen([Option<u64>; 3]);

impl Seen {
    fn of(permissions: &Permissions) -> Self {
        let mut seen = Self::default();
        for change in [Change::Tools, Change::Prompts, Change::Resources] {
            seen.differs(permissions, &change);
        }
        seen
    }

    /// Whether a change is one for the caller. The next one is compared with it.
    fn differs(&mut self, permissions: &Permissions, change: &Change) -> bool {
        use FeatureKind::{Prompt, Resource, ResourceTemplate, Tool};
        let (at, kinds): (usize, &[_]) = match change {
            Change::Tools => (0, &[Tool]),
            Change::Prompts => (1, &[Prompt]),
            Change::Resources => (2, &[Resource, ResourceTemplate]),
            Change::Resource(uri) => return permissions.updates(uri),
        };
        let digest = (!permissions.are_all()).then(|| permissions.digest(kinds));
        let previous = std::mem::replace(&mut self.0[at], digest);
        digest.is_none() || digest != previous
    }
}

impl Follower {
    /// The next change. If changes were lost, this returns all lists and all resources in `wanted`.
    /// None at the end.
    async fn next(&mut self, wanted: impl FnOnce() -> Vec<String>) -> Option<Vec<Change>> {
        let mut changes = match self.changes.recv().await {
            Ok(change) => vec![change],
            Err(RecvError::Lagged(_)) => {
                let lists = [Change::Tools, Change::Prompts, Change::Resources];
                let resources = wanted().into_iter().map(Change::Resource);
                lists.into_iter().chain(resources).collect()
            }
            Err(RecvError::Closed) => return None,
        };
        let server = &self.server;
        let permissions = server.permissions(server.host(), self.caller.get());
        changes.retain(|change| self.seen.differs(&permissions, change));
        Some(changes)
    }

    /// Notifies a client up to 2025-11-25 of changes, until it disconnects.
    pub(crate) async fn notify(mut self, peer: Peer<RoleServer>, subscribed: &Subscribed) {
        while let Some(changes) = self.next(|| subscribed.all()).await {
            for change in changes {
                if notify(&peer, change, subscribed).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Sends the changes that a subscription asked for.
    pub(crate) async fn feed(mut self, subscription: &SubscriptionContext) {
        let wanted = || {
            let accepted = subscription.accepted();
            accepted.resource_subscriptions.clone().unwrap_or_default()
        };
        while let Some(changes) = self.next(wanted).await {
            for change in changes {
                match feed(subscription, change).await {
                    Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)) => {}
                    Err(_) => return,
                }
            }
        }
    }
}

async fn notify(
    peer: &Peer<RoleServer>,
    change: Change,
    subscribed: &Subscribed,
) -> Result<(), ServiceError> {
    match change {
        Change::Tools => peer.notify_tool_list_changed().await,
        Change::Prompts => peer.notify_prompt_list_changed().await,
        Change::Resources => peer.notify_resource_list_changed().await,
        Change::Resource(uri) if subscribed.has(&uri) => {
            let params = ResourceUpdatedNotificationParam::new(uri);
            peer.notify_resource_updated(params).await
        }
        Change::Resource(_) => Ok(()),
    }
}

async fn feed(
    subscription: &SubscriptionContext,
    change: Change,
) -> Result<(), SubscriptionSendError> {
    let sink = subscription.sink();
    match change {
        Change::Tools => sink.notify_tool_list_changed().await,
        Change::Prompts => sink.notify_prompt_list_changed().await,
        Change::Resources => sink.notify_resource_list_changed().await,
        Change::Resource(uri) => sink.notify_resource_updated(uri).await,
    }
}

/// The resources that a client up to 2025-11-25 has subscribed to.
#[derive(Debug, Default)]
pub(crate) struct Subscribed(Mutex<HashMap<String, ClientWatch>>);

impl Subscribed {
    /// The limit for one client, so that it leaves room for others in the subscriptions at remotes.
    pub(crate) const MAX_PER_CLIENT: usize = 1_000;

    /// The longest URI, in bytes.
    pub(crate) const LONGEST_URI: usize = 8 << 10;

    /// Adds a subscription. False if there are too many.
    pub(crate) fn add(&self, server: &Server, uri: String) -> bool {
        let mut watches = self.watches();
        if watches.len() >= Self::MAX_PER_CLIENT && !watches.contains_key(&uri) {
            return false;
        }
        let add = |uri: &String| server.watch(uri);
        watches.entry(uri).or_insert_with_key(add);
        true
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.watches().remove(uri);
    }

    fn all(&self) -> Vec<String> {
        self.watches().keys().cloned().collect()
    }

    /// Whether it has subscribed to a resource, or to one that it is a part of.
    fn has(&self, uri: &str) -> bool {
        self.watches().keys().any(|own| is_uri_within(uri, own))
    }

    fn watches(&self) -> MutexGuard<'_, HashMap<String, ClientWatch>> {
        lock(&self.0)
    }
}

/// The lists in which two hosts differ.
pub(crate) fn differences<'h>(old: &'h Host, new: &'h Host) -> Vec<Change> {
    let tools = |host: &'h Host| host.listed_tools().map(Tool::json);
    let mut changes = Vec::new();
    if !tools(old).eq(tools(new)) {
        changes.push(Change::Tools);
    }
    if !old
        .prompts()
        .map(Listed::json)
        .eq(new.prompts().map(Listed::json))
    {
        changes.push(Change::Prompts);
    }
    let same_resources = entries(old).eq(entries(new));
    if !same_resources {
        changes.push(Change::Resources);
    }
    changes
}

/// The resources and templates of a host.
fn entries(host: &Host) -> impl Iterator<Item = &JsonObject> {
    let entries = host.resources().chain(host.resource_templates());
    entries.map(Listed::json)
}
