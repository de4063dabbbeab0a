//! Tells clients that a list or a resource has changed.

use std::{collections::HashSet, sync::Mutex, sync::PoisonError};

use mcp_servlet_host::{Host, Listed, Tool};
use mcp_servlet_runtime::Change;
use rmcp::{
    Peer, RoleServer,
    model::ResourceUpdatedNotificationParam,
    service::{ServiceError, SubscriptionContext, SubscriptionSendError},
};
use tokio::sync::broadcast::{self, error::RecvError};

/// How many changes may wait for one slow client before it is told of all lists at once.
const WAITING: usize = 64;

/// From the server to everything that is connected to it.
#[derive(Debug)]
pub(crate) struct Changes(broadcast::Sender<Change>);

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }
}

impl Changes {
    pub(crate) fn send(&self, change: Change) {
        // Without receivers nobody is connected who could be told.
        let _ = self.0.send(change);
    }

    pub(crate) fn follow(&self) -> Follower {
        Follower(self.0.subscribe())
    }
}

/// The changes since it was made, in order.
#[derive(Debug)]
pub(crate) struct Follower(broadcast::Receiver<Change>);

impl Follower {
    /// What changed next. If so much changed that some was lost, that is everything: all lists, and the resources that the
    /// client wants to hear of. None at the end.
    async fn next(&mut self, wanted: impl FnOnce() -> Vec<String>) -> Option<Vec<Change>> {
        match self.0.recv().await {
            Ok(change) => Some(vec![change]),
            Err(RecvError::Lagged(_)) => {
                let lists = [Change::Tools, Change::Prompts, Change::Resources];
                let resources = wanted().into_iter().map(Change::Resource);
                Some(lists.into_iter().chain(resources).collect())
            }
            Err(RecvError::Closed) => None,
        }
    }

    /// Passes changes on to a client of the handshake era for as long as it is there.
    pub(crate) async fn tell(mut self, peer: Peer<RoleServer>, subscribed: &Subscribed) {
        while let Some(changes) = self.next(|| subscribed.all()).await {
            for change in changes {
                if tell(&peer, change, subscribed).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Passes on to a subscription what it is for.
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

async fn tell(
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

/// The resources that a client of the handshake era wants to hear of.
#[derive(Debug, Default)]
pub(crate) struct Subscribed(Mutex<HashSet<String>>);

impl Subscribed {
    /// How many one client may have, so that it cannot fill the memory.
    const LIMIT: usize = 10_000;

    /// False if there are too many already.
    pub(crate) fn add(&self, uri: String) -> bool {
        let mut uris = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if uris.len() >= Self::LIMIT && !uris.contains(&uri) {
            return false;
        }
        uris.insert(uri);
        true
    }

    pub(crate) fn remove(&self, uri: &str) {
        let mut uris = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uris.remove(uri);
    }

    fn all(&self) -> Vec<String> {
        let uris = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uris.iter().cloned().collect()
    }

    fn has(&self, uri: &str) -> bool {
        let uris = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uris.contains(uri)
    }
}

/// Which lists of two hosts are different.
pub(crate) fn differences(old: &Host, new: &Host) -> Vec<Change> {
    let same_tools = old.tools().map(Tool::json).eq(new.tools().map(Tool::json));
    let mut changes = Vec::new();
    if !same_tools {
        changes.push(Change::Tools);
    }
    if !old
        .prompts()
        .map(Listed::json)
        .eq(new.prompts().map(Listed::json))
    {
        changes.push(Change::Prompts);
    }
    let all = |host: &'_ Host| {
        let entries = host.resources().chain(host.resource_templates());
        entries.map(Listed::json).cloned().collect::<Vec<_>>()
    };
    if all(old) != all(new) {
        changes.push(Change::Resources);
    }
    changes
}
