//! Builds servlets as wasm and the `servlet` command, each once per process.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The target of servlets.
const TARGET: &str = "wasm32-unknown-unknown";

/// The examples that consist of one crate.
pub const ALL: [&str; 10] = [
    "greet",
    "calculator",
    "catalogue",
    "kv-notes",
    "fetch",
    "qr-code",
    "world-time",
    "json-query",
    "draw-svg",
    "everything",
];

/// Those whose libraries take longest to build. Plain `cargo build --release` leaves them out.
pub const LARGE: [&str; 2] = ["draw-svg", "json-query"];

const HINT: &str = "without the target, run `rustup target add wasm32-unknown-unknown`";

/// How the examples are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// By plain `cargo build --release`. Not for [`LARGE`] ones.
    Release,
    /// By `servlet build`, whose profile is tuned for size.
    Servlet,
}

/// The root of the workspace.
///
/// # Panics
///
/// If this runs outside of the workspace; `cargo test` runs inside.
pub fn root() -> PathBuf {
    // Not `env!`: two clones with one target directory would share the path of whichever was built last.
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let start = package.unwrap_or_else(|| env::current_dir().expect("there is a current folder"));
    let mut folders = start.ancestors();
    let root = folders.find(|folder| folder.join("Cargo.lock").exists());
    root.expect("this runs somewhere in the workspace")
        .to_owned()
}

/// The wasm of an example. The first call builds all examples of the profile.
///
/// # Panics
///
/// If the examples do not build, with the output of cargo, or if the profile does not build this one.
pub fn wasm(example: &str, profile: Profile) -> PathBuf {
    static RELEASE: OnceLock<()> = OnceLock::new();
    static SERVLET: OnceLock<()> = OnceLock::new();
    match profile {
        Profile::Release => RELEASE.get_or_init(|| {
            let others = ALL.iter().filter(|name| !LARGE.contains(name));
            build_release(
                &others
                    .flat_map(|name| ["--package", name])
                    .collect::<Vec<_>>(),
            );
        }),
        Profile::Servlet => SERVLET.get_or_init(|| servlet_build(&[], &copies("servlet"))),
    };
    let is_large = LARGE.contains(&&*example.replace('_', "-"));
    assert!(
        profile == Profile::Servlet || !is_large,
        "{example} is in `LARGE`, so use `Profile::Servlet`"
    );
    let folder = match profile {
        Profile::Release => target().join(TARGET).join("release"),
        Profile::Servlet => copies("servlet"),
    };
    folder.join(format!("{}.wasm", example.replace('-', "_")))
}

/// The output folder of `servlet build` for this test binary. In a shared one, a build of another test would remove files for a
/// moment.
fn copies(abi: &str) -> PathBuf {
    let program = env::current_exe().expect("this program has a path");
    let name = program.file_stem().expect("a program has a name");
    let name = name.to_string_lossy();
    let name = name.split_once('-').map_or(&*name, |(name, _)| name);
    target().join("servlets").join(name).join(abi)
}

fn servlet_build(arguments: &[&str], folder: &Path) {
    let mut command = servlet_command(["build"]);
    finish(command.args(arguments).arg("-o").arg(folder), HINT);
}

/// The wasm of an example for the second ABI of hyper-mcp, built by `servlet build`.
///
/// # Panics
///
/// If the example does not build, with the output of the command.
pub fn hyper_mcp(example: &str) -> PathBuf {
    with_abi("hyper-mcp-v2", example)
}

/// The wasm of an example whose results have only forms of the first interfaces, built by `servlet build`.
///
/// # Panics
///
/// If the example does not build, with the output of the command.
pub fn servlet_strict(example: &str) -> PathBuf {
    with_abi("servlet-strict", example)
}

/// The wasm of an example for an ABI other than the default one. Few tests need it, so each example is built separately.
fn with_abi(abi: &'static str, example: &str) -> PathBuf {
    static BUILT: Mutex<BTreeSet<(&str, String)>> = Mutex::new(BTreeSet::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = copies(abi);
    if built.insert((abi, example.to_owned())) {
        servlet_build(&[&format!("examples/{example}"), "--abi", abi], &folder);
    }
    folder.join(format!("{}.wasm", example.replace('-', "_")))
}

/// The wasm of a servlet in `tests/fixtures`: `probe`, or one of the minimal ones.
///
/// # Panics
///
/// If the fixtures do not build, with the output of cargo.
pub fn fixture(name: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| build_release(&["--package", "fixtures", "--lib", "--examples"]));
    let release = target().join(TARGET).join("release");
    let folder = match name {
        "probe" => release,
        _ => release.join("examples"),
    };
    folder.join(format!("{name}.wasm"))
}

/// The wasm of a minimal servlet in `tests/fixtures` for the second ABI of hyper-mcp.
///
/// # Panics
///
/// If it does not build, with the output of cargo.
pub fn hyper_mcp_fixture(name: &str) -> PathBuf {
    fixture_with_abi("hyper-mcp-v2", name)
}

/// The wasm of a minimal servlet in `tests/fixtures` whose results have only forms of the first interfaces.
///
/// # Panics
///
/// If it does not build, with the output of cargo.
pub fn strict_fixture(name: &str) -> PathBuf {
    fixture_with_abi("servlet-strict", name)
}

/// The wasm of a minimal servlet in `tests/fixtures` that imports no function to call tools.
///
/// # Panics
///
/// If it does not build, with the output of cargo.
pub fn no_tools_fixture(name: &str) -> PathBuf {
    let mut cargo = cargo();
    cargo.args(["build", "--features", "mcp-servlet/no-tools"]);
    fixture_of(cargo, "no-tools", name)
}

fn fixture_with_abi(abi: &str, name: &str) -> PathBuf {
    let mut cargo = cargo();
    cargo.env("MCP_SERVLET_ABI", abi).arg("build");
    fixture_of(cargo, abi, name)
}

/// Builds a minimal servlet in a target directory of its own.
fn fixture_of(mut cargo: Command, folder: &str, name: &str) -> PathBuf {
    let folder = target().join(folder);
    cargo.args(["--release", "--target", TARGET]);
    cargo.args(["--package", "fixtures", "--example", name]);
    finish(cargo.arg("--target-dir").arg(&folder), HINT);
    let examples = folder.join(TARGET).join("release").join("examples");
    examples.join(format!("{name}.wasm"))
}

/// The wasm of an example that is an XTP plugin with its own schema.
///
/// Built in the profile of the tests, for which the code generator of its build script is already built.
///
/// # Panics
///
/// If it does not build, with the output of cargo.
pub fn plugin(name: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut cargo = cargo();
        cargo.args(["build", "--target", TARGET, "--package", name]);
        finish(&mut cargo, HINT);
    });
    target()
        .join(TARGET)
        .join("debug")
        .join(format!("{name}.wasm"))
}

fn build_release(packages: &[&str]) {
    let mut cargo = cargo();
    cargo.args(["build", "--release", "--target", TARGET]);
    finish(cargo.args(packages), HINT);
}

/// The `servlet` command, built from the current source.
///
/// # Panics
///
/// If it does not build, with the output of cargo.
pub fn servlet() -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| finish(cargo().arg("programs"), "see .cargo/config.toml"));
    let name = format!("servlet{}", env::consts::EXE_SUFFIX);
    target().join("debug").join(name)
}

/// The `servlet` command with these arguments, in the root of the workspace.
pub fn servlet_command<I>(arguments: I) -> Command
where
    I: IntoIterator<Item: AsRef<std::ffi::OsStr>>,
{
    let mut command = Command::new(servlet());
    command.args(arguments).current_dir(root());
    command
}

/// Cargo at the root of the workspace; it prints only errors.
pub fn cargo() -> Command {
    let mut cargo = puppet::cargo();
    cargo
        .current_dir(root())
        .env("CARGO_TERM_QUIET", "true")
        .env_remove("MCP_SERVLET_ABI");
    cargo
}

fn finish(cargo: &mut Command, hint: &str) {
    let output = cargo.output().expect("cargo runs");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{cargo:?} failed; {hint}\n{messages}"
    );
}

/// The target directory of cargo.
pub fn target() -> PathBuf {
    let folder = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(folder)
}
