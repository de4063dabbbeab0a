//! What a service needs of a configuration.

use std::{path::Path, sync::Arc};

use mcp_servlet_host::{Host, Loaded, Mount, Servlet};
use mcp_servlet_server::{
    Configuration, ConfigurationError, Endpoint, Settings, Warning, watch::Snapshot,
};

use super::{Config, ConfigError, Findings, Mode, Problem, Served};

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

    fn check_rules(&self, loaded: &Loaded, remotes: &[Mount]) -> Vec<Warning> {
        warnings(&self.findings_of_rules(Served {
            loaded,
            remotes: Some(remotes),
            not_ready: &[],
        }))
    }

    fn host_of(&self, endpoint: &Endpoint, loaded: &Loaded, remotes: &[Mount]) -> Host {
        let members = endpoint.members.as_deref();
        let host = self.host_of_members(members, loaded, remotes);
        self.with_approved_names(host, &endpoint.name)
            .with_search(endpoint.search.clone())
            .introduced(endpoint.introduction.clone())
    }

    fn host_of_all(&self, loaded: &Loaded, remotes: &[Mount]) -> Host {
        let host = self.host_of_members(None, loaded, remotes);
        self.with_approved_names(host, "")
            .introduced(self.introduction.clone())
    }

    fn servlet_of_hook(&self, endpoint: &Endpoint, loaded: &Loaded) -> Option<Arc<Servlet>> {
        let on_session = endpoint.options.hooks.on_session.as_ref()?;
        let mounts = self.members.mounts(&on_session.servlet, loaded, &[]);
        let servlet = mounts.first()?.member.as_servlet()?;
        Some(Arc::clone(servlet))
    }

    fn read_again(&self) -> (Snapshot, Result<Arc<dyn Configuration>, ConfigurationError>) {
        let (files, config) = Self::look_and_read(self.path(), Mode::Load, self.locks);
        match config {
            // Some programs empty the file before they write it.
            Ok(config) if config.source.1.trim().is_empty() => {
                let message = "the file is empty".to_owned();
                let problem = Problem {
                    span: 0..0,
                    message,
                };
                let error = ConfigError::wrong(config.source, vec![problem]);
                (files, Err(error.into()))
            }
            Ok(config) => (files, Ok(Arc::new(config))),
            Err(error) => (files, Err(error.into())),
        }
    }
}

/// What a service warns about.
fn warnings(findings: &Findings) -> Vec<Warning> {
    let warnings = findings.iter().filter_map(|finding| {
        let position = findings.position(finding);
        let message = format!("{position}: {}", finding.problem.message);
        let severity = finding.kind.severity()?;
        Some(Warning::new(severity, message, finding.help.clone()))
    });
    warnings.collect()
}
