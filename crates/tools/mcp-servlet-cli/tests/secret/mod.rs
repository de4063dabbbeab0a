//! Commands at the highest log level, and a check that no secret is in what they print.

use std::{
    fmt::Debug,
    path::Path,
    process::{Command, Output, Stdio},
};

/// The beginning of every secret.
pub(crate) const MARK: &str = "s3cr3t";

/// A command in a folder. The environment variable `MCP_SERVLET_TEST_TOKEN` is a secret.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    command
        .args(arguments)
        .arg("-vvv")
        .current_dir(folder)
        .env("MCP_SERVLET_TEST_TOKEN", "s3cr3t-environment")
        .env_remove("RUST_LOG")
        .stdin(Stdio::null());
    command
}

/// Runs a command to its end.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    let output = command(folder, arguments).output();
    output.expect("the command runs")
}

#[track_caller]
pub(crate) fn assert_kept(what: impl Debug, output: &Output) {
    for (stream, bytes) in [("output", &output.stdout), ("error", &output.stderr)] {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(MARK), "{what:?}, standard {stream}:\n{text}");
    }
}
