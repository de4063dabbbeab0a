//! Loads a configuration again when it changes.

use std::{path::PathBuf, sync::Arc};

use mcp_servlet_host::{Host, Loaded, Mount};
use mcp_servlet_runtime::chain;

use super::{Config, Findings, Locks, Mode, Served, remotes::Remotes};
use crate::{
    Server,
    server::metrics::{Metrics, ReloadOutcome},
    watch::Snapshot,
};

/// A version of the configuration that can be served.
pub(crate) struct Renewed {
    pub(crate) config: Config,
    pub(crate) loaded: Loaded,
    pub(crate) remotes: Vec<Mount>,
}

/// A configuration that is being served, and its files.
pub(crate) struct Watch {
    path: PathBuf,
    files: Snapshot,
    /// The configuration with which the server started.
    started: Config,
    /// Whether the last version was used with its lock.
    locks: Locks,
    remotes: Remotes,
    /// The servlets that the last version skips.
    skipped: Vec<String>,
    /// How the last reload ended.
    outcome: ReloadOutcome,
}

impl Renewed {
    /// Checks what can only be checked with the tools.
    fn proven(self) -> Result<(Self, Findings), String> {
        let proven = self.config.prove_required(&self.loaded, &self.remotes);
        proven.map_err(|error| chain(&error))?;
        let findings = self.config.findings(Served {
            loaded: &self.loaded,
            remotes: Some(&self.remotes),
            not_ready: &[],
        });
        Ok((self, findings))
    }
}

impl Watch {
    /// `config` is the configuration that is being served, and `remotes` are its remotes.
    pub(crate) fn new(path: PathBuf, config: Config, remotes: Remotes) -> Self {
        remotes.are_served();
        Self {
            path,
            files: config.files.clone(),
            locks: config.locks,
            started: config,
            remotes,
            skipped: Vec::new(),
            outcome: ReloadOutcome::Ok,
        }
    }

    /// The next version that can be loaded. `previous` is what is served when it changes.
    pub(crate) async fn next(
        &mut self,
        metrics: &Metrics,
        previous: impl Fn() -> Arc<Host>,
    ) -> Renewed {
        loop {
            // If loading panics, the next attempt waits for another change.
            self.files = self.files.changed().await;
            match self.load(previous()).await {
                Ok(renewed) => {
                    let loaded = &renewed.loaded;
                    self.skipped = loaded.skipped_names();
                    let is_complete = loaded.skipped.is_empty() && loaded.failed_reloads.is_empty();
                    self.outcome = if is_complete {
                        ReloadOutcome::Ok
                    } else {
                        ReloadOutcome::Partial
                    };
                    for section in renewed.config.needs_restart(&self.started) {
                        tracing::warn!("`{section}` has changed: restart the server to apply it");
                    }
                    return renewed;
                }
                Err(error) => {
                    metrics.reloaded(ReloadOutcome::Failed);
                    tracing::error!("reload failed, still serving the previous version: {error}");
                }
            }
        }
    }

    /// Loads the servlets of the current configuration, and connects to its remotes.
    async fn load(&mut self, previous: Arc<Host>) -> Result<Renewed, String> {
        let (file, locks) = (self.path.clone(), self.locks);
        let load = tokio::task::spawn_blocking(move || load(&file, locks, &previous));
        let (files, loaded) = load.await.map_err(|panic| panic.to_string())?;
        self.files = files;
        let (config, loaded) = loaded?;
        self.locks = config.locks;
        let remotes = self.remotes.update(&config.remotes).await;
        let remotes = remotes.map_err(|error| chain(&error))?;
        let renewed = Renewed {
            config,
            loaded,
            remotes,
        };
        // Remotes decide how much work their schemas are.
        let proven = tokio::task::spawn_blocking(move || renewed.proven());
        let (renewed, findings) = proven.await.map_err(|panic| panic.to_string())??;
        findings.log();
        Ok(renewed)
    }

    /// Notes that the new version is served, and ends the remotes of the previous one.
    pub(crate) fn report(&mut self, server: &Server) {
        self.remotes.are_served();
        server.set_skipped(std::mem::take(&mut self.skipped));
        server.0.process.metrics.reloaded(self.outcome);
        tracing::info!("reloaded {}", self.path.display());
    }
}

/// Loads the current configuration. The snapshot has the files that the outcome depends on.
fn load(
    path: &std::path::Path,
    locks: Locks,
    previous: &Host,
) -> (Snapshot, Result<(Config, Loaded), String>) {
    let (files, config) = Config::look_and_read(path, Mode::Load, locks);
    let loaded = config.map_err(|error| chain(&error)).and_then(|config| {
        let loaded = config.load(Some(previous));
        let loaded = loaded.map_err(|error| chain(&error))?;
        Ok((config, loaded))
    });
    (files, loaded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_why_a_file_cannot_be_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let nothing = Host::new(Vec::new());
        let (_, loaded) = load(&folder.path().join("servlet.toml"), Locks::Found, &nothing);
        let error = loaded.expect_err("no configuration");
        assert!(
            error.contains("cannot read") && error.contains("os error"),
            "{error}"
        );
    }
}
