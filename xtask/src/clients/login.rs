//! Logs in to an endpoint with TLS and rules with MCP clients of other projects, through an authorization server that asks no user.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, ensure};
use mcp_servlet_common::hex;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::client::clients;
use super::output;
use crate::serve::{Server, build, write_certificate};
use crate::shell::{free_address, program, root};

/// The client that sends a key instead of logging in, and that key.
const WITH_KEY: &str = "Inspector";
const KEY: &str = "key-of-the-inspector";

/// Each client calls a tool, and one that needs a scope that its first token does not have.
const CALLS: usize = 2;

/// Each client then sees that a tool is not listed, and is denied a call of it, and a call with an argument that a rule denies.
const DENIED: usize = 3;

/// The line that a client prints at its end.
#[derive(Deserialize)]
struct Counts {
    called: usize,
    denied: usize,
    logins: usize,
}

/// Fails if a client does not get to the tools, gets to those that are denied, or logs in more often than it needs to.
pub(super) fn check_logins() -> anyhow::Result<()> {
    let files = build(&["calculator"])?;
    let address = free_address()?.to_string();
    let url = format!("https://{address}/mcp");
    let issuer = Server::spawn(Command::new(program("puppet")).args(["--issuer", &url]))?;
    let folder = tempfile::tempdir()?;
    let trusted = write_certificate(folder.path())?;
    let config = config(&files[0], &address, &issuer.url, folder.path())?;
    let server = Server::start_configured(&config)?;
    println!("{:<22} {:<10} logins", "client", "protocol");
    let mut failed = 0;
    for client in clients()? {
        let Some(login) = &client.login else {
            continue;
        };
        let (program, arguments) = client.install(login)?;
        for mode in &client.modes {
            let mut command = Command::new(&program);
            command.current_dir(root()).args(&arguments);
            // Those of Python and of Node.
            command.env("SSL_CERT_FILE", &trusted);
            command.env("NODE_EXTRA_CA_CERTS", &trusted);
            let needed = if client.name == WITH_KEY { 0 } else { 2 };
            let outcome = output(command.arg(mode).arg(&server.url)).and_then(|counts: Counts| {
                let (called, denied, logins) = (counts.called, counts.denied, counts.logins);
                ensure!(
                    (called, denied, logins) == (CALLS, DENIED, needed),
                    "called {called} tools, was denied {denied} and logged in {logins} times; \
                     expected {CALLS}, {DENIED} and {needed}"
                );
                Ok(logins)
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

/// A configuration with an endpoint that takes tokens of the issuer, and a key. It is in this folder, which has its certificate.
fn config(wasm: &Path, address: &str, issuer: &str, folder: &Path) -> anyhow::Result<PathBuf> {
    let sha256 = hex(&Sha256::digest(KEY));
    let wasm = wasm.display();
    let text = format!(
        r#"
[listener.local]
address = "{address}"
tls = {{ cert = "cert.pem", key = "key.pem", min = "1.3" }}
[endpoint.main]
kind = "http"
listener = "local"
auth = "corp"
url = "https://{address}/mcp"
rules = [
  {{ deny = ["gcd"] }},
  {{ deny = ["divide"], arguments = {{ divisor = {{ minimum = 10 }} }} }},
  {{ allow = ["*"] }},
]
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
    let path = folder.join("servlet.toml");
    fs::write(&path, text)?;
    Ok(path)
}
