//! Runs cargo and finds what it made.

use std::{
    env,
    ffi::OsString,
    io::{self, BufReader, IsTerminal as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use cargo_metadata::{Message, Package, TargetKind};

use crate::{
    build::TARGET,
    failure::{Failure, Kind},
};

/// Makes sure that the compiler for `path` has the standard library for wasm.
pub(super) fn check_target(path: &Path) -> Result<(), Failure> {
    let output = Command::new(tool("RUSTC", "rustc"))
        .args(["--print", "target-libdir", "--target", TARGET])
        .current_dir(path)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| cannot_run("rustc", &error))?;
    let library = String::from_utf8_lossy(&output.stdout);
    if Path::new(library.trim()).is_dir() {
        return Ok(());
    }
    Err(Failure::with_help(
        Kind::Build,
        format!("the Rust target `{TARGET}` is not installed"),
        format!("rustup target add {TARGET}"),
    ))
}

/// Builds one package, alone so that no other one turns on features in it, and returns the `.wasm` file.
///
/// As nothing but a `cdylib`: cargo leaves out the link-time optimization of a package that is an `rlib` as well.
pub(super) fn build(package: &Package, options: &[String]) -> Result<PathBuf, Failure> {
    let folder = package.manifest_path.parent();
    let mut command = command(folder.unwrap_or(&package.manifest_path).as_std_path());
    if !io::stderr().is_terminal() {
        // Nobody watches its progress; warnings and errors still come.
        command.arg("--quiet");
    }
    let mut cargo = command
        .args([
            "rustc",
            "--lib",
            "--crate-type",
            "cdylib",
            "--target",
            TARGET,
            "--message-format",
            "json-render-diagnostics",
        ])
        .args([
            "--package",
            package.name.as_str(),
            "--manifest-path",
            package.manifest_path.as_str(),
        ])
        .args(options)
        // Whatever stands there is for this command.
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| cannot_run("cargo", &error))?;
    let mut wasm = None;
    if let Some(messages) = cargo.stdout.take() {
        for message in Message::parse_stream(BufReader::new(messages)) {
            match message {
                Ok(Message::CompilerArtifact(artifact)) if artifact.package_id == package.id => {
                    let is_cdylib = artifact.target.is_kind(TargetKind::CDyLib);
                    let mut files = artifact.filenames.into_iter().filter(|_| is_cdylib);
                    wasm = files.find(|file| file.extension() == Some("wasm")).or(wasm);
                }
                Ok(_) => {}
                Err(error) => return Err(cannot_run("cargo", &error)),
            }
        }
    }
    let status = cargo.wait().map_err(|error| cannot_run("cargo", &error))?;
    match wasm {
        Some(wasm) if status.success() => Ok(wasm.into()),
        _ => Err(Failure::new(
            Kind::Build,
            format!("`{}` does not build", package.name),
        )),
    }
}

/// Cargo, in a folder for the sake of rustup.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(tool("CARGO", "cargo"));
    command.envs(target()).current_dir(folder);
    command
}

/// Where the environment wants targets, if it does; cargo would take a relative path from the folder that it runs in.
pub(super) fn target() -> Option<(&'static str, PathBuf)> {
    const NAME: &str = "CARGO_TARGET_DIR";
    let target = env::var_os(NAME)?;
    let absolute = std::path::absolute(&target);
    Some((NAME, absolute.unwrap_or_else(|_| target.into())))
}

fn tool(variable: &str, default: &str) -> OsString {
    env::var_os(variable).unwrap_or_else(|| default.into())
}

pub(crate) fn cannot_run(program: &str, error: &io::Error) -> Failure {
    Failure::with_help(
        Kind::Build,
        format!("cannot run `{program}`: {error}"),
        "is Rust installed? https://rustup.rs",
    )
}
