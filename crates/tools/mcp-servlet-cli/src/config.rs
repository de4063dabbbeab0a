//! `servlet config`: writes and checks configurations.

mod init;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use mcp_servlet_host::Loaded;
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
        /// Also connect to the remotes, report those that cannot be reached, and check that virtual tools fit them
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
                let checked = check(&file, no_env, load);
                let (config, unreachable) = match checked {
                    Ok((config, loaded)) if connect => ask_remotes(config, &loaded)?,
                    checked => (checked.map(|(config, _)| config), Vec::new()),
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

/// The configuration or what is wrong with it, and an error for each remote that cannot be reached.
type Asked = (Result<Config, ConfigError>, Vec<String>);

/// Connects to the remotes, and checks that virtual tools fit them.
fn ask_remotes(config: Config, loaded: &Loaded) -> Result<Asked, Failure> {
    let mut entries = config.remotes.clone();
    for remote in &mut entries {
        // A required remote would hide the errors of the others.
        remote.required = false;
    }
    let remotes = Remotes::default();
    let asked = async {
        remotes.update(&entries).await?;
        let errors = remotes.tried().await;
        // The lists are known now.
        let proven = config.prove(loaded, &remotes.update(&entries).await?);
        remotes.close().await;
        let unreachable = errors.iter().map(ToString::to_string).collect();
        Ok((proven.map(|()| config), unreachable))
    };
    let asked: Result<_, NotReady> = Runtime::new()?.block_on(asked);
    asked.map_err(|error| Failure::new(Kind::Servlet, error.to_string()))
}

/// Reads the configuration, and loads its servlets if that is wanted.
fn check(file: &Path, no_env: bool, load: bool) -> Result<(Config, Loaded), ConfigError> {
    let config = if no_env {
        Config::check_without_env(file)?
    } else {
        Config::check(file)?
    };
    let loaded = if load {
        config.load(None)?
    } else {
        Loaded::load(&[], None).map_err(ConfigError::Load)?
    };
    Ok((config, loaded))
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
