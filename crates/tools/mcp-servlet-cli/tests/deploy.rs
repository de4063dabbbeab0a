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
mod processes;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::process::{Command, Stdio};

use processes::{deployed, request, text};

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
