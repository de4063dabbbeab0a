//! Programs that tests run.

use std::{env, process::Command, sync::LazyLock};

/// The variable with which a missing program fails its tests. CI sets it.
const REQUIRED: &str = "REQUIRE_PROGRAMS";

/// Whether a program is in a directory of `PATH`. Otherwise, the caller must end its test, which is then skipped.
///
/// # Panics
/// If the program is missing and `REQUIRE_PROGRAMS` is set.
pub fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let file = format!("{program}{}", env::consts::EXE_SUFFIX);
    let is_installed = env::split_paths(&path).any(|folder| folder.join(&file).is_file());
    if !is_installed {
        let is_required = env::var_os(REQUIRED).is_some();
        assert!(
            !is_required,
            "`{program}` is not installed, and {REQUIRED} is set"
        );
        eprintln!("skipped: `{program}` is not installed");
    }
    is_installed
}

/// Cargo, as if no test ran it.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Cargo sets variables for the package of this test, and `OUT_DIR` if it has a build script. Build
    // scripts that read them, such as ring's, would run again, and everything that depends on them
    // would be rebuilt: now, and in the next `cargo test`.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_")
            || name.starts_with("CARGO_MANIFEST_")
            || name == "OUT_DIR"
        {
            cargo.env_remove(&*name);
        }
    }
    cargo
}

/// The path of the command `puppet`, which plays a script. The first call builds it, because cargo does that only for the tests of this
/// package.
///
/// # Panics
/// If it does not build.
pub fn program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(build);
    &PROGRAM
}

fn build() -> String {
    let mut cargo = cargo();
    // See .cargo/config.toml.
    let status = cargo.args(["programs", "--quiet"]).status();
    let status = status.expect("cargo runs");
    assert!(status.success(), "{cargo:?}: {status}");
    let test = env::current_exe().expect("the path of the test");
    let folder = test.ancestors().nth(2).expect("the folder of `deps`");
    let program = folder.join(format!("puppet{}", env::consts::EXE_SUFFIX));
    program.to_str().expect("text").to_owned()
}
