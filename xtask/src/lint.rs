//! Lints and documents the crates of the workspace.
//!
//! `cargo clippy` and `cargo doc` would check all dependencies again, because they do not use what `cargo test` has
//! compiled. Here cargo builds the workspace as for the tests, with this program as the wrapper around rustc: it runs
//! Clippy and rustdoc on each crate and generates no code.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context;

use crate::shell::{cargo, run, target};

/// The ABIs that a servlet can be built for, as `MCP_SERVLET_ABI` names them.
pub(crate) const ABIS: [&str; 2] = ["servlet", "hyper-mcp-v2"];

/// The libraries that build scripts of the workspace link.
const LINKED: [&str; 1] = ["xtp_codegen"];

/// The lints of the code that only a wasm build compiles, including all the unsafe code.
const GUEST: [&str; 11] = [
    "clippy",
    "--package",
    "mcp-servlet",
    "--features",
    "global-allocator,http,log,xtp",
    "--target",
    "wasm32-unknown-unknown",
    "--quiet",
    "--",
    "--deny",
    "warnings",
];

/// If this variable is set, this program is the wrapper. Its value is the folder for the documentation.
const WRAPPER: &str = "MCP_SERVLET_LINT";

/// Fails for any warning of rustc, Clippy or rustdoc.
pub(crate) fn lint() -> anyhow::Result<()> {
    let mut build = cargo(&[
        "build",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--keep-going",
    ]);
    build.env("RUSTC_WORKSPACE_WRAPPER", env::current_exe()?);
    // Clippy and cargo know this form of its options.
    build.env("CLIPPY_ARGS", "--deny__CLIPPY_HACKERY__warnings");
    run(build.env(WRAPPER, target().join("doc")))?;
    for abi in ABIS {
        run(cargo(&GUEST).env("MCP_SERVLET_ABI", abi))?;
    }
    Ok(())
}

/// Whether cargo runs this program instead of rustc.
pub(crate) fn is_wrapper() -> bool {
    env::var_os(WRAPPER).is_some()
}

/// Does the work of rustc for one crate.
pub(crate) fn rustc() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let compiler = PathBuf::from(arguments.next().unwrap_or_default());
    let arguments: Vec<_> = arguments.collect();
    match check(&compiler, Unit(arguments)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("x: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs Clippy, and rustdoc if `cargo doc` would. Returns whether they found nothing.
fn check(compiler: &Path, unit: Unit) -> anyhow::Result<bool> {
    let succeeds = |program: &str, arguments: &[String]| {
        let program = compiler.with_file_name(program);
        let mut command = Command::new(&program);
        if program.ends_with("clippy-driver") {
            // It expects what cargo passes to a wrapper.
            command.arg(compiler);
        }
        let status = command.args(arguments).status();
        let status = status.with_context(|| format!("cannot run `{}`", program.display()))?;
        anyhow::Ok(status.success())
    };
    if unit.is_query() {
        return succeeds("rustc", &unit.0);
    }
    if unit.is_run_by_the_build() {
        if !succeeds("clippy-driver", &unit.0)? {
            return Ok(false);
        }
    } else {
        if !succeeds("clippy-driver", &unit.checked())? {
            return Ok(false);
        }
        unit.leave_output()?;
    }
    match unit.documented() {
        Some(arguments) => succeeds("rustdoc", &arguments),
        None => Ok(true),
    }
}

/// The arguments with which cargo runs rustc.
struct Unit(Vec<String>);

impl Unit {
    /// The values of an option.
    fn all<'a>(&'a self, option: &'a str) -> impl Iterator<Item = &'a str> {
        let pairs = self.0.windows(2);
        pairs.filter_map(move |pair| (pair[0] == option).then_some(pair[1].as_str()))
    }

    fn name(&self) -> &str {
        self.all("--crate-name").next().unwrap_or_default()
    }

    fn folder(&self) -> &Path {
        Path::new(self.all("--out-dir").next().unwrap_or_default())
    }

    fn is_test(&self) -> bool {
        self.0.iter().any(|argument| argument == "--test")
    }

    /// Whether cargo asks for the version or the settings of rustc.
    fn is_query(&self) -> bool {
        !self.0.iter().any(|one| one.starts_with("--emit="))
    }

    /// Whether the code of this crate runs while others are compiled.
    fn is_run_by_the_build(&self) -> bool {
        let name = self.name();
        name.starts_with("build_script_")
            || self.all("--crate-type").any(|one| one == "proc-macro")
            || LINKED.contains(&name) && !self.is_test()
    }

    /// The arguments that generate no code. This crate can depend on others without code.
    fn checked(&self) -> Vec<String> {
        let change = |argument: &String| match argument.strip_suffix(".rlib") {
            Some(path) => format!("{path}.rmeta"),
            None if argument.starts_with("--emit=") => "--emit=dep-info,metadata".to_owned(),
            None => argument.clone(),
        };
        self.0.iter().map(change).collect()
    }

    /// Whether this is a library, a macro or a program, and not a test, an example, a benchmark or a build script.
    fn has_documentation(&self) -> bool {
        let is_program = self.all("--crate-type").eq(["bin"]);
        // Cargo sets the variable for programs, and only for them.
        let is_named = !is_program || env::var_os("CARGO_BIN_NAME").is_some();
        !self.is_test() && is_named && !self.folder().ends_with("examples")
    }

    /// The arguments for rustdoc, if `cargo doc` would document this crate.
    fn documented(&self) -> Option<Vec<String>> {
        if !self.has_documentation() {
            return None;
        }
        let mut arguments = self.checked();
        arguments.retain(|one| !one.starts_with("--emit="));
        let folder = arguments.iter().position(|one| one == "--out-dir")?;
        arguments[folder + 1] = env::var(WRAPPER).ok()?;
        arguments.extend(["--deny", "warnings"].map(str::to_owned));
        Some(arguments)
    }

    /// Leaves an empty file instead of a library or a test, so that cargo does not check an unchanged crate again.
    /// Instead of a program it would replace the real one.
    fn leave_output(&self) -> anyhow::Result<()> {
        let Some(hash) = self
            .all("-C")
            .find_map(|one| one.strip_prefix("extra-filename="))
        else {
            return Ok(());
        };
        let name = self.name();
        let file = if self.is_test() {
            format!("{name}{hash}{}", env::consts::EXE_SUFFIX)
        } else if self.all("--crate-type").eq(["lib"]) {
            format!("lib{name}{hash}.rlib")
        } else {
            return Ok(());
        };
        let path = self.folder().join(file);
        fs::write(&path, "").with_context(|| path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(arguments: &str) -> Unit {
        Unit(arguments.split(' ').map(str::to_owned).collect())
    }

    const LIBRARY: &str = "--crate-name a src/lib.rs --crate-type lib --emit=dep-info,metadata,link \
        -C extra-filename=-1 --out-dir target/debug/deps --extern b=target/debug/deps/libb-2.rlib";

    #[test]
    fn a_library_is_checked_without_generating_code() {
        let checked = unit(LIBRARY).checked().join(" ");
        assert!(
            checked.contains(" --emit=dep-info,metadata -C "),
            "{checked}"
        );
        assert!(checked.ends_with("/libb-2.rmeta"), "{checked}");
    }

    #[test]
    fn macros_and_build_scripts_are_compiled() {
        assert!(!unit(LIBRARY).is_run_by_the_build());
        assert!(unit("--crate-name build_script_build --crate-type bin").is_run_by_the_build());
        assert!(unit("--crate-name a --crate-type proc-macro").is_run_by_the_build());
    }

    #[test]
    fn tests_and_examples_are_not_documented() {
        assert!(
            unit("--crate-name a --test --out-dir target/debug/deps")
                .documented()
                .is_none()
        );
        let example = "--crate-name a --crate-type bin --out-dir target/debug/examples";
        assert!(unit(example).documented().is_none());
    }
}
