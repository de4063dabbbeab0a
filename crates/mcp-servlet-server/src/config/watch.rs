//! Serves a configuration as it changes.

use std::{path::PathBuf, sync::Arc};

use mcp_servlet_host::{Host, Loaded};
use mcp_servlet_runtime::chain;

use super::{Config, Mode};
use crate::{Server, watch::Snapshot};

/// Lets a server serve what a configuration says, whenever it or a `.wasm` file that it names changes.
///
/// What is new is loaded beside what is served, and takes its place only if it can be loaded; calls that have begun
/// end with what they began with. `config` is what is served now. Never returns.
pub async fn watch(server: &Server, path: PathBuf, config: Config) {
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
        match loaded {
            Ok(loaded) => {
                for problem in &loaded.skipped {
                    tracing::error!("servlet skipped: {}", chain(problem));
                }
                for problem in loaded.host.problems() {
                    tracing::warn!("{}", chain(problem));
                }
                for problem in &loaded.kept {
                    tracing::error!("not reloaded, what was served stays: {}", chain(problem));
                }
                for unmet in loaded.unmet_needs() {
                    tracing::warn!("{unmet}");
                }
                server.replace(Arc::new(loaded.host));
                tracing::info!("reloaded {}", path.display());
            }
            Err(error) => tracing::error!("not reloaded, what was served stays: {error}"),
        }
    }
}

/// What a configuration says now, and the files that this depends on.
fn load(path: &std::path::Path, previous: &Host) -> (Snapshot, Result<Loaded, String>) {
    let (files, config) = Config::look_and_read(path, Mode::Load);
    let loaded = config
        .map_err(|error| chain(&error))
        .and_then(|config| config.load(Some(previous)).map_err(|error| chain(&error)));
    (files, loaded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_gone_is_told_with_its_cause() {
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
