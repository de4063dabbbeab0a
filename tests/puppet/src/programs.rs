//! Programs of other projects that tests run.

use std::env;

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
