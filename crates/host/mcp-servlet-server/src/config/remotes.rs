//! The remotes of a configuration.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::join_all;
use mcp_servlet_host::Mount;
use mcp_servlet_remote::{NotReady, RemoteServer};

use super::remote::RemoteEntry;

/// The remotes of a configuration, which stay connected while it is reloaded. Clones are handles to the same remotes.
#[derive(Clone, Debug, Default)]
pub struct Remotes(Arc<Mutex<HashMap<String, Running>>>);

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
        // A server that is left out here ends with the last call that uses it.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = names.zip(running).collect();
        Ok(mounts)
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
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.clone()
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
