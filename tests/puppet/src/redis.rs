//! A real Redis.

use std::{
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use crate::{eventually_blocking, is_installed};

/// The password of each [`Redis`].
const PASSWORD: &str = "s3cret";

/// A Redis in a folder of its own, which keeps nothing on the disk. It is killed when this value is dropped.
///
/// Its functions panic if they fail.
#[derive(Debug)]
pub struct Redis {
    /// Its port on this machine.
    pub port: u16,
    /// Options of its command.
    more: Vec<String>,
    folder: TempDir,
    process: Option<Child>,
}

impl Redis {
    /// Starts it. `None` if it is not [installed](is_installed).
    pub fn start() -> Option<Self> {
        Self::start_with(|_, port| ["--port", port].map(str::to_owned).into())
    }

    /// The same, with options that `more` makes of its folder and its port.
    pub fn start_with(more: impl Fn(&Path, &str) -> Vec<String>) -> Option<Self> {
        if !is_installed("redis-server") {
            return None;
        }
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut redis = Self {
            port: free.local_addr().expect("an address").port(),
            more: Vec::new(),
            folder: tempfile::tempdir().expect("a folder"),
            process: None,
        };
        redis.more = more(redis.folder.path(), &redis.port.to_string());
        drop(free);
        redis.run();
        Some(redis)
    }

    /// Starts it again, without what was in it.
    pub fn run(&mut self) {
        let process = Command::new("redis-server")
            .args(["--save", "", "--requirepass", PASSWORD])
            .args(&self.more)
            .arg("--dir")
            .arg(self.folder.path())
            .stdout(Stdio::null())
            .spawn();
        self.process = Some(process.expect("it is installed"));
        eventually_blocking("Redis", || TcpStream::connect(("127.0.0.1", self.port)));
    }

    /// Kills it.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("it runs");
            process.wait().expect("it has ended");
        }
    }

    /// The section of a configuration for the store `main` in it.
    pub fn section(&self) -> String {
        let port = self.port;
        format!("[store.main]\nredis = \"redis://127.0.0.1:{port}\"\npassword = \"{PASSWORD}\"\n")
    }

    /// Its answer to a command.
    pub fn ask(&self, command: &[&str]) -> String {
        let port = self.port.to_string();
        let output = Command::new("redis-cli")
            .args(["-p", &port, "-a", PASSWORD, "--no-auth-warning"])
            .args(command)
            .output();
        String::from_utf8(output.expect("it comes with Redis").stdout).expect("text")
    }

    /// Everything in it, as text.
    pub fn dump(&self) -> String {
        let keys = self.ask(&["KEYS", "*"]);
        let values = keys
            .lines()
            .filter(|key| !key.is_empty())
            .map(|key| format!("{key} {}\n", self.ask(&["GET", key])));
        values.collect()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.stop();
    }
}
