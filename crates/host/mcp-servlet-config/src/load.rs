//! Loads what a configuration names.

use mcp_servlet_host::{Host, LoadError, Loaded, Member, Mount, VirtualToolError};
use mcp_servlet_server::Configuration as _;

use super::{Config, ConfigError, Problem, problem::position_in_words};

impl Config {
    /// Loads the servlets, and proves that the virtual tools fit them; see [`Loaded::load`].
    ///
    /// # Errors
    /// [`ConfigError`] if a servlet with `on_failure = "fail"` cannot be loaded, or with every
    /// problem of the virtual tools.
    pub fn load(&self, previous: Option<&mcp_servlet_host::Host>) -> Result<Loaded, ConfigError> {
        let loaded = self.load_unproven(previous)?;
        self.prove(&loaded, &[])?;
        Ok(loaded)
    }

    /// As [`load`](Self::load), but without the proof, which [`prove`](Self::prove) gives.
    ///
    /// # Errors
    /// [`ConfigError`] if a servlet with `on_failure = "fail"` cannot be loaded.
    pub fn load_unproven(
        &self,
        previous: Option<&mcp_servlet_host::Host>,
    ) -> Result<Loaded, ConfigError> {
        let mut loaded =
            Loaded::load(&self.entries, previous).map_err(|failed| self.not_loaded(failed))?;
        let host = loaded.host.introduced(self.introduction.clone());
        loaded.host = host.with_schemas_for(self.schemas_for);
        Ok(loaded)
    }

    /// Checks that the virtual tools fit the servlets and remotes that they call, and that rules fit the tools that they name.
    /// [`load`](Self::load) does that for servlets. Tools of remotes that were not reached are not checked. If the file has
    /// [mistakes](Self::has_mistakes), only virtual tools are checked, because rules and grants may name parts that are left out.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem.
    pub fn prove(&self, loaded: &Loaded, remotes: &[Mount]) -> Result<(), ConfigError> {
        let endpoints = self.settings.endpoints.iter();
        let hosts = endpoints.map(|endpoint| {
            let host = self.host_of(endpoint, loaded, remotes);
            (Some(endpoint.name.as_str()), host)
        });
        let has_none = self.settings.endpoints.is_empty();
        let all = has_none.then(|| (None, self.host_of_all(loaded, remotes)));
        let unlisted = self
            .unlisted_bundles()
            .map(|bundle| (None, self.host_of_bundle(bundle, loaded, remotes)));
        let mut problems = self.mistakes.clone();
        for (endpoint, host) in hosts.chain(all).chain(unlisted) {
            for problem in self.problems_at(endpoint, &host, loaded, remotes) {
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
        if !self.has_mistakes() {
            problems.extend(self.problems_of_rules(loaded, remotes));
            problems.extend(self.problems_of_shapes(loaded, remotes));
            problems.extend(self.problems_of_grants(loaded, remotes));
            problems.extend(self.problems_of_hooks(loaded));
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(ConfigError::wrong(self.source.clone(), problems))
    }

    /// As [`prove`](Self::prove), but only with those of the remotes without which the server does not start. What others list
    /// must not prevent it from serving the rest.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem.
    pub fn prove_required(&self, loaded: &Loaded, remotes: &[Mount]) -> Result<(), ConfigError> {
        let is_required = |mount: &&Mount| {
            let mut entries = self.settings.remotes.iter();
            entries.any(|entry| entry.required && entry.name == mount.member.name())
        };
        let required: Vec<_> = remotes.iter().filter(is_required).cloned().collect();
        if required.is_empty() {
            return Ok(());
        }
        self.prove(loaded, &required)
    }

    /// The problems of the virtual tools of an endpoint, or of a server without endpoints, and of names that its search has.
    fn problems_at(
        &self,
        endpoint: Option<&str>,
        host: &Host,
        loaded: &Loaded,
        remotes: &[Mount],
    ) -> Vec<Problem> {
        let located = |error: &VirtualToolError| {
            let VirtualToolError { bundle, tool, .. } = error;
            let place = (bundle.as_str(), tool.as_str());
            let mut problem = self.bundles.problem(place, &error.problem, &self.source.1);
            let is_owner = |member: &&Member| error.owner.as_deref() == Some(member.name());
            if let Some(owner) = host.members().find(is_owner) {
                let spans = self.members.spans_of(owner.name(), loaded, remotes);
                let start = spans.map(|spans| spans.section.start);
                problem.message = self.same_name(error, endpoint, owner, start);
            }
            problem
        };
        let problems = host.virtual_tool_errors().iter().map(located);
        let names = host.problems_of_members().filter_map(|(member, problem)| {
            let is_name = matches!(problem, LoadError::SearchName { .. });
            let spans = self.members.spans_of(member?.name(), loaded, remotes);
            is_name.then(|| Problem {
                span: spans.map_or(0..0, |spans| spans.section.clone()),
                message: problem.to_string(),
            })
        });
        problems.chain(names).collect()
    }

    /// The message about a virtual tool with the name of another tool, which `owner` has.
    fn same_name(
        &self,
        error: &VirtualToolError,
        endpoint: Option<&str>,
        owner: &Member,
        start: Option<usize>,
    ) -> String {
        let VirtualToolError { bundle, tool, .. } = error;
        let subject = endpoint.map_or_else(
            || "there are".to_owned(),
            |endpoint| format!("endpoint `{endpoint}` would have"),
        );
        let (kind, name, origin) = (owner.kind(), owner.name(), owner.origin());
        let position = start
            .map(|start| format!(" at {}", position_in_words(&self.source.1, start)))
            .unwrap_or_default();
        format!(
            "{subject} two tools `{tool}`: of bundle `{bundle}` here, and of {kind} `{name}` (`{origin}`){position}; give that {kind} another prefix"
        )
    }

    /// How many virtual tools the configuration has.
    pub fn virtual_tools(&self) -> usize {
        self.bundles.tools().len()
    }
}
