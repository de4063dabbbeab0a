//! Logs in to an endpoint with MCP clients of other projects, through an authorization server that asks no user.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, ensure};
use mcp_servlet_common::hex;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::output;
use super::table::{INSPECTOR_LOGIN, LOGINS};
use crate::serve::{Server, build};
use crate::shell::{program, root, target};

/// The key that `login_inspector.mjs` sends.
const KEY: &str = "key-of-the-inspector";

/// Each client calls a tool, and one that needs a scope that its first token does not have.
const CALLS: usize = 2;

/// The line that a client prints at its end.
#[derive(Deserialize)]
struct Counts {
    called: usize,
    logins: usize,
}

/// Fails if a client does not get to the tools, or logs in more often than it needs to.
pub(super) fn check() -> anyhow::Result<()> {
    let files = build(&["calculator"])?;
    let free = TcpListener::bind("127.0.0.1:0")?;
    let address = free.local_addr()?.to_string();
    drop(free);
    let url = format!("http://{address}/mcp");
    let issuer = Server::spawn(Command::new(program("puppet")).args(["--issuer", &url]))?;
    let config = config(&files[0], &address, &issuer.url)?;
    let server = Server::start_configured(&config)?;
    println!("{:<22} {:<10} logins", "client", "protocol");
    let mut failed = 0;
    for client in &LOGINS {
        let (program, arguments) = client.install()?;
        for (mode, _) in client.combinations() {
            let mut command = Command::new(&program);
            command.current_dir(root()).args(&arguments);
            let needed = if client.name == INSPECTOR_LOGIN { 0 } else { 2 };
            let outcome = output(command.arg(mode).arg(&server.url)).and_then(|counts: Counts| {
                ensure!(
                    counts.called == CALLS && counts.logins == needed,
                    "called {} tools with {} logins; expected {CALLS} with {needed}",
                    counts.called,
                    counts.logins
                );
                Ok(counts.logins)
            });
            failed += usize::from(outcome.is_err());
            let end = match outcome {
                Ok(logins) => format!("{logins:>6}"),
                Err(error) => format!("failed: {error:#}"),
            };
            println!("{:<22} {mode:<10} {end}", client.name);
        }
    }
    if failed > 0 {
        bail!("{failed} logins failed");
    }
    Ok(())
}

/// A configuration with an endpoint that takes tokens of the issuer, and a key.
fn config(wasm: &Path, address: &str, issuer: &str) -> anyhow::Result<PathBuf> {
    let sha256 = hex(&Sha256::digest(KEY));
    let wasm = wasm.display();
    let text = format!(
        r#"
[listener.local]
address = "{address}"
[endpoint.main]
kind = "http"
listener = "local"
auth = "corp"
url = "http://{address}/mcp"
[auth.corp]
scopes = ["mcp"]
[auth.corp.introspection]
url = "{issuer}/introspect"
issuer = "{issuer}"
client = "robot"
secret = "hush-robot/secret+"
[[auth.corp.key]]
name = "inspector"
sha256 = "{sha256}"
scopes = ["mcp", "pay"]
[servlet.calculator]
source = '{wasm}'
tool.divide = {{ scopes = ["pay"] }}
"#
    );
    let path = target().join("clients-login.toml");
    fs::write(&path, text)?;
    Ok(path)
}
