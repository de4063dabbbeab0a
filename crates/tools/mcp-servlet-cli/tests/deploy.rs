//! The files in `deploy`, each checked by its own program, and several processes behind a real HAProxy. What needs a program that is
//! not installed is skipped.
#![cfg(unix)]

#[path = "deploy/files.rs"]
mod files;
mod folder;
#[path = "deploy/haproxy.rs"]
mod haproxy;
#[path = "deploy/kubernetes.rs"]
mod kubernetes;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// Longer than any program takes to start on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A file of the folder `deploy`.
fn deployed(name: &str) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    crates.join("../../../deploy").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(deployed(name)).expect("a file of the repository")
}

/// Whether a program can be run. Says so if it is skipped.
fn is_installed(program: &str) -> bool {
    let run = Command::new(program)
        .arg("-v")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if run.is_err() {
        eprintln!("skipped: `{program}` is not installed");
    }
    run.is_ok()
}

/// Fails unless a program accepts what it checks.
fn accepts(command: &mut Command) {
    let output = command.output().expect("it is installed");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{command:?}: {said}");
}

/// A process that serves a configuration. It is killed when this value is dropped.
struct Server {
    child: Child,
    /// Its host and port.
    address: String,
    _folder: TempDir,
}

impl Server {
    /// `config` has one endpoint at the port 0.
    fn start(config: &str) -> Self {
        let folder = folder::folder(config);
        let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
        command.args(["serve", "servlet.toml"]).current_dir(&folder);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("a server");
        let stderr = child.stderr.take().expect("it is piped");
        let mut lines = BufReader::new(stderr)
            .lines()
            .map(|line| line.expect("text"));
        let address = lines.find_map(|line| {
            let (_, url) = line.split_once("listening on http://")?;
            Some(url.trim_end_matches("/mcp").to_owned())
        });
        // Keeps the pipe open, and empty.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            address: address.expect("a line with the address"),
            _folder: folder,
        }
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.expect("a signal").success());
    }

    /// Ends the process at once, as a machine does that loses power.
    fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The status of a response, and its text with the headers. None if there is no response.
fn request(
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

/// Waits until something holds.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
