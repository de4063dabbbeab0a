//! How an MCP client reaches the server of a command line.

use std::path::PathBuf;

use clap::ValueEnum as _;
use mcp_client_config::{Connection, Transport};
use mcp_servlet_common::public_url;
use mcp_servlet_config::Config;
use mcp_servlet_host::UnmetNeeds;
use mcp_servlet_runtime::{Module, Source};

use super::options::Options;
use crate::{
    can,
    clients::{self, Client},
    failure::{Failure, Kind},
    sign::named_keys,
    variable::Variable,
    warnings::warn_of_needs,
};

/// A server, for the file of a client.
pub(crate) struct ClientEntry {
    /// The name of the server.
    pub(crate) name: String,
    pub(crate) connection: Connection,
    /// The configuration values that the client passes.
    variables: Vec<Variable>,
    /// What is left out because it may be secret.
    hidden: Vec<String>,
    unmet: Vec<UnmetNeeds>,
    /// What each servlet can do.
    can: Vec<String>,
}

impl ClientEntry {
    /// A server at a URL.
    pub(crate) fn at_url(name: String, url: String) -> Self {
        Self {
            name,
            connection: clients::at_url(url, Transport::Auto),
            variables: Vec::new(),
            hidden: Vec::new(),
            unmet: Vec::new(),
            can: Vec::new(),
        }
    }

    /// What each servlet can do, in words.
    pub(crate) fn can(&self) -> &[String] {
        &self.can
    }

    /// The same with the values of environment variables.
    pub(crate) fn with_values(mut self) -> Result<Self, Failure> {
        let resolved = clients::with_values(&self.connection);
        self.connection = resolved.map_err(|problem| Failure::new(Kind::Usage, problem))?;
        self.variables.clear();
        Ok(self)
    }

    /// The environment variables that have no value in the file of a client yet.
    pub(crate) fn without_values(&self, client: Client) -> Vec<&str> {
        if !clients::leaves_values_empty(client) {
            return Vec::new();
        }
        let names = self.variables.iter().map(|variable| variable.name.as_str());
        names.collect()
    }

    /// What the entry leaves out because it may be secret.
    pub(crate) fn hidden(&self) -> &[String] {
        &self.hidden
    }

    /// Tells the user what to add to the entry.
    pub(crate) fn note(&self, client: Client) {
        clients::note_hidden_values(self.hidden.iter().cloned());
        clients::note_variables(client, &self.variables);
        self.unmet.iter().for_each(warn_of_needs);
    }
}

fn can(name: &str, module: &Module) -> String {
    format!("`{name}` can {}", can::in_words(can::imports(module)))
}

impl Options {
    /// The entry of this server.
    pub(crate) fn client_entry(
        &self,
        config: Option<&(PathBuf, Config)>,
    ) -> Result<ClientEntry, Failure> {
        let name = self.name(config);
        let mut unmet: Vec<_> = self.unmet_needs(config).collect();
        // A server with a URL is started by someone else, who gives it its options.
        let (connection, variables) = if let Some(connection) = self.remote_connection(config)? {
            (connection, Vec::new())
        } else {
            let variables = self.variables(&name, &mut unmet);
            (self.command(config, &variables)?, variables)
        };
        Ok(ClientEntry {
            name,
            connection,
            variables,
            hidden: self.hidden().collect(),
            unmet,
            can: self
                .modules()
                .map(|(name, module)| can(&name, &module))
                .collect(),
        })
    }

    /// The environment variables with configuration values: those of the options, unless a servlet declares them as no
    /// secret, and one for each required key that the options do not set. Removes these keys from the unmet needs.
    fn variables(&self, server: &str, unmet: &mut Vec<UnmetNeeds>) -> Vec<Variable> {
        let modules: Vec<_> = self.modules().map(|(_, module)| module).collect();
        let is_public = |key: &str| {
            let mut declared = modules.iter().filter_map(|module| module.needs().key(key));
            let first = declared.next();
            first.is_some_and(|first| !first.secret && declared.all(|other| !other.secret))
        };
        let mut variables = self.limits.variables(server, is_public);
        for needs in &mut *unmet {
            for key in std::mem::take(&mut needs.missing) {
                if variables.iter().all(|known| known.key != key.name) {
                    let name = key.variable(&needs.servlet);
                    variables.push(Variable {
                        key: key.name,
                        name,
                    });
                }
            }
        }
        unmet.retain(|needs| !needs.is_empty());
        variables
    }

    /// The server's name: from the configuration, or else from the served files.
    fn name(&self, config: Option<&(PathBuf, Config)>) -> String {
        let introduced = config.and_then(|(_, config)| config.introduction.name.clone());
        let first = || self.files().first().map(|file| Source::parse(file).name());
        introduced.or_else(first).unwrap_or_default()
    }

    /// How a client connects to the URL of the server. None if clients start it.
    fn remote_connection(
        &self,
        config: Option<&(PathBuf, Config)>,
    ) -> Result<Option<Connection>, Failure> {
        let config = config.map(|(_, config)| config);
        let http = config.and_then(Config::url).or(self.transports.url()?);
        let sse = || config.and_then(Config::sse_url);
        let http = http.map(|url| clients::at_url(url, Transport::Http));
        Ok(http.or_else(|| sse().map(|url| clients::at_url(url, Transport::Sse))))
    }

    /// How a client starts this server.
    fn command(
        &self,
        config: Option<&(PathBuf, Config)>,
        variables: &[Variable],
    ) -> Result<Connection, Failure> {
        let mut arguments = vec!["serve".to_owned()];
        for file in self.files() {
            arguments.push(match Source::parse(file) {
                Source::File(path) => clients::absolute(&path)?,
                _ => public_url(file),
            });
        }
        if let Some(prefix) = self.prefix.and_then(|prefix| prefix.to_possible_value()) {
            arguments.extend(["--prefix".to_owned(), prefix.get_name().to_owned()]);
        }
        if let Some(provider) = self.schemas_for {
            arguments.extend(["--schemas-for".to_owned(), provider.name().to_owned()]);
        }
        arguments.extend(self.limits.arguments(variables)?);
        arguments.extend(self.transports.arguments()?);
        let of_config = config.into_iter().flat_map(|(_, config)| &config.variables);
        let names = variables.iter().map(|variable| &variable.name);
        clients::this_command(arguments, of_config.chain(names))
    }

    /// The values that [`Options::command`] leaves out because they may be secret.
    fn hidden(&self) -> impl Iterator<Item = String> {
        let urls = self
            .files()
            .iter()
            .filter_map(|file| clients::hidden_url(&Source::parse(file)));
        urls.chain(self.limits.hidden())
    }

    /// The needs that the options do not meet; none with a configuration.
    fn unmet_needs(&self, config: Option<&(PathBuf, Config)>) -> impl Iterator<Item = UnmetNeeds> {
        let options = self.limits.options_here();
        let modules = config.is_none().then(|| self.modules());
        modules
            .into_iter()
            .flatten()
            .filter_map(move |(name, module)| {
                let mut unmet = UnmetNeeds::of(&name, module.needs(), &options)?;
                unmet
                    .missing
                    .retain(|key| !self.limits.take_from_environment(&key.name));
                (!unmet.is_empty()).then_some(unmet)
            })
    }

    /// The named modules, except those that cannot be read.
    fn modules(&self) -> impl Iterator<Item = (String, Module)> {
        let sources = self.sources().into_iter().flatten();
        sources.filter_map(|source| Some((source.name(), source.module().ok()?)))
    }

    /// The named servlets, and those in named folders.
    fn sources(&self) -> Result<Vec<Source>, Failure> {
        let mut sources = Vec::new();
        for file in self.files() {
            let source = self.limits.under_policy(Source::parse(file))?;
            sources.extend(source.expand().into_iter().flatten());
        }
        Ok(sources)
    }

    /// Who has signed each servlet, in words.
    pub(crate) fn signers(&self) -> Result<Vec<String>, Failure> {
        let mut lines = Vec::new();
        for source in self.sources()? {
            let name = source.name();
            if !source.signers().is_empty() {
                lines.push(format!("`{name}` must be signed as `--policy` asks"));
                continue;
            }
            lines.extend(match named_keys(&source) {
                None => None,
                Some(Ok(keys)) if keys.is_empty() => Some(format!("`{name}` is not signed")),
                Some(Ok(keys)) => Some(format!(
                    "`{name}` is signed with the key {}, as its signature says; nothing verifies it",
                    keys.join(", ")
                )),
                Some(Err(problem)) => Some(format!("the signers of `{name}` are unknown: {problem}")),
            });
        }
        Ok(lines)
    }
}
