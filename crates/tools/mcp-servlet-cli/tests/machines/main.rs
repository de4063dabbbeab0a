//! Several processes behind a real HAProxy, under load, for what takes too long for each change.
#![cfg(unix)]

mod client;
#[path = "../processes/mod.rs"]
mod processes;
mod questions;
mod restarts;
mod tasks;
mod transports;

use std::fs;

use processes::Server;
use tempfile::TempDir;

const KEYS: &str = "[server]\nstate_keys = [\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]\n";

/// An endpoint at `/mcp`. Keys can be added after it.
const ENDPOINT: &str = "[listener.local]\naddress = \"127.0.0.1:0\"\n\
    [endpoint.main]\nkind = \"http\"\nlistener = \"local\"\n";

/// A folder with a configuration, and the servlets that it names.
fn folder(config: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["once", "tasks"] {
        let wasm = folder.path().join(name).with_extension("wasm");
        fs::copy(e2e::fixture(name), wasm).expect("a file");
    }
    let path = folder.path().join("servlet.toml");
    fs::write(path, with_servlets(config)).expect("a file");
    folder
}

fn with_servlets(config: &str) -> String {
    format!(
        "{config}[servlet.once]\nsource = \"once.wasm\"\n[servlet.tasks]\nsource = \"tasks.wasm\"\n"
    )
}

/// Three processes with the same configuration.
fn three(config: &str) -> Vec<Server> {
    (0..3).map(|_| Server::start(folder(config))).collect()
}
