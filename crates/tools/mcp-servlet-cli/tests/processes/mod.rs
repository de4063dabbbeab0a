//! Real processes of `servlet serve`, and a load balancer in front of them.
#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

mod balancer;
mod load;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;
use wire::{Http, Process};

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
    process: Process,
    /// Its host and port.
    pub(crate) address: String,
    /// The host and port of its metrics.
    operations: String,
    folder: TempDir,
}

impl Server {
    /// The listener of the configuration has the port 0.
    pub(crate) fn start(folder: TempDir) -> Self {
        let (process, [address, operations]) = spawn(&folder);
        Self {
            process,
            address,
            operations,
            folder,
        }
    }

    /// Ends the process at once, as a machine does that loses power.
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// Ends the process as an operator does.
    pub(crate) fn stop(&mut self) {
        self.process.signal("TERM");
        let ended = self.process.ended();
        assert!(ended.success(), "{ended:?}");
    }

    /// Starts a process that has ended again, at the same address.
    pub(crate) fn restart(&mut self) {
        let config = self.folder.path().join("servlet.toml");
        let text = fs::read_to_string(&config).expect("a configuration");
        fs::write(config, text.replace("127.0.0.1:0", &self.address)).expect("a file");
        let (process, [address, operations]) = spawn(&self.folder);
        assert_eq!(address, self.address);
        (self.process, self.operations) = (process, operations);
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
        let metrics = Http::new(format!("http://{}/metrics", self.operations)).get();
        let mut lines = metrics.text().lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map_or(0, |value| value.parse().expect("a number"))
    }
}

/// A process, and the addresses for clients and for metrics.
fn spawn(folder: &TempDir) -> (Process, [String; 2]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    command.args(["serve", "servlet.toml", "--operations", "127.0.0.1:0"]);
    let process = Process::connect(command.current_dir(folder));
    let addresses = ["listening on http://", "metrics on http://"].map(|before| {
        let url = process.said_after(before);
        url.split('/').next().expect("a part").to_owned()
    });
    (process, addresses)
}
