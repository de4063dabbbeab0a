//! An endpoint with TLS and callers, behind a `HAProxy` that adds a key to each request.
//!
//! The suite has no option for a token, and sends some requests with a library that only speaks plain HTTP.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use mcp_servlet_common::hex;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::serve::{Server, servlet, write_certificate};
use crate::shell::{KillOnDrop, free_address, wait_until_listening};

const KEY: &str = "key-of-the-suite";

/// The exit code of `servlet` at a server that requires a login.
const NEEDS_LOGIN: i32 = 13;

/// A server and a `HAProxy`, which end when this value is dropped.
pub(super) struct Secure {
    /// The URL for the suite.
    pub(super) url: String,
    _balancer: KillOnDrop,
    _server: Server,
    _folder: TempDir,
}

impl Secure {
    pub(super) fn start(servlets: &[PathBuf]) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        let root = write_certificate(folder.path())?;
        fs::write(at("servlet.toml"), config(servlets)?)?;
        let server = Server::start_configured(&at("servlet.toml"))?;
        needs_a_key(&server.url, &root)?;
        let address = free_address()?;
        let config = balancer(address, &server.url, &root)?;
        fs::write(at("haproxy.cfg"), config)?;
        let mut command = Command::new("haproxy");
        command.arg("-db").arg("-f").arg(at("haproxy.cfg"));
        let balancer = KillOnDrop::spawn(command.stdin(Stdio::null()))?;
        wait_until_listening(address)?;
        Ok(Self {
            url: format!("http://{address}/mcp"),
            _balancer: balancer,
            _server: server,
            _folder: folder,
        })
    }
}

/// Fails unless the endpoint refuses clients without a key.
fn needs_a_key(url: &str, root: &Path) -> anyhow::Result<()> {
    let mut catalog = servlet();
    catalog.args(["catalog", url, "--tls-ca"]).arg(root);
    let output = catalog.output()?;
    ensure!(
        output.status.code() == Some(NEEDS_LOGIN),
        "a client without a key: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

fn config(servlets: &[PathBuf]) -> anyhow::Result<String> {
    let sha256 = hex(&Sha256::digest(KEY));
    let mut config = format!(
        r#"
[listener.local]
address = "127.0.0.1:0"
tls = {{ cert = "cert.pem", key = "key.pem" }}
[endpoint.main]
kind = "http"
listener = "local"
auth = "corp"
[auth.corp]
key = [{{ name = "suite", sha256 = "{sha256}" }}]
"#
    );
    for servlet in servlets {
        let name = servlet.file_stem().context("a file has a name")?;
        let (name, source) = (name.to_string_lossy(), servlet.display());
        let _ = writeln!(config, "[servlet.{name}]\nsource = '{source}'");
    }
    Ok(config)
}

fn balancer(address: SocketAddr, url: &str, root: &Path) -> anyhow::Result<String> {
    let server = url.strip_prefix("https://").context("a URL with `https`")?;
    let (server, _) = server.split_once('/').context("a URL with a path")?;
    let root = root.display();
    Ok(format!(
        r#"defaults
    mode http
    timeout connect 5s
    timeout client 1h
    timeout server 1h
listen suite
    bind {address}
    http-request set-header Authorization "Bearer {KEY}"
    server a {server} ssl verify required ca-file {root} alpn h2,http/1.1
"#
    ))
}
