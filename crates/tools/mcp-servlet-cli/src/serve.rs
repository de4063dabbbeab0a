//! `servlet serve`: serves servlets over MCP.

mod client_entry;
mod options;
pub(crate) mod transports;

use std::{path::PathBuf, sync::Arc, time::Duration};

use clap::{Args, ValueEnum};
use mcp_servlet_host::{Entry, Host, LoadError, Loaded, Mount, OnFailure, Prefix};
use mcp_servlet_runtime::{LoadOptions, Source};
use mcp_servlet_server::{
    Endpoints, HttpOptions, Remotes, ServeOptions, Server, circle_of_calls,
    config::{Config, Finding, Served, Severity},
};

pub(crate) use self::{client_entry::ClientEntry, options::Options};
use crate::{
    clients::{self, Client},
    failure::{Failure, Kind, chain, indented},
    memory, needs,
    terminal::note,
};

#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Print the configuration that adds this server to a client, and exit
    #[arg(long, value_name = "CLIENT", value_parser = clients::editable())]
    print_client_config: Option<Client>,

    /// `off` serves a configuration without its `servlet.lock`
    #[arg(long, value_enum, value_name = "off")]
    lock: Option<LockChoice>,

    #[command(flatten)]
    options: Options,
}

/// What becomes of a lock.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LockChoice {
    /// Nothing is compared with it
    Off,
}

impl Serve {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let config = self
            .options
            .config(match (self.print_client_config, self.lock) {
                (Some(_), _) => Config::read_for_elsewhere,
                (None, Some(LockChoice::Off)) => Config::read_without_lock,
                (None, None) => Config::read,
            })?;
        if let Some(LockChoice::Off) = self.lock {
            if config.is_none() {
                let message = "`--lock` needs a configuration file";
                return Err(Failure::new(Kind::Usage, message));
            }
            tracing::warn!("`servlet.lock` is not used, because of `--lock off`");
        }
        if let Some(client) = self.print_client_config {
            let entry = self.options.client_entry(config.as_ref())?;
            clients::print(client, &clients::key(&entry.name), &entry.connection)?;
            entry.note(client);
            return Ok(());
        }
        let loaded = match &config {
            Some((_, config)) => config.load(None)?,
            None => self.options.load()?,
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
        let host = loaded.host.with_schemas_for(self.options.schemas_for);
        warn_of(&host);
        let server = Server::new(Arc::new(host), ServeOptions::default());
        server.set_skipped(skipped);
        let transports = self.options.transports.served(HttpOptions::default());
        let endpoints = Endpoints::of(server, transports);
        self.options
            .transports
            .run(&endpoints, Duration::ZERO)
            .await
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
        let transports = self.options.transports.served(config.http.clone());
        let endpoints = Endpoints::new(&config, &loaded, &members, transports);
        let leave = config.http.leave;
        let watch = endpoints.watch(path, config, loaded, remotes.clone());
        tokio::select! {
            result = self.options.transports.run(&endpoints, leave) => result,
            () = watch => Ok(()),
        }
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

/// Fails if servlets could call each other for ever.
pub(crate) fn check_calls(loaded: &Loaded) -> Result<(), Failure> {
    let servlets = loaded.host.servlets().iter().map(Arc::as_ref);
    match circle_of_calls(servlets) {
        Some(problem) => Err(Failure::new(Kind::Usage, problem)),
        None => Ok(()),
    }
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
    let is_shown = |one: &&Finding| matches!(one.severity, Severity::Error | Severity::Warning);
    for finding in findings.iter().filter(is_shown) {
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
