//! What is served, and with which permissions.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use mcp_servlet_config::{Config, ConfigError};
use mcp_servlet_host::Prefix;
use mcp_servlet_schema::Provider;
use mcp_servlet_server::Plan;

use super::transports::Transports;
use crate::{
    failure::{Failure, Kind},
    limits::Limits,
    session::is_config,
};

// What a server serves, and with which permissions.
// Not a doc comment: clap would use it as the description of the command.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The servlets: `.wasm` files, directories of them, URLs or `oci://` references, which may end in `#sha256=` and a
    /// digest; or one configuration file such as `servlet.toml`, which is reloaded when it or one of its servlets changes
    #[arg(required = true)]
    files: Vec<String>,

    /// The prefix of the names of tools and prompts
    ///
    /// [default: auto]
    #[arg(long, value_enum)]
    pub(super) prefix: Option<PrefixChoice>,

    /// Rewrite input schemas for this model provider; see the guide on hosts
    #[arg(long, value_name = "PROVIDER")]
    pub(super) schemas_for: Option<Provider>,

    #[command(flatten)]
    pub(super) transports: Transports,

    #[command(flatten)]
    pub(super) limits: Limits,
}

/// The prefix of the names of tools and prompts.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum PrefixChoice {
    /// The servlet's name, for names that another servlet has as well
    #[default]
    Auto,
    /// No prefix
    Never,
    /// The servlet's name, for all names
    Name,
}

impl Options {
    /// The servlets, as they are named.
    pub(crate) fn files(&self) -> &[String] {
        &self.files
    }

    /// Whether an option was given that belongs in the configuration.
    pub(crate) fn has_settings(&self) -> bool {
        self.limits.are_given() || self.prefix.is_some() || self.schemas_for.is_some()
    }

    /// The configuration, if one was given.
    pub(crate) fn config(
        &self,
        read: impl FnOnce(&Path) -> Result<Config, ConfigError>,
    ) -> Result<Option<(PathBuf, Config)>, Failure> {
        let is_config = |file: &String| is_config(Path::new(file));
        match self.files.as_slice() {
            [file] if is_config(file) && self.has_settings() => Err(Failure::with_help(
                Kind::Usage,
                "limits, `--prefix` and `--schemas-for` cannot be combined with a configuration file",
                format!("set them in `{file}`; `servlet config schema` lists all settings"),
            )),
            [file] if is_config(file) => {
                let path = PathBuf::from(file);
                let config = read(&path)?;
                self.check_endpoints(file, &config)?;
                Ok(Some((path, config)))
            }
            files if files.iter().any(is_config) => Err(Failure::with_help(
                Kind::Usage,
                "a configuration file cannot be combined with other servlets",
                "list the servlets in it",
            )),
            _ => Ok(None),
        }
    }

    /// Refuses options that contradict the endpoints of the configuration.
    fn check_endpoints(&self, file: &str, config: &Config) -> Result<(), Failure> {
        match (
            self.transports.endpoint_option(),
            config.settings.endpoints.first(),
        ) {
            (Some(option), Some(endpoint)) => Err(Failure::with_help(
                Kind::Usage,
                format!(
                    "`{option}` cannot be combined with `[endpoint.{}]` in `{file}`: the endpoints of the file say where \
                     clients connect",
                    endpoint.name
                ),
                format!("leave out `{option}`, or remove the endpoints from `{file}`"),
            )),
            _ => Ok(()),
        }
    }

    /// The plan of these servlets. A named file that fails to load is an error; in a directory, such files are skipped.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let sources: Vec<_> = self
            .files
            .iter()
            .map(|file| self.limits.source(file))
            .collect::<Result<_, _>>()?;
        let prefix = self.prefix.unwrap_or_default().into();
        let entries = super::entries(sources.into_iter(), &self.limits.options()?, &prefix)?;
        let mut plan = Plan::from_entries(entries);
        plan.schemas_for = self.schemas_for;
        Ok(plan)
    }
}

impl From<PrefixChoice> for Prefix {
    fn from(choice: PrefixChoice) -> Self {
        match choice {
            PrefixChoice::Auto => Self::Auto,
            PrefixChoice::Never => Self::Never,
            PrefixChoice::Name => Self::Name(None),
        }
    }
}
