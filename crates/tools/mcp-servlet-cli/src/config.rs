//! `servlet config`: writes and checks configurations.

mod init;

use std::{io::Write as _, path::PathBuf};

use clap::{Args, Subcommand};
use mcp_servlet_server::config::Config;

use crate::{failure::Failure, terminal};

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
            Action::Check { file, no_env } => {
                let config = if no_env {
                    Config::check_without_env(&file)
                } else {
                    Config::check(&file)
                }?;
                let servlets = match config.entries.len() {
                    1 => "1 servlet".to_owned(),
                    count => format!("{count} servlets"),
                };
                let endpoints = match config.endpoints.len() {
                    0 => String::new(),
                    1 => ", 1 endpoint".to_owned(),
                    count => format!(", {count} endpoints"),
                };
                writeln!(
                    terminal::out(),
                    "{}: valid, {servlets}{endpoints}",
                    file.display()
                )?;
            }
            Action::Schema => writeln!(terminal::json(), "{:#}", Config::schema())?,
        }
        Ok(())
    }
}
