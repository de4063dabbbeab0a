//! The resources that clients of an endpoint have subscribed to, and the subscriptions to them at remotes.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
};

use mcp_servlet_common::lock;
use mcp_servlet_host::ResourceWatch;

use super::Server;

/// The resources that clients of an endpoint have subscribed to.
#[derive(Debug, Default)]
pub(crate) struct Watches(Mutex<HashMap<String, Watched>>);

#[derive(Debug)]
struct Watched {
    /// How many clients have subscribed.
    clients: usize,
    /// The subscriptions at the remotes that may have the resource.
    _at_remotes: Vec<ResourceWatch>,
}

/// The subscription of a client, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ClientWatch {
    server: Server,
    uri: String,
}

impl Drop for ClientWatch {
    fn drop(&mut self) {
        let mut watches = self.server.0.watches.lock();
        if let Some(watched) = watches.get_mut(&self.uri) {
            watched.clients -= 1;
            if watched.clients == 0 {
                watches.remove(&self.uri);
            }
        }
    }
}

impl Watches {
    /// Subscribes at the remotes of the server's present host instead of those of an earlier one.
    pub(super) fn resolve(&self, server: &Server) {
        let mut watches = self.lock();
        // Read under the lock, so that the subscriptions of the newest host are the last ones.
        let host = server.host();
        for (uri, watched) in &mut *watches {
            // A remote that both hosts have keeps its subscription, because the new one begins before the previous one ends.
            *watched = Watched {
                clients: watched.clients,
                _at_remotes: host.watch_resource(uri),
            };
        }
    }

    /// The URIs of all resources that clients have subscribed to.
    pub(super) fn uris(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Watched>> {
        lock(&self.0)
    }
}

impl Server {
    /// Subscribes a client to a resource.
    pub(crate) fn watch(&self, uri: &str) -> ClientWatch {
        let mut watches = self.0.watches.lock();
        // The host is read under the lock, as in `resolve`.
        let resource = watches.entry(uri.to_owned()).or_insert_with(|| Watched {
            clients: 0,
            _at_remotes: self.host().watch_resource(uri),
        });
        resource.clients += 1;
        ClientWatch {
            server: self.clone(),
            uri: uri.to_owned(),
        }
    }
}
