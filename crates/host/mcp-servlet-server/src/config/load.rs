//! Loads what a configuration names.

use mcp_servlet_host::{Loaded, Mount, VirtualToolError};

use super::{Config, ConfigError};

impl Config {
    /// Loads the servlets, and proves that the virtual tools fit them; see [`Loaded::load`].
    ///
    /// # Errors
    /// [`ConfigError`] if a servlet with `on_failure = "fail"` cannot be loaded, or with every
    /// problem of the virtual tools.
    pub fn load(&self, previous: Option<&mcp_servlet_host::Host>) -> Result<Loaded, ConfigError> {
        let mut loaded = Loaded::load(&self.entries, previous).map_err(ConfigError::Load)?;
        let host = loaded.host.introduced(self.introduction.clone());
        loaded.host = host.with_schemas_for(self.schemas_for);
        if self.endpoints.is_empty() {
            let after = loaded.host.members().len();
            let tools = self.virtual_tools_after(after, |_| true);
            loaded.host = loaded.host.with_virtual_tools(tools, Vec::new());
        }
        self.prove(&loaded, &[])?;
        Ok(loaded)
    }

    /// Checks that the virtual tools fit the servlets and remotes that they call. [`load`](Self::load) does that for
    /// servlets. Tools of remotes that were not reached are not checked.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem.
    pub fn prove(&self, loaded: &Loaded, remotes: &[Mount]) -> Result<(), ConfigError> {
        let endpoints = self.endpoints.iter();
        let hosts = endpoints.map(|endpoint| self.host_of(endpoint, loaded, remotes));
        let has_more = self.endpoints.is_empty() && !remotes.is_empty();
        let all = has_more.then(|| self.host_of_all(loaded, remotes));
        let mut errors = loaded.host.virtual_tool_errors().to_vec();
        for host in hosts.chain(all) {
            for error in host.virtual_tool_errors() {
                if !errors.contains(error) {
                    errors.push(error.clone());
                }
            }
        }
        if errors.is_empty() {
            return Ok(());
        }
        Err(self.wrong_tools(&errors))
    }

    fn wrong_tools(&self, errors: &[VirtualToolError]) -> ConfigError {
        let problems = errors.iter().map(|error| self.bundles.problem(error));
        let mut problems: Vec<_> = problems.collect();
        problems.sort_by_key(|problem| problem.span.start);
        let (path, text) = self.source.clone();
        ConfigError::Wrong {
            path,
            text,
            problems,
        }
    }

    /// How many virtual tools the configuration has.
    pub fn virtual_tools(&self) -> usize {
        self.bundles.tools().len()
    }
}
