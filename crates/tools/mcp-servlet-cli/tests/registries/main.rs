//! `servlet push`, `pull` and `cache`, and images as sources and as TARGET.

#![allow(
    clippy::disallowed_methods,
    reason = "tasks of a test end with its runtime"
)]

mod images;
// The programs are packages of Debian.
#[cfg(target_os = "linux")]
mod programs;
mod release;
#[allow(dead_code, reason = "the tests of the client use the rest")]
#[path = "../../../../host/mcp-servlet-oci/tests/registry/site.rs"]
mod site;

use std::{
    ffi::OsStr,
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use e2e::{Profile, wasm};
use tempfile::TempDir;

/// The password of every login. It must not be shown.
const PASSWORD: &str = "s3cr3t-password";

/// A home with `greet.wasm` in it.
fn home() -> TempDir {
    let home = tempfile::tempdir().expect("a folder");
    let greet = wasm("greet", Profile::Servlet);
    fs::copy(greet, home.path().join("greet.wasm")).expect("a servlet");
    home
}

/// The command in a home, which is also its folder. It trusts the certificates in `ca`, and writes its whole log.
fn command<I>(home: &Path, ca: &Path, arguments: I) -> Command
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    command
        .args(arguments)
        .current_dir(home)
        .env("HOME", home)
        .env("USERPROFILE", home)
        .env("LOCALAPPDATA", home)
        .env("SSL_CERT_FILE", ca)
        .stdin(Stdio::null());
    for name in [
        "DOCKER_CONFIG",
        "REGISTRY_AUTH_FILE",
        "RUST_LOG",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_RUNTIME_DIR",
    ] {
        command.env_remove(name);
    }
    command
}

/// Runs a command to its end: its exit code, and what it writes to both streams. No password is in it.
#[track_caller]
fn outcome(command: &mut Command) -> (Option<i32>, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("the command runs");
    let text = [stdout, stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(!text.contains(PASSWORD), "{text}");
    (status.code(), text)
}

/// The output of a command that must succeed.
#[track_caller]
fn success(command: &mut Command) -> String {
    let (code, text) = outcome(command);
    assert_eq!(code, Some(0), "{text}");
    text
}
