//! A HAProxy with the configuration of `deploy`.

use std::{
    fs,
    net::TcpListener,
    process::{Child, Command, Stdio},
};

use puppet::eventually_blocking;
use tempfile::TempDir;
use wire::Http;

use super::{Server, text};

/// A HAProxy. It is killed when this value is dropped.
pub(crate) struct Balancer {
    child: Child,
    pub(crate) address: String,
    _folder: TempDir,
}

impl Balancer {
    /// A HAProxy with the file of `deploy` in front of other addresses. `edit` changes it.
    pub(crate) fn start(servers: &[Server], edit: impl Fn(String) -> String) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = free.local_addr().expect("an address").to_string();
        let given = text("haproxy.cfg");
        let (rest, _) = given.split_once("    server a ").expect("the first server");
        let rest = rest.replace("bind :80", &format!("bind {address}"));
        let servers = servers.iter().enumerate();
        let servers = servers.map(|(at, server)| format!("    server s{at} {}\n", server.address));
        let config = edit(rest) + &servers.collect::<String>();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("haproxy.cfg");
        fs::write(&path, config).expect("a file");
        drop(free);
        let child = Command::new("haproxy")
            .arg("-db")
            .arg("-f")
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("HAProxy is installed");
        let balancer = Self {
            child,
            address,
            _folder: folder,
        };
        let health = Http::new(format!("http://{}/health", balancer.address));
        eventually_blocking("HAProxy", || {
            let answer = health.try_send("GET", "");
            answer.is_ok_and(|answer| answer.status() == 200)
        });
        balancer
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Notices within half a second that a server leaves.
pub(crate) fn checks_often(config: String) -> String {
    config
        .replace("check inter 1s", "check inter 200ms")
        .replace("timeout client", "timeout check 10s\n    timeout client")
}

/// Requests take turns, also those of a session.
pub(crate) fn by_turns(config: String) -> String {
    config.replace("balance hdr(Mcp-Session-Id)", "balance roundrobin")
}
