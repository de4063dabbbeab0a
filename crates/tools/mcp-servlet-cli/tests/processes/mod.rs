//! Real processes of `servlet serve`, and a load balancer in front of them.
#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

mod balancer;
mod load;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use puppet::PATIENCE;
use tempfile::TempDir;

pub(crate) use self::{
    balancer::{Balancer, by_turns, checks_often},
    load::{CLIENTS, under_load},
};

/// A file of the folder `deploy`.
pub(crate) fn deployed(name: &str) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    crates.join("../../../deploy").join(name)
}

pub(crate) fn text(name: &str) -> String {
    fs::read_to_string(deployed(name)).expect("a file of the repository")
}

/// A process that serves the file `servlet.toml` of a folder. It is killed when this value is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// Its host and port.
    pub(crate) address: String,
    /// The host and port of its metrics.
    operations: String,
    folder: TempDir,
}

impl Server {
    /// The listener of the configuration has the port 0.
    pub(crate) fn start(folder: TempDir) -> Self {
        let (child, [address, operations]) = spawn(&folder);
        Self {
            child,
            address,
            operations,
            folder,
        }
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.expect("a signal").success());
    }

    /// Ends the process at once, as a machine does that loses power.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }

    /// Ends the process as an operator does.
    pub(crate) fn stop(&mut self) {
        self.signal("-TERM");
        let ended = self.child.wait().expect("an end");
        assert!(ended.success(), "{ended:?}");
    }

    /// Starts a process that has ended again, at the same address.
    pub(crate) fn restart(&mut self) {
        let config = self.folder.path().join("servlet.toml");
        let text = fs::read_to_string(&config).expect("a configuration");
        fs::write(config, text.replace("127.0.0.1:0", &self.address)).expect("a file");
        let (child, [address, operations]) = spawn(&self.folder);
        assert_eq!(address, self.address);
        (self.child, self.operations) = (child, operations);
    }

    /// Replaces the configuration, except for its address.
    pub(crate) fn configure(&self, config: &str) {
        let new = self.folder.path().join("new.toml");
        fs::write(&new, config).expect("a file");
        // The process never sees half of a file.
        fs::rename(new, self.folder.path().join("servlet.toml")).expect("a file");
    }

    /// The value of a metric, with its labels. 0 if there is none.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let metrics = request(&self.operations, "GET", "/metrics", "", "");
        let (_, metrics) = metrics.expect("metrics");
        let mut lines = metrics.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map_or(0, |value| value.parse().expect("a number"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process, and the addresses for clients and for metrics.
fn spawn(folder: &TempDir) -> (Child, [String; 2]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    command.args(["serve", "servlet.toml", "--operations", "127.0.0.1:0"]);
    let mut child = command
        .current_dir(folder)
        .stderr(Stdio::piped())
        .spawn()
        .expect("a server");
    let stderr = child.stderr.take().expect("it is piped");
    let mut lines = BufReader::new(stderr)
        .lines()
        .map(|line| line.expect("text"));
    let mut address = |before: &str| {
        let found = lines.find_map(|line| {
            let (_, url) = line.split_once(before)?;
            Some(url.split('/').next()?.to_owned())
        });
        found.unwrap_or_else(|| panic!("no line with `{before}`"))
    };
    let addresses = ["listening on http://", "metrics on http://"].map(&mut address);
    // Keeps the pipe open, and empty.
    std::thread::spawn(move || lines.for_each(drop));
    (child, addresses)
}

/// The status of a response, and its text with the headers. None if there is no response.
pub(crate) fn request(
    address: &str,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response).ok()?;
    let response = String::from_utf8_lossy(&response).into_owned();
    let status = response.split(' ').nth(1)?.parse().ok()?;
    Some((status, response))
}
