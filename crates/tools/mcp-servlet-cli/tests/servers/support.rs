//! Runs the command next to servers that play scripts.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

use puppet::{Puppet, Script};
use serde_json::Value;
use tokio::runtime::Runtime;

/// Servers over HTTP run here.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().expect("a runtime"))
}

/// The URL of a server that plays a script of `tests/puppet/scripts`.
pub(crate) fn http(script: &str) -> String {
    url(&Puppet::new(script))
}

/// The URL of a server that plays this script.
pub(crate) fn http_with(script: Value) -> String {
    let script: Script = serde_json::from_value(script).expect("a script");
    url(&Puppet::with(script))
}

/// The URL of a server.
pub(crate) fn url(puppet: &Puppet) -> String {
    format!("http://{}/mcp", runtime().block_on(puppet.http()))
}

/// The command line of a server over standard input and output.
pub(crate) fn puppet(script: &str) -> [String; 2] {
    [puppet::program(), script].map(str::to_owned)
}

/// The command in an empty home and an empty folder.
pub(crate) fn command<I>(arguments: I) -> (Command, tempfile::TempDir)
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let home = tempfile::tempdir().expect("a folder");
    (command_in(home.path(), arguments), home)
}

/// The command in a folder, which is also the home.
pub(crate) fn command_in<I>(home: &Path, arguments: I) -> Command
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    command
        .args(arguments)
        .current_dir(home)
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join(".config"))
        .env_remove("CLAUDE_CONFIG_DIR")
        .env_remove("CODEX_HOME")
        .env_remove("COPILOT_HOME")
        .stdin(Stdio::null());
    command
}

/// Runs the command: its exit code, standard output and standard error.
pub(crate) fn run<I>(arguments: I) -> (i32, String, String)
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let (mut command, _home) = command(arguments);
    parts(&command.output().expect("the command runs"))
}

/// The exit code, standard output and standard error.
pub(crate) fn parts(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let code = output.status.code().expect("an exit code");
    (code, text(&output.stdout), text(&output.stderr))
}

/// Runs a command that must succeed, and returns its standard output.
#[track_caller]
pub(crate) fn succeed<I>(arguments: I) -> String
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let (code, stdout, stderr) = run(arguments);
    assert_eq!(code, 0, "{stderr}");
    stdout
}

/// An example as a servlet.
pub(crate) fn example(name: &str) -> PathBuf {
    e2e::wasm(name, e2e::Profile::Servlet)
}
