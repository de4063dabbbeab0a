//! The servers of `tests/clients/servers.toml`.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;

use anyhow::Context;
use serde::Deserialize;

use crate::npm::Packages;
use crate::python;
use crate::shell::root;

/// A published server that lists without an account and without the network.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::clients) struct Server {
    pub(in crate::clients) name: String,
    /// A package of npm.
    npm: Option<String>,
    /// Requirements for pip.
    #[serde(default)]
    pip: Vec<String>,
    /// The program of the package and its arguments, or the arguments of Python.
    pub(super) run: Vec<String>,
    /// A tool, and arguments whose result is the same every time.
    pub(in crate::clients) call: Option<(String, String)>,
}

/// All servers.
pub(in crate::clients) fn servers() -> anyhow::Result<Vec<Server>> {
    #[derive(Deserialize)]
    struct Table {
        servers: Vec<Server>,
    }
    let text = fs::read_to_string(root().join("tests/clients/servers.toml"))?;
    Ok(toml::from_str::<Table>(&text)?.servers)
}

impl Server {
    /// Installs the server under the target directory and returns its command, which sets the variables that it needs.
    pub(in crate::clients) fn install(&self) -> anyhow::Result<Vec<String>> {
        let folder = format!("server-{}", self.name);
        let mut command;
        if let Some(package) = &self.npm {
            let (program, arguments) = self.run.split_first().context("a program")?;
            command = Packages::install(&folder, &[package.as_str()])?.program(program)?;
            command.args(arguments);
        } else {
            command = Command::new(python::install(&folder, &self.pip)?);
            command.args(&self.run);
        }
        let text = |word: &OsStr| word.to_string_lossy().into_owned();
        let variables = command
            .get_envs()
            .filter_map(|(name, value)| Some(format!("{}={}", text(name), text(value?))));
        let program = std::iter::once(command.get_program()).chain(command.get_args());
        Ok(std::iter::once("env".to_owned())
            .chain(variables)
            .chain(program.map(text))
            .collect())
    }
}
