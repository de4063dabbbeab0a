//! Serves examples over MCP, for clients of other projects.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use test_authority::Authority;

use crate::shell::{KillOnDrop, cargo, program, root, run, show_first_build, target};

/// A server over HTTP that stops when this value is dropped.
pub(crate) struct Server {
    _process: KillOnDrop,
    /// The URL of the MCP endpoint.
    pub(crate) url: String,
}

impl Server {
    /// Serves these files with these options, on a port that the system chooses.
    pub(crate) fn start(files: &[PathBuf], options: &[&str]) -> anyhow::Result<Self> {
        let mut serve = servlet();
        serve
            .arg("serve")
            .args(files)
            .args(["--http", "127.0.0.1:0"]);
        Self::spawn(serve.args(options))
    }

    /// Serves a configuration with one endpoint over HTTP.
    pub(crate) fn start_configured(config: &Path) -> anyhow::Result<Self> {
        Self::spawn(servlet().arg("serve").arg(config))
    }

    /// Runs a command that serves over HTTP.
    pub(crate) fn spawn(serve: &mut Command) -> anyhow::Result<Self> {
        // Clients make mistakes on purpose, and each would be a log line.
        serve.env("RUST_LOG", "off").stderr(Stdio::piped());
        let mut process = KillOnDrop::spawn(serve)?;
        let log = process.take_stderr().context("it has a standard error")?;
        let mut lines = BufReader::new(log).lines();
        let mut earlier = Vec::new();
        while let Some(line) = lines.next().transpose()? {
            if let Some((_, url)) = line.split_once("listening on ") {
                let url = url.to_owned();
                // Reads the rest of the log, so that the server does not wait for a reader.
                std::thread::spawn(move || {
                    lines
                        .map_while(Result::ok)
                        .for_each(|line| eprintln!("{line}"));
                });
                return Ok(Self {
                    _process: process,
                    url,
                });
            }
            earlier.push(line);
        }
        bail!("the server does not start: {}", earlier.join("\n"));
    }
}

/// Writes a certificate of this machine, its key, and the certificate of the authority that clients must trust. Returns the last path.
pub(crate) fn write_certificate(folder: &Path) -> anyhow::Result<PathBuf> {
    let authority = Authority::new();
    let (certificate, key) = authority.sign(1);
    let root = folder.join("root.pem");
    fs::write(folder.join("cert.pem"), certificate)?;
    fs::write(folder.join("key.pem"), key)?;
    fs::write(&root, authority.root())?;
    Ok(root)
}

/// The `servlet` command.
pub(crate) fn servlet() -> Command {
    let mut command = Command::new(program("servlet"));
    command.current_dir(root()).env("CARGO_TERM_QUIET", "true");
    command
}

/// Builds the `servlet` command and these examples as wasm.
pub(crate) fn build(examples: &[impl AsRef<str>]) -> anyhow::Result<Vec<PathBuf>> {
    run(show_first_build(&mut cargo(&["programs"])))?;
    let folder = target().join("wasm32-unknown-unknown/servlet");
    for example in examples {
        let mut build = servlet();
        build.args(["build", &format!("examples/{}", example.as_ref())]);
        run(build.stdout(Stdio::null()))?;
    }
    Ok(examples
        .iter()
        .map(|name| folder.join(format!("{}.wasm", name.as_ref().replace('-', "_"))))
        .collect())
}
