//! Runs commands and prints them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::IsTerminal as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

/// How long a server may take until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    // `cargo run` passes the folder of the package. `env!` would not do: two clones with one target directory would
    // share the path of whichever was built last.
    let package = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| "xtask".into(), PathBuf::from);
    package.parent().unwrap_or(&package).to_owned()
}

/// The target directory of cargo.
pub(crate) fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A program of this workspace, built in the dev profile.
pub(crate) fn program(name: &str) -> PathBuf {
    let name = format!("{name}{}", env::consts::EXE_SUFFIX);
    target().join("debug").join(name)
}

/// Shows the progress of the first build of the workspace; later builds are quiet.
pub(crate) fn show_first_build(cargo: &mut Command) -> &mut Command {
    let is_first = !program("servlet").exists();
    if is_first {
        eprintln!("\nx: building a WebAssembly host; the first time this takes minutes");
    }
    if is_first && std::io::stderr().is_terminal() {
        return cargo;
    }
    cargo.env("CARGO_TERM_QUIET", "true")
}

/// Cargo with these arguments, at the root of the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    // `cargo run` sets variables for this package. With them, ring's build script runs again, and everything that depends
    // on it is compiled again: now, and in the tests, which also remove them.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&*name);
        }
    }
    command
}

/// Flags of rustc that keep the paths of this machine out of what it builds, so that every machine builds the same bytes.
pub(crate) fn portable_flags() -> OsString {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let folders = [
        (Some(root()), "/mcp-servlet"),
        (home, "/cargo"),
        (Some(target()), "/target"),
    ];
    let flags: Vec<_> = folders
        .into_iter()
        .filter_map(|(folder, name)| {
            let folder = folder?;
            let folder = fs::canonicalize(&folder).unwrap_or(folder);
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(folder);
            flag.push("=");
            flag.push(name);
            Some(flag)
        })
        .collect();
    flags.join(OsStr::new("\u{1f}"))
}

/// Runs a command to its end; one that fails is an error.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let name = show(command);
    let status = command
        .status()
        .with_context(|| format!("cannot run `{name}`"))?;
    if !status.success() {
        bail!("`{name}` failed with {status}");
    }
    Ok(())
}

/// Runs a command without input, and returns what it prints. One that fails is an error with all its output.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot run `{}`", show(command)))?;
    ensure!(
        output.status.success(),
        "`{}`: {}\n{}{}",
        show(command),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command whose output only matters if it fails.
pub(crate) fn quietly(command: &mut Command) -> anyhow::Result<()> {
    output(command).map(drop)
}

/// The search path of programs, with this folder before all others.
pub(crate) fn path_with_first(folder: &Path) -> anyhow::Result<OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(env::split_paths(&path));
    Ok(env::join_paths(folders)?)
}

/// A process that is killed when this value is dropped.
pub(crate) struct KillOnDrop(Child);

impl KillOnDrop {
    pub(crate) fn spawn(command: &mut Command) -> anyhow::Result<Self> {
        let child = command
            .spawn()
            .with_context(|| format!("cannot start `{}`", show(command)))?;
        Ok(Self(child))
    }

    /// What the process writes to its standard error, if that is piped and was not taken before.
    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.0.stderr.take()
    }
}

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An address of this machine at which nothing listens now.
pub(crate) fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// Waits until a server listens at this address.
pub(crate) fn wait_until_listening(address: SocketAddr) -> anyhow::Result<()> {
    let start = Instant::now();
    while TcpStream::connect(address).is_err() {
        ensure!(
            start.elapsed() < START_TIMEOUT,
            "nothing listens at {address} after {} s",
            START_TIMEOUT.as_secs()
        );
        sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// The command as one would type it in a shell.
pub(crate) fn show(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}
