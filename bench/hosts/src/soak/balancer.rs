//! `HAProxy` in front of several processes of the server.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

use super::site::REMOTE;
use crate::http::free_port;
use crate::process::Process;

/// The configuration that the project recommends.
const CONFIG: &str = include_str!("../../../../deploy/haproxy.cfg");

/// A running load balancer.
pub(super) struct Balancer {
    _process: Process,
    /// The endpoint `/mcp` of the processes behind it.
    pub(super) url: String,
}

impl Balancer {
    /// Starts `HAProxy` with servers at these ports. Each request may go to another one. The file of its configuration is put in
    /// `folder`.
    pub(super) fn start(folder: &Path, ports: &[u16]) -> anyhow::Result<Self> {
        let port = free_port()?;
        let (rest, _) = CONFIG
            .split_once("    server a ")
            .context("a configuration with the server `a`")?;
        let mut config = rest
            .replace("bind :80", &format!("bind 127.0.0.1:{port}"))
            // While the remotes are down, the processes serve the rest.
            .replace("GET /ready", &format!("GET /ready?exclude={REMOTE}"))
            .replace("balance hdr(Mcp-Session-Id)", "balance roundrobin")
            .replace("timeout client", "timeout check 10s\n    timeout client")
            .replace("check inter 1s", "check inter 200ms");
        for (number, port) in ports.iter().enumerate() {
            config += &format!("    server s{number} 127.0.0.1:{port}\n");
        }
        let file = folder.join("haproxy.cfg");
        fs::write(&file, config)?;
        let mut command = Command::new("haproxy");
        command.arg("-db").arg("-f").arg(file).stderr(Stdio::null());
        let child = command.spawn().context("cannot start `haproxy`")?;
        // It has checked all servers by then.
        thread::sleep(Duration::from_secs(2));
        Ok(Self {
            _process: Process(child),
            url: format!("http://127.0.0.1:{port}/mcp"),
        })
    }
}
