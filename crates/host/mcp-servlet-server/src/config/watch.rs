//! Reloads a configuration when it changes.

use std::{path::PathBuf, sync::Arc};

use mcp_servlet_host::{Host, Loaded, Mount};
use mcp_servlet_runtime::chain;

use super::{Config, Mode, remotes::Remotes};
use crate::{Server, panics::survived, watch::Snapshot};

/// Serves a configuration, and reloads it whenever the file or a module that it names changes.
///
/// The changed version is loaded next to the running one and replaces it only if loading succeeds.
/// Calls that have begun finish on the old version. `config` is the configuration that is being
/// served, and `remotes` are its remotes. Never returns.
pub async fn watch(server: &Server, path: PathBuf, config: Config, remotes: Remotes) {
    let mut watch = Watch::new(path, config, remotes);
    loop {
        survived("reload", reload(server, &mut watch)).await;
    }
}

async fn reload(server: &Server, watch: &mut Watch) {
    let Renewed {
        config,
        loaded,
        remotes,
    } = watch.next(|| server.host()).await;
    let host = if config.endpoints.is_empty() {
        loaded.host.joined(remotes)
    } else {
        // Endpoints are served after a restart. Until then, everything is.
        config.host_of_all(&loaded, &remotes)
    };
    warn_of(&host);
    server.replace(Arc::new(host));
    watch.report();
}

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
    remotes: Remotes,
}

impl Watch {
    /// `config` is the configuration that is being served, and `remotes` are its remotes.
    pub(crate) fn new(path: PathBuf, config: Config, remotes: Remotes) -> Self {
        remotes.are_served();
        Self {
            path,
            files: config.files.clone(),
            started: config,
            remotes,
        }
    }

    /// The next version that can be loaded. `previous` is what is served when it changes.
    pub(crate) async fn next(&mut self, previous: impl Fn() -> Arc<Host>) -> Renewed {
        loop {
            // If loading panics, the next attempt waits for another change.
            self.files = self.files.changed().await;
            match self.load(previous()).await {
                Ok(renewed) => {
                    warn(&renewed.loaded);
                    for section in renewed.config.needs_restart(&self.started) {
                        tracing::warn!("`{section}` has changed: restart the server to apply it");
                    }
                    return renewed;
                }
                Err(error) => {
                    tracing::error!("reload failed, still serving the previous version: {error}");
                }
            }
        }
    }

    /// Loads the servlets of the current configuration, and connects to its remotes.
    async fn load(&mut self, previous: Arc<Host>) -> Result<Renewed, String> {
        let file = self.path.clone();
        let load = tokio::task::spawn_blocking(move || load(&file, &previous));
        let (files, loaded) = load.await.map_err(|panic| panic.to_string())?;
        self.files = files;
        let (config, loaded) = loaded?;
        let remotes = self.remotes.update(&config.remotes).await;
        let remotes = remotes.map_err(|error| chain(&error))?;
        let proven = config.prove_required(&loaded, &remotes);
        proven.map_err(|error| chain(&error))?;
        Ok(Renewed {
            config,
            loaded,
            remotes,
        })
    }

    /// Logs that the new version is served, and ends the remotes of the previous one.
    pub(crate) fn report(&self) {
        self.remotes.are_served();
        tracing::info!("reloaded {}", self.path.display());
    }
}

/// Logs what is left out of the lists.
pub(crate) fn warn_of(host: &Host) {
    for problem in host.problems() {
        tracing::warn!("{}", chain(problem));
    }
}

/// Logs what could not be loaded.
fn warn(loaded: &Loaded) {
    for problem in &loaded.skipped {
        tracing::error!("servlet skipped: {}", chain(problem));
    }
    for problem in &loaded.failed_reloads {
        tracing::error!(
            "still serving the previous version of a servlet that failed to reload: {}",
            chain(problem)
        );
    }
    for unmet in loaded.unmet_needs() {
        tracing::warn!("{unmet}");
    }
}

/// Loads the current configuration. The snapshot has the files that the outcome depends on.
fn load(path: &std::path::Path, previous: &Host) -> (Snapshot, Result<(Config, Loaded), String>) {
    let (files, config) = Config::look_and_read(path, Mode::Load);
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
        let (_, loaded) = load(&folder.path().join("servlet.toml"), &nothing);
        let error = loaded.expect_err("no configuration");
        assert!(
            error.contains("cannot read") && error.contains("os error"),
            "{error}"
        );
    }
}
