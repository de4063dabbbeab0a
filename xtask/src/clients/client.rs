//! The clients of `tests/clients/clients.toml`.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use crate::npm::Packages;
use crate::python;
use crate::shell::{cargo, root, run, target};

/// A client, whose programs are in `tests/clients`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Client {
    pub(super) name: String,
    pub(super) modes: Vec<String>,
    over: Vec<Transport>,
    /// Calls every tool.
    pub(super) script: String,
    /// Logs in, and calls two tools.
    pub(super) login: Option<String>,
    #[serde(default)]
    packages: Vec<String>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
pub(super) enum Transport {
    #[serde(rename = "stdio")]
    Stdio,
    #[serde(rename = "HTTP")]
    Http,
    /// HTTP+SSE, the transport of 2024-11-05.
    #[serde(rename = "SSE")]
    Sse,
}

impl Transport {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "HTTP",
            Self::Sse => "SSE",
        }
    }
}

/// All clients.
pub(super) fn clients() -> anyhow::Result<Vec<Client>> {
    #[derive(Deserialize)]
    struct Table {
        clients: Vec<Client>,
    }
    let text = fs::read_to_string(root().join("tests/clients/clients.toml"))?;
    Ok(toml::from_str::<Table>(&text)?.clients)
}

impl Client {
    pub(super) fn is_wanted(&self, only: Option<&str>) -> bool {
        let contains = |part: &str| self.name.to_lowercase().contains(&part.to_lowercase());
        only.is_none_or(contains)
    }

    pub(super) fn combinations(&self) -> impl Iterator<Item = (&str, Transport)> {
        let over = &self.over;
        let with = move |mode| over.iter().map(move |&over| (mode, over));
        let all = self.modes.iter().map(String::as_str).flat_map(with);
        // HTTP+SSE is older than the protocol versions that a client asks for by name.
        all.filter(|(mode, over)| *over != Transport::Sse || *mode == "legacy")
    }

    /// Installs what a script of the client needs under the target directory. Returns the program and its first arguments.
    pub(super) fn install(&self, script: &str) -> anyhow::Result<(PathBuf, Vec<OsString>)> {
        let scripts = root().join("tests/clients");
        // All scripts of a client share what is installed.
        let (folder, language) = self
            .script
            .rsplit_once('.')
            .unwrap_or((self.script.as_str(), ""));
        match language {
            "py" => {
                let python = python::install(folder, &self.packages)?;
                Ok((python, vec![scripts.join(script).into()]))
            }
            "mjs" => {
                let packages = Packages::install(folder, &self.packages)?;
                // Node looks for packages next to the script.
                let script = packages.adopt(&scripts, script)?;
                Ok((packages.node(), vec![script.into()]))
            }
            _ => {
                let target = target().join(script);
                let mut build = cargo(&["build", "--quiet", "--locked", "--manifest-path"]);
                build.arg(scripts.join(script).join("Cargo.toml"));
                run(build.arg("--target-dir").arg(&target))?;
                Ok((target.join("debug").join(script), Vec::new()))
            }
        }
    }
}
