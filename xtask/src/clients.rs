//! Calls every tool of every example with MCP clients of other projects, and lists MCP servers of other projects.

mod client;
mod combine;
mod gateway;
mod login;
mod packages;
mod servers;

use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use clap::ValueEnum;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::serve::{Server, build, servlet};
use crate::shell::{self, root, target};
use client::{Client, Transport, clients};

/// Arguments of the tools that need some; the URL of a web page replaces `PAGE`.
const CALLS: &str = "tests/clients/calls.json";

/// Lets the servlets reach the server of the page.
const ALLOW: [&str; 2] = ["--allow-host", "127.0.0.1"];

/// The line that a client prints when it has called the tools.
#[derive(Deserialize)]
struct Counts {
    listed: usize,
    called: usize,
    /// The structured contents by tool, if the client shows them.
    #[serde(default)]
    structured: Map<String, Value>,
}

/// A part that is no client of the examples.
#[derive(Clone, Copy, ValueEnum)]
enum Part {
    Servers,
    Gateway,
    Combine,
    Packages,
    Login,
}

impl Part {
    fn check(self, hyper_mcp: Option<&Path>) -> anyhow::Result<()> {
        match self {
            Self::Servers => servers::check_servers(),
            Self::Gateway => gateway::check_gateway(),
            Self::Combine => combine::check_combining(),
            Self::Packages => packages::check_packed_servlets(hyper_mcp),
            Self::Login => login::check_logins(),
        }
    }
}

/// Calls our servlets with clients of other projects, and runs all other parts. With `only`, runs the part of this name, or the
/// clients whose name contains it. `hyper_mcp` is the command of hyper-mcp.
pub(crate) fn check_clients(only: Option<&str>, hyper_mcp: Option<&Path>) -> anyhow::Result<()> {
    let Some(only) = only else {
        // All parts print their table, even if an earlier one fails.
        let parts = Part::value_variants().iter();
        return parts.fold(call_tools(None), |outcome, part| {
            outcome.and(part.check(hyper_mcp))
        });
    };
    match Part::from_str(only, false) {
        Ok(part) => part.check(hyper_mcp),
        Err(_) => call_tools(Some(only)),
    }
}

/// Lists and calls the tools with every client, over its transports and in its protocol versions, and prints a table.
fn call_tools(only: Option<&str>) -> anyhow::Result<()> {
    let files = build(&examples()?)?;
    let server = Server::start(&files, &ALLOW)?;
    let older = Server::start_configured(&sse(&files)?)?;
    let mut stdio: Vec<OsString> = vec![servlet().get_program().into(), "serve".into()];
    stdio.extend(ALLOW.map(OsString::from));
    stdio.extend(files.into_iter().map(OsString::from));
    let http = [OsString::from(&server.url)];
    let sse = [OsString::from(&older.url)];
    let calls = calls()?;

    println!(
        "{:<22} {:<10} {:<5} tools called",
        "client", "protocol", "over"
    );
    let mut failed = 0;
    for client in clients()?.iter().filter(|client| client.is_wanted(only)) {
        let (program, arguments) = client.install(&client.script)?;
        for (mode, transport) in client.combinations() {
            let target = match transport {
                Transport::Stdio => &stdio[..],
                Transport::Http => &http,
                Transport::Sse => &sse,
            };
            let mut command = Command::new(&program);
            command.current_dir(root()).args(&arguments);
            let counts = output(command.arg(mode).arg(&calls).args(target));
            failed += usize::from(counts.is_err());
            println!("{}", row(client, mode, transport, &counts));
        }
    }
    if failed > 0 {
        bail!("{failed} combinations failed");
    }
    Ok(())
}

fn row(client: &Client, mode: &str, over: Transport, counts: &anyhow::Result<Counts>) -> String {
    let end = match counts {
        Ok(Counts { listed, called, .. }) => format!("{listed:>5} {called:>6}"),
        Err(error) => format!("failed: {error:#}"),
    };
    format!("{:<22} {mode:<10} {:<5} {end}", client.name, over.name())
}

/// Runs a client and returns the last line of its output, which has the counts.
fn output<C: DeserializeOwned>(client: &mut Command) -> anyhow::Result<C> {
    let text = shell::output(client)?;
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).with_context(|| format!("the last line is `{last}`"))
}

/// A file with the arguments by tool, and a page for the tools that fetch one.
fn calls() -> anyhow::Result<OsString> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let page = format!("http://{}/", listener.local_addr()?);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // A client that hangs up early does not need the answer.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
            );
        }
    });
    let calls = fs::read_to_string(root().join(CALLS))?.replace("PAGE", &page);
    let path = target().join("calls.json");
    fs::write(&path, calls)?;
    Ok(path.into())
}

/// A configuration that serves these files over HTTP+SSE.
fn sse(files: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let endpoint = "[listener.local]\naddress = \"127.0.0.1:0\"\n\
        [endpoint.sse]\nkind = \"sse\"\nlistener = \"local\"\n";
    let mut sections = vec![endpoint.to_owned()];
    for file in files {
        let name = file.file_stem().context("a file has a name")?;
        let (name, file) = (name.to_string_lossy(), file.display());
        sections.push(format!(
            "[servlet.{name}]\nsource = '{file}'\nallow.hosts = [\"127.0.0.1\"]\n"
        ));
    }
    let path = target().join("clients-sse.toml");
    fs::write(&path, sections.concat())?;
    Ok(path)
}

/// The folders in `examples`, except XTP plugins with other schemas, which have a build script.
fn examples() -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("examples"))? {
        let path = entry?.path();
        if path.join("Cargo.toml").exists() && !path.join("build.rs").exists() {
            let name = path.file_name().context("a folder has a name")?;
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}
