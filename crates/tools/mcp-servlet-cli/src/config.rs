//! `servlet config`: writes and checks configurations.

mod explain;
mod init;

use std::{io::Write as _, path::PathBuf};

use clap::{Args, Subcommand};
use mcp_servlet_config::{Config, ConfigError, FindingKind, Findings, Located, Served};
use mcp_servlet_host::{Loaded, OnFailure};
use mcp_servlet_server::Remotes;
use serde_json::{Value, json};

use crate::{
    check::Deny,
    credentials::hidden,
    failure::{Failure, Kind, indented},
    format::Format,
    session::run_until_signal,
    terminal::{self, note},
};

#[derive(Args, Debug)]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    action: ConfigAction,
}

#[derive(Debug, Subcommand)]
enum ConfigAction {
    /// Report all problems of a configuration
    Check(ConfigCheck),
    /// Explain which rule of an endpoint allows or denies a call, and why
    Explain(explain::ConfigExplain),
    /// Write a configuration for servlets, with the keys, hosts and directories that they declare
    Init(init::Init),
    /// Print the JSON Schema of configurations, for editors
    Schema,
}

impl ConfigCommand {
    pub(crate) fn run(self, verbose: u8) -> Result<(), Failure> {
        match self.action {
            ConfigAction::Init(init) => return init.run(),
            ConfigAction::Check(check) => check.run(verbose > 0)?,
            ConfigAction::Explain(explain) => explain.run()?,
            ConfigAction::Schema => writeln!(terminal::json(), "{:#}", Config::schema())?,
        }
        Ok(())
    }
}

/// Options of `config check`.
#[derive(Args, Debug)]
struct ConfigCheck {
    /// The configuration
    #[arg(default_value = "servlet.toml")]
    file: PathBuf,
    /// Accept environment variables that are not set, for machines without the secrets of the server
    #[arg(long)]
    no_env: bool,
    /// Also load the servlets, and report what `serve` would skip or warn about; with -v, also what was proved about rules and virtual tools
    #[arg(long, conflicts_with = "no_env")]
    load: bool,
    /// Also connect to the remotes, report those that cannot be used, and check that virtual tools fit them
    #[arg(long, conflicts_with = "no_env")]
    connect: bool,
    /// Also fail if there are warnings
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Option<Deny>,
    /// `json` prints a list of problems, each with `file`, `line`, `column`, `end`, `message` and `severity`
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl ConfigCheck {
    /// Prints the findings; with `all`, including what was proved and what was not.
    fn run(self, all: bool) -> Result<(), Failure> {
        let mut checked = match self.read() {
            Ok((config, loaded)) => {
                let findings = self.findings(&config, &loaded)?;
                findings.map(|findings| (config, findings))
            }
            Err(error) => Err(error),
        };
        if !all && let Ok((_, findings)) = &mut checked {
            findings.remove(&[
                FindingKind::ProvedRule,
                FindingKind::UnprovedInput,
                FindingKind::InferredOutput,
            ]);
        }
        if self.format == Format::Json {
            self.print_json(&checked)?;
        }
        let (config, findings) = checked?;
        if self.format != Format::Json {
            for finding in findings.iter() {
                let shown = hidden(&findings.shown(finding)).into_owned();
                note(format_args!("{}: {shown}", finding.kind));
                if let Some(help) = &finding.help {
                    note(format_args!("  help: {}", indented(help, "        ")));
                }
            }
        }
        if config.has_mistakes() {
            return Err(Failure::Shown(Kind::Usage));
        }
        let denies_warnings = self.deny == Some(Deny::Warnings);
        if findings.has(FindingKind::Error) || denies_warnings && findings.has(FindingKind::Warning)
        {
            return Err(Failure::CheckFailed);
        }
        if self.format != Format::Json {
            let counts = counts(&config, findings.count(FindingKind::Warning));
            writeln!(terminal::out(), "{}: valid, {counts}", self.file.display())?;
        }
        Ok(())
    }

    /// Reads the configuration, and loads its servlets if that is wanted.
    fn read(&self) -> Result<(Config, Loaded), ConfigError> {
        let mut config = if self.no_env {
            Config::check_without_env(&self.file)?
        } else if self.load || self.connect {
            // A mistake in one part must not hide those of the virtual tools in others.
            Config::check_with_mistakes(&self.file)?
        } else {
            Config::check(&self.file)?
        };
        // A servlet or remote that must be there would hide what is wrong with the others.
        for entry in &mut config.entries {
            entry.on_failure = OnFailure::Skip;
        }
        for remote in &mut config.settings.remotes {
            remote.required = false;
        }
        let loaded = if self.load {
            config.load_unproven(None)?
        } else {
            Loaded::default()
        };
        Ok((config, loaded))
    }

    /// Finds what `serve` would warn about, as far as that is wanted.
    fn findings(
        &self,
        config: &Config,
        loaded: &Loaded,
    ) -> Result<Result<Findings, ConfigError>, Failure> {
        if self.connect {
            return run_until_signal(async { Ok(self.find_with_remotes(config, loaded).await) });
        }
        let mut findings = config.findings(Served {
            loaded,
            remotes: None,
            not_ready: &[],
        });
        if !self.load {
            return Ok(Ok(findings));
        }
        let proof = proven(&mut findings, config.prove(loaded, &[]));
        Ok(proof.map(|()| findings))
    }

    async fn find_with_remotes(
        &self,
        config: &Config,
        loaded: &Loaded,
    ) -> Result<Findings, ConfigError> {
        let remotes = Remotes::default();
        // None of them is required.
        let _ = remotes.update(&config.settings.remotes).await;
        let not_ready = remotes.tried().await;
        // The lists are known now.
        let mounts = remotes
            .update(&config.settings.remotes)
            .await
            .unwrap_or_default();
        let proof = config.prove(loaded, &mounts);
        let mut findings = config.findings(Served {
            loaded,
            remotes: self.load.then_some(&mounts),
            not_ready: &not_ready,
        });
        remotes.close().await;
        proven(&mut findings, proof).map(|()| findings)
    }

    /// Prints what was found as JSON. An error about the whole file is one of the command.
    fn print_json(&self, checked: &Result<(Config, Findings), ConfigError>) -> Result<(), Failure> {
        let json = |one: Located, kind: FindingKind, help: Option<&str>| {
            json!({
                "file": self.file.to_string_lossy(),
                "line": one.line,
                "column": one.column,
                "end": one.end,
                "severity": kind.to_string(),
                "message": one.message,
                "help": help,
            })
        };
        let all: Vec<_> = match checked {
            Ok((_, findings)) => {
                let all = findings.iter();
                all.map(|one| json(findings.located(one), one.kind, one.help.as_deref()))
                    .collect()
            }
            Err(error) => {
                let all = error.located().into_iter();
                all.map(|one| json(one, FindingKind::Error, None)).collect()
            }
        };
        if checked.is_err() && all.is_empty() {
            return Ok(());
        }
        Ok(writeln!(terminal::json(), "{}", Value::from(all))?)
    }
}

/// Adds what is wrong with the virtual tools.
fn proven(findings: &mut Findings, proof: Result<(), ConfigError>) -> Result<(), ConfigError> {
    proof.or_else(|error| findings.add_error(error))
}

/// The numbers of sections in a configuration, in words.
fn counts(config: &Config, warnings: usize) -> String {
    let servlets = count(config.entries.len(), "servlet");
    let others = [
        (config.settings.remotes.len(), "remote"),
        (config.virtual_tools(), "virtual tool"),
        (config.settings.endpoints.len(), "endpoint"),
        (warnings, "warning"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, what)| count(number, what));
    std::iter::once(servlets)
        .chain(others)
        .collect::<Vec<_>>()
        .join(", ")
}

/// A number of things.
pub(crate) fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    }
}
