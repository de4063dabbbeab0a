//! `HAProxy` in front of several processes of the server.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

use crate::http::{Listening, free_port};
use crate::process::Process;

/// The configuration that the project recommends.
pub(crate) const CONFIG: &str = include_str!("../../../deploy/haproxy.cfg");

/// Starts `HAProxy` with a configuration like [`CONFIG`], but with servers at these ports, whose endpoint is `/mcp`. The file of its
/// configuration is put in `folder`.
pub(crate) fn start(config: &str, folder: &Path, ports: &[u16]) -> anyhow::Result<Listening> {
    let port = free_port()?;
    let (rest, _) = config
        .split_once("    server a ")
        .context("a configuration with the server `a`")?;
    let mut config = rest
        .replace("bind :80", &format!("bind 127.0.0.1:{port}"))
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
    Ok(Listening {
        process: Process(child),
        url: format!("http://127.0.0.1:{port}/mcp"),
    })
}
