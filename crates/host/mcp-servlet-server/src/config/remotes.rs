//! The remotes of a configuration.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use futures_util::future::join_all;
use mcp_servlet_host::Mount;
use mcp_servlet_remote::{NotReady, RemoteServer};

use super::remote::RemoteEntry;

/// The remotes of a configuration, which stay connected while it is reloaded. Clones are handles to the same remotes.
#[derive(Clone, Debug, Default)]
pub struct Remotes(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    running: HashMap<String, Running>,
    /// Remotes that others have replaced. They may be served until the next version of the configuration is.
    replaced: Vec<Weak<RemoteServer>>,
}

/// A remote, and the digest of the settings that it was connected with.
#[derive(Clone, Debug)]
struct Running {
    connection: u64,
    server: Arc<RemoteServer>,
}

impl Remotes {
    /// Connects to the remotes of a configuration, and returns them as members of a host. Those whose connections have the
    /// same settings as before stay connected. One with other settings connects before it is returned, or fails once.
    ///
    /// # Errors
    /// [`NotReady`] if a required remote cannot be reached. Then the former remotes stay connected.
    pub async fn update(&self, entries: &[RemoteEntry]) -> Result<Vec<Mount>, NotReady> {
        let former = self.running();
        let running = entries.iter().map(|entry| match former.get(&entry.name) {
            Some(same) if same.connection == entry.connection => same.clone(),
            _ => Running::start(entry),
        });
        let running: Vec<_> = running.collect();
        let ready = entries.iter().zip(&running).map(|(entry, running)| async {
            if !entry.required && !former.contains_key(&entry.name) {
                return Ok(());
            }
            if entry.required {
                return running.server.ready().await;
            }
            // Its failures are in the log.
            let _ = running.server.tried().await;
            Ok(())
        });
        join_all(ready)
            .await
            .into_iter()
            .collect::<Result<(), _>>()?;
        let mounts = entries.iter().zip(&running).map(|(entry, running)| Mount {
            member: running.server.member(),
            prefix: entry.prefix.clone(),
            filter: entry.filter.clone(),
        });
        let mounts = mounts.collect();
        let names = entries.iter().map(|entry| entry.name.clone());
        self.state().replace(names.zip(running).collect());
        Ok(mounts)
    }

    /// Ends the remotes that earlier updates have replaced: with the last call that uses them, and after
    /// [`RemoteOptions::drain`](mcp_servlet_remote::RemoteOptions::drain) at the latest. Call this when the members of the last
    /// update are served.
    pub fn retire_replaced(&self) {
        let replaced = std::mem::take(&mut self.state().replaced);
        for server in replaced.iter().filter_map(Weak::upgrade) {
            server.retire();
        }
    }

    /// Waits until each remote is connected or has failed once, and returns the failures.
    pub async fn tried(&self) -> Vec<NotReady> {
        let running = self.running();
        let tried = join_all(running.values().map(|running| running.server.tried())).await;
        tried.into_iter().filter_map(Result::err).collect()
    }

    /// Closes all connections. Those that a call still uses close when that call ends.
    pub async fn close(&self) {
        let running = self.running();
        join_all(running.values().map(|running| running.server.close())).await;
    }

    fn running(&self) -> HashMap<String, Running> {
        self.state().running.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn replace(&mut self, running: HashMap<String, Running>) {
        let former = std::mem::replace(&mut self.running, running);
        for (name, Running { server, .. }) in former {
            let current = self.running.get(&name);
            if current.is_none_or(|current| !Arc::ptr_eq(&current.server, &server)) {
                self.replaced.push(Arc::downgrade(&server));
            }
        }
    }
}

impl Running {
    fn start(entry: &RemoteEntry) -> Self {
        let target = entry.target.clone();
        Self {
            connection: entry.connection,
            server: RemoteServer::start(&entry.name, target, entry.options.clone()),
        }
    }
}
