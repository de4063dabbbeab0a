//! Reloads a configuration when it changes.

use std::{path::PathBuf, sync::Arc};

use mcp_servlet_host::{Host, Loaded};
use mcp_servlet_runtime::chain;

use super::{Config, Mode, remotes::Remotes};
use crate::{Server, watch::Snapshot};

/// Serves a configuration, and reloads it whenever the file or a module that it names changes.
///
/// The changed version is loaded next to the running one and replaces it only if loading succeeds.
/// Calls that have begun finish on the old version. `config` is the configuration that is being
/// served, and `remotes` are its remotes. Never returns.
pub async fn watch(server: &Server, path: PathBuf, config: Config, remotes: Remotes) {
    let mut files = config.files;
    loop {
        files.changed().await;
        let (previous, file) = (server.host(), path.clone());
        let load = tokio::task::spawn_blocking(move || load(&file, &previous));
        let loaded = match load.await {
            Ok((seen, loaded)) => {
                files = seen;
                loaded
            }
            Err(panic) => Err(panic.to_string()),
        };
        let loaded = match loaded {
            Ok((config, loaded)) => {
                let members = remotes.update(&config.remotes).await;
                members
                    .map(|members| (loaded, members))
                    .map_err(|error| chain(&error))
            }
            Err(error) => Err(error),
        };
        match loaded {
            Ok((loaded, members)) => {
                for problem in &loaded.skipped {
                    tracing::error!("servlet skipped: {}", chain(problem));
                }
                for problem in loaded.host.problems() {
                    tracing::warn!("{}", chain(problem));
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
                server.replace(Arc::new(loaded.host.joined(members)));
                tracing::info!("reloaded {}", path.display());
            }
            Err(error) => {
                tracing::error!("reload failed, still serving the previous version: {error}");
            }
        }
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
