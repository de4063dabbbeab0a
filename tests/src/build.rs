//! Builds the examples for `wasm32-unknown-unknown`, once per profile and process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// How the examples are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// What plain `--release` gives.
    Release,
    /// The profile of `servlet build`, tuned for size.
    Servlet,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Servlet => "servlet",
        }
    }
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}

/// The wasm of an example.
///
/// # Panics
///
/// If the examples do not build, with what cargo said.
pub fn wasm(example: &str, profile: Profile) -> PathBuf {
    static RELEASE: OnceLock<()> = OnceLock::new();
    static SERVLET: OnceLock<()> = OnceLock::new();
    let once = match profile {
        Profile::Release => &RELEASE,
        Profile::Servlet => &SERVLET,
    };
    once.get_or_init(|| build(profile));
    let folder = target().join("wasm32-unknown-unknown").join(profile.name());
    folder.join(format!("{example}.wasm"))
}

/// As a plugin author's CI does it: at the root of the workspace, without naming packages.
fn build(profile: Profile) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--target", "wasm32-unknown-unknown", "--profile", profile.name()]);
    let output = cargo.current_dir(root()).output().expect("cargo runs");
    assert!(
        output.status.success(),
        "the examples do not build; without the target, run `rustup target add wasm32-unknown-unknown`\n{}",
        String::from_utf8_lossy(&output.stderr),
    );
}

/// The `servlet` command, built in the same profile as this.
///
/// # Panics
///
/// If it does not build, with what cargo said.
pub fn servlet() -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    let path = target().join("debug").join(format!("servlet{}", std::env::consts::EXE_SUFFIX));
    BUILT.get_or_init(|| {
        if !path.exists() {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["build", "--quiet", "--package", "mcp-servlet-cli"]);
            let status = cargo.current_dir(root()).status().expect("cargo runs");
            assert!(status.success(), "the `servlet` command does not build");
        }
    });
    path
}

/// The `servlet` command with these arguments, in the root of the workspace.
pub fn servlet_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(servlet());
    command.args(arguments).current_dir(root());
    command
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
