//! `servlet serve`: serves servlets over MCP.

pub(crate) mod transports;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::{Args, ValueEnum};
use mcp_servlet_host::{Entry, Host, LoadError, Loaded, Mount, OnFailure, Prefix, UnmetNeeds};
use mcp_servlet_runtime::{LoadOptions, Module, Source, public_url};
use mcp_servlet_schema::Provider;
use mcp_servlet_server::{
    Endpoints, HttpOptions, Remotes, ServeOptions, Server,
    config::{Config, Served},
};

use crate::{
    clients::{self, Client, Way},
    failure::{Failure, Kind, chain, indented},
    limits::Limits,
    memory, needs,
    terminal::note,
    variable::Variable,
};
use transports::Transports;

#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// The servlets: `.wasm` files, directories of them, URLs or `oci://` references, which may end in `#sha256=` and a
    /// digest; or one configuration file such as `servlet.toml`, which is reloaded when it or one of its servlets changes
    #[arg(required = true)]
    files: Vec<String>,

    /// The prefix of the names of tools and prompts
    ///
    /// [default: auto]
    #[arg(long, value_enum)]
    prefix: Option<PrefixChoice>,

    /// Rewrite input schemas for this model provider; see the guide on hosts
    #[arg(long, value_name = "PROVIDER")]
    schemas_for: Option<Provider>,

    /// Print the configuration that adds this server to a client, and exit
    #[arg(long, value_enum, value_name = "CLIENT")]
    print_client_config: Option<Client>,

    #[command(flatten)]
    transports: Transports,

    #[command(flatten)]
    limits: Limits,
}

/// The prefix of the names of tools and prompts.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum PrefixChoice {
    /// The servlet's name, for names that another servlet has as well
    #[default]
    Auto,
    /// No prefix
    Never,
    /// The servlet's name, for all names
    Name,
}

impl Serve {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let config = self.config()?;
        if let Some(client) = self.print_client_config {
            return self.print_config(client, config.as_ref());
        }
        let loaded = match &config {
            Some((_, config)) => config.load(None)?,
            None => Loaded::load(&self.entries()?, None)?,
        };
        let runtime = memory::runtime()?;
        let remotes = Remotes::default();
        let result = runtime.block_on(async {
            match config {
                // Boxed, because the futures are large.
                Some((path, config)) => {
                    Box::pin(self.serve_config(path, config, loaded, &remotes)).await
                }
                None => Box::pin(self.serve_files(loaded)).await,
            }
        });
        runtime.block_on(remotes.close());
        // Does not wait for standard input or for a call whose result is no longer needed.
        runtime.shutdown_background();
        result
    }

    async fn serve_files(&self, loaded: Loaded) -> Result<(), Failure> {
        warn_about_skipped(&loaded);
        needs::warn(loaded.unmet_needs(), true);
        require_servlets(&loaded)?;
        let skipped = loaded.skipped_names();
        let host = loaded.host.with_schemas_for(self.schemas_for);
        warn_of(&host);
        let server = Server::new(Arc::new(host), ServeOptions::default());
        server.set_skipped(skipped);
        let transports = self.transports.served(HttpOptions::default());
        let endpoints = Endpoints::of(server, transports);
        self.transports.run(&endpoints, Duration::ZERO).await
    }

    async fn serve_config(
        &self,
        path: PathBuf,
        config: Config,
        loaded: Loaded,
        remotes: &Remotes,
    ) -> Result<(), Failure> {
        let members = remotes.update(&config.remotes).await;
        let members = members.map_err(|error| Failure::new(Kind::Servlet, error.to_string()))?;
        config.prove_required(&loaded, &members)?;
        warn_of_findings(&config, &loaded, &members);
        if config.remotes.is_empty() {
            require_servlets(&loaded)?;
        }
        let transports = self.transports.served(config.http.clone());
        let endpoints = Endpoints::new(&config, &loaded, &members, transports);
        let leave = config.http.leave;
        let watch = endpoints.watch(path, config, loaded, remotes.clone());
        tokio::select! {
            result = self.transports.run(&endpoints, leave) => result,
            () = watch => Ok(()),
        }
    }

    fn print_config(
        &self,
        client: Client,
        config: Option<&(PathBuf, Config)>,
    ) -> Result<(), Failure> {
        let name = self.name(config);
        let mut unmet: Vec<_> = self.unmet_needs(config).collect();
        // A server with a URL is started by someone else, who gives it its options.
        let variables = match self.remote_way(config)? {
            Some(_) => Vec::new(),
            None => self.variables(&name, &mut unmet),
        };
        client.print(&name, &self.way(config, &variables)?)?;
        clients::note_hidden_values(self.hidden());
        clients::note_variables(&variables);
        needs::warn(unmet.into_iter(), true);
        Ok(())
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

    /// Whether an option was given that belongs in the configuration.
    fn has_settings(&self) -> bool {
        self.limits.are_given() || self.prefix.is_some() || self.schemas_for.is_some()
    }

    /// The configuration, if one was given.
    fn config(&self) -> Result<Option<(PathBuf, Config)>, Failure> {
        let is_config = |file: &String| {
            Path::new(file)
                .extension()
                .is_some_and(|extension| extension == "toml")
        };
        match self.files.as_slice() {
            [file] if is_config(file) && self.has_settings() => Err(Failure::with_help(
                Kind::Usage,
                "limits, `--prefix` and `--schemas-for` cannot be combined with a configuration file",
                format!("set them in `{file}`; `servlet config schema` lists all settings"),
            )),
            [file] if is_config(file) => {
                let path = PathBuf::from(file);
                let config = match self.print_client_config {
                    Some(_) => Config::read_for_elsewhere(&path)?,
                    None => Config::read(&path)?,
                };
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
        match (self.transports.endpoint_option(), config.endpoints.first()) {
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

    /// The server's name: from the configuration, or else from the served files.
    fn name(&self, config: Option<&(PathBuf, Config)>) -> String {
        let introduced = config.and_then(|(_, config)| config.introduction.name.clone());
        let first = || self.files.first().map(|file| Source::parse(file).name());
        introduced.or_else(first).unwrap_or_default()
    }

    /// How a client connects to the URL of the server. None if clients start it.
    fn remote_way(&self, config: Option<&(PathBuf, Config)>) -> Result<Option<Way>, Failure> {
        let config = config.map(|(_, config)| config);
        let http = config.and_then(Config::url).or(self.transports.url()?);
        let sse = || config.and_then(Config::sse_url);
        let http = http.map(|url| Way::Http { url });
        Ok(http.or_else(|| sse().map(|url| Way::Sse { url })))
    }

    /// How a client connects to this server.
    fn way(
        &self,
        config: Option<&(PathBuf, Config)>,
        variables: &[Variable],
    ) -> Result<Way, Failure> {
        if let Some(way) = self.remote_way(config)? {
            return Ok(way);
        }
        let mut arguments = vec!["serve".to_owned()];
        for file in &self.files {
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
        arguments.extend(self.transports.arguments());
        let of_config = config.into_iter().flat_map(|(_, config)| &config.variables);
        let names = variables.iter().map(|variable| &variable.name);
        Ok(Way::this_command(arguments)?.with_variables(of_config.chain(names)))
    }

    /// The values that [`Serve::way`] leaves out because they may be secret.
    fn hidden(&self) -> impl Iterator<Item = String> {
        let urls = self.files.iter();
        let urls = urls.filter_map(|file| clients::hidden_url(&Source::parse(file)));
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

    /// The named modules, except those at URLs and those that cannot be read.
    fn modules(&self) -> impl Iterator<Item = (String, Module)> {
        let sources = self.files.iter();
        let sources = sources.map(|file| Source::parse(file).expand());
        let files = sources.flatten().flatten();
        let files = files.filter(|source| !source.is_remote());
        files.filter_map(|source| Some((source.name(), source.module().ok()?)))
    }

    /// The servlets to load. A named file that fails to load is an error; in a directory, such files are skipped.
    fn entries(&self) -> Result<Vec<Entry>, Failure> {
        let sources = self.files.iter().map(|file| Source::parse(file));
        let prefix = self.prefix.unwrap_or_default().into();
        Ok(entries(sources, &self.limits.options()?, &prefix)?)
    }
}

/// The servlets of files and directories.
pub(crate) fn entries(
    sources: impl Iterator<Item = Source>,
    options: &LoadOptions,
    prefix: &Prefix,
) -> Result<Vec<Entry>, LoadError> {
    let mut entries = Vec::new();
    for named in sources {
        for source in named.clone().expand()? {
            let is_named = source == named;
            let mut entry = Entry::of(source, options.clone());
            entry.prefix.clone_from(prefix);
            if is_named {
                entry.on_failure = OnFailure::Fail;
            }
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// Warns about servlets that are skipped. Fails if nothing is left.
pub(crate) fn report(loaded: &Loaded) -> Result<(), Failure> {
    warn_about_skipped(loaded);
    warn_of(&loaded.host);
    require_servlets(loaded)
}

/// Fails if no servlet could be loaded.
pub(crate) fn require_servlets(loaded: &Loaded) -> Result<(), Failure> {
    if loaded.host.servlets().is_empty() {
        return Err(Failure::new(Kind::Servlet, "no servlet could be loaded"));
    }
    Ok(())
}

/// Warns about servlets that are skipped.
pub(crate) fn warn_about_skipped(loaded: &Loaded) {
    for failed in &loaded.skipped {
        note(format_args!(
            "warning: servlet skipped: {}",
            indented(&chain(failed), "  ")
        ));
    }
}

/// Warns about what a configuration has that is not served, and about what is most likely a mistake.
pub(crate) fn warn_of_findings(config: &Config, loaded: &Loaded, remotes: &[Mount]) {
    let findings = config.findings(Served {
        loaded,
        remotes: Some(remotes),
        not_ready: &[],
    });
    for finding in findings.iter() {
        let message = indented(&finding.problem.message, "  ");
        let position = findings.position(finding);
        note(format_args!("warning: {position}: {message}"));
        if let Some(help) = &finding.help {
            note(format_args!("  help: {}", indented(help, "        ")));
        }
    }
}

/// Warns about what is left out of the lists.
pub(crate) fn warn_of(host: &Host) {
    for problem in host.problems() {
        note(format_args!("warning: {}", indented(&chain(problem), "  ")));
        if let Some(help) = problem.help() {
            note(format_args!("  help: {}", indented(&help, "        ")));
        }
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
