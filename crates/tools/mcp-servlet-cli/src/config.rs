//! `servlet config`: writes and checks configurations.

mod init;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use mcp_servlet_server::{
    NotReady, Remotes,
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
    /// Report all problems of a configuration
    Check {
        /// The configuration
        #[arg(default_value = "servlet.toml")]
        file: PathBuf,
        /// Accept environment variables that are not set, for machines without the secrets of the server
        #[arg(long)]
        no_env: bool,
        /// Also load the servlets, and check that virtual tools fit them
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
                let unreachable = match &config {
                    Ok(config) if connect => unreachable(config)?,
                    _ => Vec::new(),
                };
                if format == Format::Json {
                    print_problems(&file, config.as_ref().err(), &unreachable)?;
                }
                let config = config?;
                if !unreachable.is_empty() {
                    return Err(Failure::new(Kind::Servlet, unreachable.join("\n")));
                }
                if format == Format::Json {
                    return Ok(());
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

/// Connects to the remotes, and returns an error for each one that cannot be reached.
fn unreachable(config: &Config) -> Result<Vec<String>, Failure> {
    let mut entries = config.remotes.clone();
    for remote in &mut entries {
        // A required remote would hide the errors of the others.
        remote.required = false;
    }
    let remotes = Remotes::default();
    let tried = async {
        remotes.update(&entries).await?;
        let errors = remotes.tried().await;
        remotes.close().await;
        Ok(errors.iter().map(ToString::to_string).collect())
    };
    let tried: Result<_, NotReady> = Runtime::new()?.block_on(tried);
    tried.map_err(|error| Failure::new(Kind::Servlet, error.to_string()))
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

/// Prints the problems as JSON. Those of remotes have no position in the file.
fn print_problems(
    file: &Path,
    error: Option<&ConfigError>,
    unreachable: &[String],
) -> Result<(), Failure> {
    let located = error.map(ConfigError::located);
    if error.is_some() && located.as_ref().is_some_and(Vec::is_empty) {
        // The error is about the whole file, so it is an error of the command.
        return Ok(());
    }
    let located = located.into_iter().flatten();
    let problems = located.map(|one| {
        json!({
            "file": file,
            "line": one.line,
            "column": one.column,
            "end": one.end,
            "message": one.message,
        })
    });
    let unreachable = unreachable.iter();
    let unreachable = unreachable.map(|message| json!({ "file": file, "message": message }));
    let problems: Vec<Value> = problems.chain(unreachable).collect();
    Ok(writeln!(terminal::json(), "{}", Value::from(problems))?)
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    }
}
