//! Reloads a configuration when it changes.

use std::{collections::HashSet, future::pending, pin::pin, sync::Arc, time::Duration};

use futures_util::future::select_all;
use mcp_servlet_call::chain;
use mcp_servlet_host::{Filter, Host, Mount, Prefix, RemoteLists, RemoteMember, Servlet};
use tokio::{sync::watch, time::timeout};

use super::{
    Endpoint, StartError,
    load::{Loader, Version, Waiting},
};
use crate::{
    configuration::{Configuration, EndpointTransport},
    panics::{blocking, survived},
    remotes::Remotes,
    server::{Process, StateKeys, metrics::ReloadOutcome},
    watch::Snapshot,
};

/// The pause before another attempt, if a required remote could not be reached.
const REMOTE_RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// The most warnings that are remembered. Without a limit, a remote whose lists change all the time could use up the memory.
const MAX_WARNED: usize = 1_000;

/// A configuration that is being served, and what happens when it changes.
///
/// Servlets, the keys of state, and the members, introductions, headers, callers, rules, quotas and hooks of endpoints change at
/// once. Only clients of endpoints whose lists differ are notified. The log names changes that need a restart.
pub(super) struct Reload {
    process: Arc<Process>,
    endpoints: Arc<[Endpoint]>,
    loader: Loader,
    remotes: Remotes,
    files: Snapshot,
    /// The error of the last reload, if it failed because a remote could not be reached. Such a reload is tried again, even if no
    /// file changes.
    unreached: Option<String>,
    /// The configuration with which the service started.
    started: Arc<dyn Configuration>,
    /// The last one that could be read.
    current: Arc<dyn Configuration>,
    /// Whether the last version had keys of its own.
    has_state_keys: bool,
    /// What is served.
    version: Arc<Version>,
    /// The lists of its remotes.
    lists: Vec<watch::Receiver<Arc<RemoteLists>>>,
    /// The messages of the warnings about it so far.
    warned: Vec<String>,
}

impl Reload {
    /// `version` is what is being served.
    pub(super) fn new(
        process: &Arc<Process>,
        endpoints: &Arc<[Endpoint]>,
        loader: Loader,
        remotes: Remotes,
        version: Version,
    ) -> Self {
        remotes.are_served();
        let config = Arc::clone(&version.config);
        Self {
            process: Arc::clone(process),
            endpoints: Arc::clone(endpoints),
            loader,
            remotes,
            files: config.files().clone(),
            unreached: None,
            has_state_keys: config.settings().state_keys.is_some(),
            current: Arc::clone(&config),
            started: config,
            lists: lists_of(&version),
            warned: version.warned.clone(),
            version: Arc::new(version),
        }
    }

    /// Reloads the configuration whenever the file or a module that it names changes, and again if a remote could not be reached.
    /// Checks rules again whenever a remote has other lists. Never returns.
    pub(super) async fn run(mut self) {
        loop {
            let limit = self
                .unreached
                .as_ref()
                .map_or(Duration::MAX, |_| REMOTE_RETRY_INTERVAL);
            let files = self.files.clone();
            let mut changed = pin!(timeout(limit, files.changed()));
            let changed = loop {
                tokio::select! {
                    changed = &mut changed => break changed,
                    () = changed_lists(&mut self.lists) => {
                        survived("check of rules", Box::pin(self.check_rules())).await;
                    }
                }
            };
            // If loading panics, the next attempt waits for another change.
            let mut known = self.unreached.take();
            if let Ok(files) = changed {
                self.files = files;
                known = None;
            }
            let reloaded = survived("reload", Box::pin(self.reload(known))).await;
            let Some(outcome) = reloaded.unwrap_or(Some(ReloadOutcome::Failed)) else {
                continue;
            };
            self.process.reloaded(outcome);
            if outcome != ReloadOutcome::Failed {
                tracing::info!("reloaded {}", self.current.path().display());
            }
        }
    }

    /// Compares the rules with the tools that servlets listed when they were loaded, and those that remotes list now. Reports what is
    /// new. The rules stay as they are.
    async fn check_rules(&mut self) {
        let version = Arc::clone(&self.version);
        let check = move || {
            let remotes: Vec<_> = version.remotes.iter().map(current_mount).collect();
            version.config.check_rules(&version.loaded, &remotes)
        };
        let warnings = blocking(check).await;
        for warning in warnings {
            if self.warned.contains(&warning.message) {
                continue;
            }
            self.loader.warnings.report(&warning);
            if self.warned.len() >= MAX_WARNED {
                self.warned.clear();
            }
            self.warned.push(warning.message);
        }
    }

    /// Serves the current configuration. `known` is the last failure, if this is another attempt. Returns None, and logs nothing,
    /// if it fails in the same way.
    async fn reload(&mut self, known: Option<String>) -> Option<ReloadOutcome> {
        match self.load().await {
            Ok(version) => {
                let started = self.started.settings();
                for section in version.config.settings().needs_restart(started) {
                    tracing::warn!("`{section}` has changed: restart the server to apply it");
                }
                Some(self.serve(version))
            }
            Err(error) => {
                let message = chain(&error);
                if matches!(error, StartError::Remote(_)) {
                    self.unreached = Some(message.clone());
                }
                if known.as_ref() == Some(&message) {
                    return None;
                }
                tracing::error!("reload failed, still serving the previous version: {message}");
                Some(ReloadOutcome::Failed)
            }
        }
    }

    /// Loads the current configuration.
    async fn load(&mut self) -> Result<Version, StartError> {
        let current = Arc::clone(&self.current);
        let (files, config) = blocking(move || current.read_again()).await;
        self.files = files;
        let config = config.map_err(StartError::Config)?;
        self.current = Arc::clone(&config);
        let previous = Arc::new(self.with_current_lists());
        let remotes = (&self.remotes, Waiting::OnlyRequired);
        self.loader
            .load_config(config, Some(previous), remotes)
            .await
    }

    fn serve(&mut self, version: Version) -> ReloadOutcome {
        let Version {
            config,
            loaded,
            remotes,
            warned,
        } = &version;
        let settings = config.settings();
        match &settings.state_keys {
            Some(keys) => self.process.state_keys.replace(keys.clone()),
            // Keys that the file no longer has must not open anything.
            None if self.has_state_keys => self.process.state_keys.replace(StateKeys::default()),
            None => {}
        }
        self.has_state_keys = settings.state_keys.is_some();
        for endpoint in &*self.endpoints {
            let server = &endpoint.server;
            let Some(former) = &endpoint.configured else {
                // Endpoints that the file has now are served after a restart. Until then, everything is.
                server.replace(self.loader.finish(config.host_of_all(loaded, remotes)));
                continue;
            };
            let renewed = settings
                .endpoints
                .iter()
                .find(|new| new.name == former.name);
            // An endpoint that the file no longer has is served until the restart.
            let host = config.host_of(renewed.unwrap_or(former), loaded, remotes);
            // New rules and callers apply first, so that they decide on everything that is served from now on.
            if let Some(renewed) = renewed {
                server.replace_rules(&renewed.options.rules);
                server.0.access.replace_quotas(&renewed.options.quotas);
                let hook = config.servlet_of_hook(renewed, loaded);
                let hooks = renewed.options.hooks.clone();
                server.0.access.replace_hooks(hooks, hook);
            }
            // One that the file no longer has keeps its headers and callers. Those of the start could have keys that were removed since.
            let transport = renewed.map(|renewed| &renewed.transport);
            if let Some(EndpointTransport::Http { options, .. }) = transport {
                server.replace_headers(options.endpoint_headers());
                server.0.access.replace(options.auth.as_ref());
            }
            server.replace(self.loader.finish(host));
        }
        self.remotes.are_served();
        self.process.set_skipped(loaded.skipped_names());
        let is_complete = loaded.skipped.is_empty() && loaded.failed_reloads.is_empty();
        self.warned.clone_from(warned);
        self.lists = lists_of(&version);
        self.version = Arc::new(version);
        if is_complete {
            ReloadOutcome::Ok
        } else {
            ReloadOutcome::Partial
        }
    }

    /// All members. Those that an endpoint serves come from there, because it may have read their
    /// lists again.
    fn with_current_lists(&self) -> Host {
        let endpoints = self.endpoints.iter();
        let hosts: Vec<_> = endpoints.map(|one| one.server.host()).collect();
        let served = hosts.iter().flat_map(|host| host.servlets());
        let mut seen = HashSet::new();
        let mut mounts = Vec::new();
        for servlet in served.chain(self.version.loaded.host.servlets()) {
            if seen.insert((servlet.name(), servlet.origin())) {
                mounts.push(mount(servlet));
            }
        }
        Host::compose(mounts)
    }
}

/// The lists of the remotes of a version, as they change from now on. They may have changed since it was checked.
fn lists_of(version: &Version) -> Vec<watch::Receiver<Arc<RemoteLists>>> {
    let remotes = version
        .remotes
        .iter()
        .filter_map(|mount| mount.member.as_remote());
    let lists = remotes.map(|one| {
        let mut lists = one.remote().lists();
        lists.mark_changed();
        lists
    });
    lists.collect()
}

/// Waits until remotes have other lists.
async fn changed_lists(lists: &mut [watch::Receiver<Arc<RemoteLists>>]) {
    let each: Vec<_> = lists
        .iter_mut()
        .map(|lists| {
            Box::pin(async move {
                if lists.changed().await.is_err() {
                    // The remote has ended.
                    pending::<()>().await;
                }
            })
        })
        .collect();
    if each.is_empty() {
        return pending().await;
    }
    select_all(each).await;
    // One check is enough for all changes so far.
    lists.iter_mut().for_each(watch::Receiver::mark_unchanged);
}

fn current_mount(mount: &Mount) -> Mount {
    let remote = mount.member.as_remote().map(RemoteMember::remote);
    let current = remote.map(|remote| Arc::clone(remote).into());
    Mount {
        member: current.unwrap_or_else(|| mount.member.clone()),
        prefix: mount.prefix.clone(),
        filter: mount.filter.clone(),
    }
}

fn mount(servlet: &Arc<Servlet>) -> Mount {
    Mount {
        member: Arc::clone(servlet).into(),
        prefix: Prefix::default(),
        filter: Filter::default(),
    }
}
