//! Reloads a configuration when it changes.

use std::{path::PathBuf, sync::Arc};

use mcp_servlet_host::{Host, Loaded};
use mcp_servlet_runtime::chain;

use super::{Config, Mode};
use crate::{Server, watch::Snapshot};

/// Serves a configuration, and reloads it whenever the file or a module that it names changes.
///
/// The changed version is loaded next to the running one and replaces it only if loading succeeds.
/// Calls that have begun finish on the old version. `config` is the configuration that is being
/// served. Never returns.
pub async fn watch(server: &Server, path: PathBuf, config: Config) {
    let mut watch = Watch::new(path, config);
    loop {
        let (_, loaded) = watch.next(|| server.host()).await;
        warn_of(&loaded.host);
        server.replace(Arc::new(loaded.host));
        watch.report();
    }
}

/// A configuration that is being served, and its files.
pub(crate) struct Watch {
    path: PathBuf,
    files: Snapshot,
    /// The configuration with which the server started.
    started: Config,
}

impl Watch {
    /// `config` is the configuration that is being served.
    pub(crate) fn new(path: PathBuf, config: Config) -> Self {
        Self {
            path,
            files: config.files.clone(),
            started: config,
        }
    }

    /// The next version that can be loaded. `previous` is what is served when it changes.
    pub(crate) async fn next(&mut self, previous: impl Fn() -> Arc<Host>) -> (Config, Loaded) {
        loop {
            self.files.changed().await;
            let (previous, file) = (previous(), self.path.clone());
            let load = tokio::task::spawn_blocking(move || load(&file, &previous));
            let loaded = match load.await {
                Ok((seen, loaded)) => {
                    self.files = seen;
                    loaded
                }
                Err(panic) => Err(panic.to_string()),
            };
            match loaded {
                Ok((config, loaded)) => {
                    warn(&loaded);
                    for section in config.needs_restart(&self.started) {
                        tracing::warn!("`{section}` has changed: restart the server to apply it");
                    }
                    return (config, loaded);
                }
                Err(error) => {
                    tracing::error!("reload failed, still serving the previous version: {error}");
                }
            }
        }
    }

    /// Logs that the new version is served.
    pub(crate) fn report(&self) {
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
        let loaded = config.load(Some(previous)).map_err(|error| chain(&error))?;
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
