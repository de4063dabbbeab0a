//! `servlet serve`: serves servlets over MCP.

mod client_entry;
mod options;
mod transports;

use clap::{Args, ValueEnum};
use mcp_client_config::Connection;
use mcp_servlet_config::Config;
use mcp_servlet_host::{Entry, LoadError, OnFailure, Prefix};
use mcp_servlet_runtime::{LoadOptions, Source};
use mcp_servlet_server::{Plan, Service, ShutdownSignals};

pub(crate) use self::{client_entry::ClientEntry, options::Options, transports::Transports};
use crate::{
    clients::{self, Client},
    failure::{Failure, Kind},
    logging::LogFormat,
    memory,
    warnings::warn,
};

#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Print the configuration that adds this server to a client, and exit
    #[arg(long, value_name = "CLIENT", value_parser = clients::editable())]
    print_client_config: Option<Client>,

    /// `off` serves a configuration without its `servlet.lock`
    #[arg(long, value_enum, value_name = "off")]
    lock: Option<LockChoice>,

    /// The form of the log on standard error
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,

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
    pub(crate) fn log_format(&self) -> LogFormat {
        self.log_format
    }

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
            let mut entry = self.options.client_entry(config.as_ref())?;
            if let Connection::Command { args, .. } = &mut entry.connection {
                args.extend(self.lock.map(|LockChoice::Off| "--lock=off".to_owned()));
                if self.log_format == LogFormat::Json {
                    args.push("--log-format=json".to_owned());
                }
            }
            clients::print(client, &clients::key(&entry.name), &entry.connection)?;
            entry.note(client);
            return Ok(());
        }
        let http = config
            .as_ref()
            .map(|(_, config)| config.settings.http.clone());
        let mut plan = match config {
            Some((_, config)) => Plan::from_config(config),
            None => self.options.plan()?,
        };
        let transports = &self.options.transports;
        plan.needs_members = true;
        transports.apply(&mut plan, http.unwrap_or_default());
        let runtime = memory::runtime()?;
        // Boxed, because the future is large.
        let result = runtime.block_on(Box::pin(serve(plan, transports)));
        runtime.block_on(mcp_servlet_client::processes_ended());
        // Does not wait for standard input or for a call whose result is no longer needed.
        runtime.shutdown_background();
        result
    }
}

async fn serve(plan: Plan, transports: &Transports) -> Result<(), Failure> {
    let service = Service::start(plan.on_warning(warn)).await?;
    // From the line `listening on`, other programs may send a signal.
    let mut signals = ShutdownSignals::listen()?;
    transports.announce(&service)?;
    Ok(service.run_until(&mut signals).await?)
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
