//! The files in `deploy`, each checked by its own program, and several processes behind a real HAProxy.
#![cfg(unix)]

#[path = "deploy/files.rs"]
mod files;
mod folder;
#[path = "deploy/haproxy.rs"]
mod haproxy;
#[path = "deploy/kubernetes.rs"]
mod kubernetes;
mod processes;
#[path = "deploy/store.rs"]
mod store;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::process::Command;

use processes::{deployed, text};

/// Fails unless a program accepts what it checks.
fn accepts(command: &mut Command) {
    let output = command.output().expect("it is installed");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{command:?}: {said}");
}
