//! What a service needs of a configuration.

use std::{path::Path, sync::Arc};

use mcp_servlet_host::{Host, Loaded, Mount, Servlet};
use mcp_servlet_server::{
    Configuration, ConfigurationError, Endpoint, Settings, Severity, Warning, watch::Snapshot,
};

use super::{Config, Findings, Mode, Served};

impl Configuration for Config {
    fn path(&self) -> &Path {
        &self.source.0
    }

    fn files(&self) -> &Snapshot {
        &self.files
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn load(&self, previous: Option<&Host>) -> Result<Loaded, ConfigurationError> {
        Ok(self.load(previous)?)
    }

    fn check_loaded(
        &self,
        loaded: &Loaded,
        remotes: &[Mount],
    ) -> Result<Vec<Warning>, ConfigurationError> {
        self.prove_required(loaded, remotes)?;
        let findings = self.findings(Served {
            loaded,
            remotes: Some(remotes),
            not_ready: &[],
        });
        Ok(warnings(&findings))
    }

    fn host_of(&self, endpoint: &Endpoint, loaded: &Loaded, remotes: &[Mount]) -> Host {
        self.host_of(endpoint, loaded, remotes)
    }

    fn host_of_all(&self, loaded: &Loaded, remotes: &[Mount]) -> Host {
        self.host_of_all(loaded, remotes)
    }

    fn servlet_of_hook(&self, endpoint: &Endpoint, loaded: &Loaded) -> Option<Arc<Servlet>> {
        self.servlet_of_hook(endpoint, loaded)
    }

    fn read_again(&self) -> (Snapshot, Result<Arc<dyn Configuration>, ConfigurationError>) {
        let (files, config) = Self::look_and_read(self.path(), Mode::Load, self.locks);
        match config {
            Ok(config) => (files, Ok(Arc::new(config))),
            Err(error) => (files, Err(error.into())),
        }
    }
}

/// What a service warns about: all findings but proofs.
fn warnings(findings: &Findings) -> Vec<Warning> {
    let is_reported = |severity| {
        !matches!(
            severity,
            Severity::Proved | Severity::Unproved | Severity::Inferred
        )
    };
    let reported = findings.iter().filter(|one| is_reported(one.severity));
    let warnings = reported.map(|finding| {
        let position = findings.position(finding);
        let message = format!("{position}: {}", finding.problem.message);
        Warning::new(finding.severity, message, finding.help.clone())
    });
    warnings.collect()
}
