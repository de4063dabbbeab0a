//! `servlet config`: writes and checks configurations.

mod init;

use std::{io::Write as _, path::PathBuf};

use clap::{Args, Subcommand};
use mcp_servlet_server::{Remotes, config::Config};
use tokio::runtime::Runtime;

use crate::{
    failure::{Failure, Kind},
    terminal,
};

/// Write or check the configuration of a server, or print its JSON Schema
#[derive(Args, Debug)]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Report all problems of a configuration, without loading its servlets
    Check {
        /// The configuration
        #[arg(default_value = "servlet.toml")]
        file: PathBuf,
        /// Accept environment variables that are not set, for machines without the secrets of the server
        #[arg(long)]
        no_env: bool,
        /// Also connect to the remotes, and report those that cannot be reached
        #[arg(long, conflicts_with = "no_env")]
        connect: bool,
    },
    /// Write a configuration for servlets, with the keys, hosts and directories that they declare
    Init(init::Init),
    /// Print the JSON Schema of configurations, for editors
    Schema,
}

impl ConfigCommand {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.action {
            Action::Init(init) => return init.run(&mut terminal::out()),
            Action::Check {
                file,
                no_env,
                connect,
            } => {
                let config = if no_env {
                    Config::check_without_env(&file)
                } else {
                    Config::check(&file)
                }?;
                let servlets = match config.entries.len() {
                    1 => "1 servlet".to_owned(),
                    count => format!("{count} servlets"),
                };
                if connect {
                    reach(&config)?;
                }
                let remotes = match config.remotes.len() {
                    0 => String::new(),
                    1 => ", 1 remote".to_owned(),
                    count => format!(", {count} remotes"),
                };
                let file = file.display();
                writeln!(terminal::out(), "{file}: valid, {servlets}{remotes}")?;
            }
            Action::Schema => writeln!(terminal::json(), "{:#}", Config::schema())?,
        }
        Ok(())
    }
}

/// Connects to the remotes, and fails with those that cannot be reached.
fn reach(config: &Config) -> Result<(), Failure> {
    let runtime = Runtime::new()?;
    let mut required = config.remotes.clone();
    for remote in &mut required {
        remote.required = true;
    }
    let remotes = Remotes::default();
    let reached = runtime.block_on(remotes.update(&required));
    runtime.block_on(remotes.close());
    match reached {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::new(Kind::Servlet, error.to_string())),
    }
}
