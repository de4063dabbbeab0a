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
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // See .cargo/config.toml.
    cargo.args(["programs", "--quiet"]);
    // Variables for the package of the test. Build scripts that read them would run again.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&*name);
        }
    }
    let status = cargo.env_remove("OUT_DIR").status().expect("cargo runs");
    assert!(status.success(), "{cargo:?}: {status}");
    let test = env::current_exe().expect("the path of the test");
    let folder = test.ancestors().nth(2).expect("the folder of `deps`");
    let program = folder.join(format!("puppet{}", env::consts::EXE_SUFFIX));
    program.to_str().expect("text").to_owned()
}
