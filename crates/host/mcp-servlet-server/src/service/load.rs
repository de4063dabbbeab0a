//! Loads what a plan names.

use std::sync::Arc;

use mcp_servlet_host::{Entry, Host, Loaded, Mount, Recorder, circle_of_calls};
use mcp_servlet_schema::Provider;

use super::{StartError, Warnings};
use crate::{configuration::Configuration, panics::blocking, remotes::Remotes};

/// What applies to everything that a service loads.
#[derive(Clone, Debug)]
pub(super) struct Loader {
    pub(super) warnings: Warnings,
    pub(super) schemas_for: Option<Provider>,
    pub(super) recorder: Option<Arc<dyn Recorder>>,
}

/// A version of a configuration that can be served.
pub(super) struct Version {
    pub(super) config: Arc<dyn Configuration>,
    pub(super) loaded: Loaded,
    pub(super) remotes: Vec<Mount>,
    /// The messages of the warnings about it.
    pub(super) warned: Vec<String>,
}

/// Whether a service waits for remotes that are not required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// For an attempt to connect to each of them.
    AllTried,
    /// No.
    OnlyRequired,
}

impl Loader {
    /// Loads servlets. Fails if there is none.
    pub(super) async fn load_entries(
        &self,
        entries: Vec<Entry>,
        previous: Option<Arc<Host>>,
    ) -> Result<Loaded, StartError> {
        let mut loaded =
            blocking(move || Loaded::load(&entries, previous.as_deref()).map_err(Box::new)).await?;
        let servlets = loaded.host.servlets().iter().map(Arc::as_ref);
        if let Some(circle) = circle_of_calls(servlets) {
            return Err(StartError::Circle(circle));
        }
        self.warnings.of_skipped(&loaded.skipped);
        self.warnings.of_skipped(&loaded.failed_reloads);
        self.warnings.of_needs(loaded.unmet_needs());
        require_servlets(&loaded)?;
        loaded.host = loaded.host.with_schemas_for(self.schemas_for);
        self.warnings.of_host(&loaded.host);
        Ok(loaded)
    }

    /// Loads the servlets of a configuration, connects to its remotes, and checks what can only be checked with both.
    pub(super) async fn load_config(
        &self,
        config: Arc<dyn Configuration>,
        previous: Option<Arc<Host>>,
        (remotes, waiting): (&Remotes, Waiting),
    ) -> Result<Version, StartError> {
        let shared = Arc::clone(&config);
        let loaded = blocking(move || shared.load(previous.as_deref()))
            .await
            .map_err(StartError::Config)?;
        let entries = &config.settings().remotes;
        let mut mounts = remotes.update(entries).await?;
        if waiting == Waiting::AllTried && !entries.is_empty() {
            for error in remotes.tried().await {
                self.warnings.of_remote(&error);
            }
            // They have their lists now.
            mounts = remotes.update(entries).await?;
        }
        let version = Version {
            config,
            loaded,
            remotes: mounts,
            warned: Vec::new(),
        };
        let this = self.clone();
        // Remotes decide how much work their schemas are.
        blocking(move || this.proven(version)).await
    }

    /// Checks what can only be checked with the tools.
    fn proven(&self, mut version: Version) -> Result<Version, StartError> {
        let Version {
            config,
            loaded,
            remotes,
            warned,
        } = &mut version;
        let warnings = config.check_loaded(loaded, remotes);
        for warning in warnings.map_err(StartError::Config)? {
            self.warnings.report(&warning);
            warned.push(warning.message);
        }
        Ok(version)
    }

    /// A host as clients get it.
    pub(super) fn finish(&self, host: Host) -> Arc<Host> {
        Arc::new(match &self.recorder {
            Some(recorder) => host.with_recorder(Arc::clone(recorder)),
            None => host,
        })
    }
}

/// Fails if no servlet could be loaded.
pub(super) fn require_servlets(loaded: &Loaded) -> Result<(), StartError> {
    if loaded.host.servlets().is_empty() {
        return Err(StartError::NoServlet);
    }
    Ok(())
}
