//! `servlet config`: checks configurations.

use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use mcp_servlet_host::config::Config;

use crate::failure::Failure;

/// Check configurations of servers, or print the schema of them
#[derive(Args, Debug)]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Say everything that is wrong with a configuration, without loading its servlets
    Check {
        /// The configuration
        #[arg(default_value = "servlet.toml")]
        file: PathBuf,
    },
    /// Print the JSON Schema of configurations, for editors
    Schema,
}

impl ConfigCommand {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match self.action {
            Action::Check { file } => {
                let config = Config::check(&file)?;
                let count = config.entries.len();
                writeln!(out, "{}: all is well, {count} servlets", file.display())?;
            }
            Action::Schema => writeln!(out, "{:#}", Config::schema())?,
        }
        Ok(())
    }
}
