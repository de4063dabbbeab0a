//! `servlet config`: writes and checks configurations.

mod init;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use mcp_servlet_server::{
    Remotes,
    config::{Config, ConfigError},
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    failure::{Failure, Kind},
    format::Format,
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
        /// Load the servlets, and check that virtual tools fit them
        #[arg(long, conflicts_with = "no_env")]
        load: bool,
        /// Also connect to the remotes, and report those that cannot be reached
        #[arg(long, conflicts_with = "no_env")]
        connect: bool,
        /// `json` prints a list of problems, each with `file`, `line`, `column`, `end` and `message`
        #[arg(long, value_enum, default_value_t)]
        format: Format,
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
                load,
                connect,
                format,
            } => {
                let config = check(&file, no_env, load);
                if format == Format::Json {
                    return print_problems(&file, config);
                }
                let config = config?;
                if connect {
                    reach(&config)?;
                }
                let mut counts = vec![count(config.entries.len(), "servlet")];
                for (number, what) in [
                    (config.remotes.len(), "remote"),
                    (config.virtual_tools(), "virtual tool"),
                    (config.endpoints.len(), "endpoint"),
                ] {
                    if number > 0 {
                        counts.push(count(number, what));
                    }
                }
                let counts = counts.join(", ");
                writeln!(terminal::out(), "{}: valid, {counts}", file.display())?;
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

fn check(file: &Path, no_env: bool, load: bool) -> Result<Config, ConfigError> {
    if no_env {
        return Config::check_without_env(file);
    }
    let config = Config::check(file)?;
    if load {
        config.load(None)?;
    }
    Ok(config)
}

/// Prints the problems as JSON. An error that has no position in the file is an error of the command.
fn print_problems(file: &Path, config: Result<Config, ConfigError>) -> Result<(), Failure> {
    let Err(error) = config else {
        return Ok(writeln!(terminal::json(), "[]")?);
    };
    let problems = error.located().into_iter();
    let problems: Vec<Value> = problems
        .map(|one| {
            json!({
                "file": file,
                "line": one.line,
                "column": one.column,
                "end": one.end,
                "message": one.message,
            })
        })
        .collect();
    if !problems.is_empty() {
        writeln!(terminal::json(), "{}", Value::from(problems))?;
    }
    Err(error.into())
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    }
}
