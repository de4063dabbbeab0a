//! Runs the command lines of `xtp.toml`.

use std::{
    path::Path,
    process::{Command, ExitStatus, Stdio},
};

/// Runs a command line in the system's shell, in the folder of the project.
///
/// Its output goes to standard error, because standard output is for results of this command.
///
/// # Errors
///
/// A message with its exit status, or why it could not start.
pub(crate) fn run_script(line: &str, folder: &Path) -> Result<(), String> {
    let mut command = shell(line);
    command.current_dir(folder).stdin(Stdio::null());
    command.stdout(std::io::stderr());
    let status = command.status().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    Err(describe(status))
}

fn describe(status: ExitStatus) -> String {
    format!("it ended with {status}")
}

#[cfg(unix)]
fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

#[cfg(not(unix))]
fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    command.args(["/C", line]);
    command
}
