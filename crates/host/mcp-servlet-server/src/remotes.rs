//! The remotes of a configuration.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
};

use futures_util::future::join_all;
use mcp_servlet_common::lock;
use mcp_servlet_host::{Filter, Mount, Prefix};
use mcp_servlet_remote::{NotReady, RemoteOptions, RemoteServer, client::Target};

/// Another MCP server, and how it is served.
#[derive(Clone)]
pub struct RemoteEntry {
    /// The name in logs, errors and prefixes.
    pub name: String,
    /// The URL or the command.
    pub target: Target,
    /// How it is used.
    pub options: RemoteOptions,
    /// Whether the server does not start without it.
    pub required: bool,
    /// The prefix for the names of its tools and prompts.
    pub prefix: Prefix,
    /// Which of its tools are listed.
    pub filter: Filter,
    /// A digest of everything that the connection depends on. A remote stays connected while it is the same.
    pub connection: u64,
}

/// Options and targets may have secrets.
impl fmt::Debug for RemoteEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteEntry")
            .field("name", &self.name)
            .field("target", &self.target.to_string())
            .finish_non_exhaustive()
    }
}

/// The remotes of a configuration, which stay connected while it is reloaded. Clones are handles to the same remotes.
#[derive(Clone, Debug, Default)]
pub struct Remotes(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// The remotes of the last update that succeeded.
    running: HashMap<String, Running>,
    /// Those that are served, if the members of that update are not served yet.
    served: Option<HashMap<String, Running>>,
    /// Those of an update that failed after it. They go on connecting until the next update.
    tried: HashMap<String, Running>,
    /// Whether members of any update are or were served.
    were_served: bool,
}

/// A remote, and the digest of the settings that it was connected with.
#[derive(Clone, Debug)]
struct Running {
    connection: u64,
    server: Arc<RemoteServer>,
}

impl Remotes {
    /// Connects to the remotes of a configuration, and returns them as members of a host. Those whose connections have the
    /// same settings as before stay as they are, even if they are down. One with other settings connects before it is returned,
    /// or fails once.
    ///
    /// # Errors
    /// [`NotReady`] if a required remote with new settings cannot be reached. Then the former remotes stay connected, and the next
    /// update uses the new ones, instead of connecting again.
    pub async fn update(&self, entries: &[RemoteEntry]) -> Result<Vec<Mount>, NotReady> {
        let former = self.running();
        let is_start = !self.state().were_served;
        let mut running = Vec::new();
        let mut ready = Vec::new();
        for entry in entries {
            let (same, tried) = self.state().with_settings_of(entry);
            let is_same = same.is_some();
            let one = same.or(tried).unwrap_or_else(|| Running::start(entry));
            let server = Arc::clone(&one.server);
            let is_known = former.contains_key(&entry.name);
            ready.push(async move {
                match entry.required {
                    _ if is_same => Ok(()),
                    true if is_start => server.ready().await,
                    true => server.tried().await,
                    false if is_known => {
                        // Its failures are in the log.
                        let _ = server.tried().await;
                        Ok(())
                    }
                    false => Ok(()),
                }
            });
            running.push(one);
        }
        let ready: Result<Vec<()>, _> = join_all(ready).await.into_iter().collect();
        let names = entries.iter().map(|entry| entry.name.clone());
        if let Err(error) = ready {
            self.state().tried = names.zip(running).collect();
            return Err(error);
        }
        let mounts = entries
            .iter()
            .zip(&running)
            .map(|(entry, running)| Mount {
                member: running.server.member(),
                prefix: entry.prefix.clone(),
                filter: entry.filter.clone(),
            })
            .collect();
        self.state().replace(names.zip(running).collect());
        Ok(mounts)
    }

    /// Notes that the members of the last update are served. Remotes that were served before end with the last call that uses
    /// them, and after [`RemoteOptions::drain`](mcp_servlet_remote::RemoteOptions::drain) at the latest.
    pub fn are_served(&self) {
        let mut state = self.state();
        state.were_served = true;
        for former in state.served.take().unwrap_or_default().values() {
            let mut running = state.running.values();
            if running.all(|one| !Arc::ptr_eq(&one.server, &former.server)) {
                former.server.retire();
            }
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
        let all: Vec<_> = self.state().all().cloned().collect();
        join_all(all.iter().map(|one| one.server.close())).await;
    }

    /// Closes all connections at once, together with the requests that use them, without waiting for it.
    pub(crate) fn stop(&self) {
        self.state().all().for_each(|one| one.server.stop());
    }

    fn running(&self) -> HashMap<String, Running> {
        self.state().running.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl State {
    /// The remote that is connected with the settings of this entry, and the one of an update that failed.
    fn with_settings_of(&self, entry: &RemoteEntry) -> (Option<Running>, Option<Running>) {
        let find = |all: &HashMap<String, Running>| {
            let named = all.get(&entry.name);
            named
                .filter(|one| one.connection == entry.connection)
                .cloned()
        };
        let known = find(&self.running).or_else(|| self.served.as_ref().and_then(find));
        // One that makes no further attempt is started again.
        let tried = find(&self.tried).filter(|one| !one.server.has_given_up());
        (known, tried)
    }

    fn all(&self) -> impl Iterator<Item = &Running> {
        let served = self.served.iter().flat_map(HashMap::values);
        self.running
            .values()
            .chain(served)
            .chain(self.tried.values())
    }

    fn replace(&mut self, running: HashMap<String, Running>) {
        self.tried.clear();
        let former = std::mem::replace(&mut self.running, running);
        self.served.get_or_insert(former);
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
