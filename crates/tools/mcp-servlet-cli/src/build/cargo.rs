//! Runs cargo and finds the artifacts.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs,
    io::{self, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use cargo_metadata::{Artifact, Message, Package, PackageId, TargetKind};
use toml::{Table, Value};

use crate::{
    build::{Abi, WasmTarget, remedy},
    failure::{Failure, Kind},
    terminal,
};

/// Checks that the toolchain used for `path` has the standard library of the packages' targets.
pub(super) fn check_targets(
    path: &Path,
    packages: &[&Package],
    given: Option<WasmTarget>,
) -> Result<(), Failure> {
    let mut known = Vec::new();
    for package in packages {
        let target = WasmTarget::of(package, given)?;
        if !known.contains(&target) {
            check_target(path, target.triple())?;
            known.push(target);
        }
    }
    Ok(())
}

fn check_target(path: &Path, target: &str) -> Result<(), Failure> {
    let output = Command::new(tool("RUSTC", "rustc"))
        .args(["--print", "target-libdir", "--target", target])
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
        format!("the Rust target `{target}` is not installed"),
        format!("rustup target add {target}"),
    ))
}

/// The result of a build.
pub(super) struct Built {
    /// The `.wasm` file.
    pub(super) path: PathBuf,
    /// The packages that were compiled for the target.
    pub(super) linked: BTreeSet<PackageId>,
}

/// Builds one package. It is built alone, so that no other package
/// turns on features in it.
///
/// It is built only as a `cdylib`: cargo skips link-time optimization for a package that is an `rlib` as well.
pub(super) fn build(
    package: &Package,
    target: WasmTarget,
    abi: Abi,
    options: &[String],
) -> Result<Built, Failure> {
    let folder = package.manifest_path.parent();
    let mut command = command(folder.unwrap_or(&package.manifest_path).as_std_path());
    abi.set(&mut command);
    let mut format = "json";
    if terminal::has_colors() {
        format = "json-diagnostic-rendered-ansi";
    }
    if !terminal::is_watched() {
        // No terminal, so no progress bar. Warnings and errors still appear.
        command.arg("--quiet");
    }
    let mut cargo = command
        .args(["rustc", "--lib", "--crate-type", "cdylib"])
        .args(["--target", target.triple(), "--message-format", format])
        .args([
            "--package",
            // Unlike the name, it never means a dependency.
            package.id.repr.as_str(),
            "--manifest-path",
            package.manifest_path.as_str(),
        ])
        .args(options)
        // The standard input belongs to `servlet`, not to cargo.
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| cannot_run("cargo", &error))?;
    let mut wasm = None;
    let mut linked = BTreeSet::new();
    let mut remedy = None;
    if let Some(messages) = cargo.stdout.take() {
        for message in Message::parse_stream(BufReader::new(messages)) {
            match message {
                Ok(Message::CompilerArtifact(artifact)) if artifact.package_id == package.id => {
                    let is_cdylib = artifact.target.is_kind(TargetKind::CDyLib);
                    let mut files = artifact.filenames.into_iter().filter(|_| is_cdylib);
                    wasm = files.find(|file| file.extension() == Some("wasm")).or(wasm);
                }
                Ok(Message::CompilerArtifact(artifact)) if is_for(target, &artifact) => {
                    linked.insert(artifact.package_id);
                }
                Ok(Message::CompilerMessage(message)) => {
                    let text = message.message.rendered.as_deref().unwrap_or_default();
                    terminal::note_of_compiler(text);
                    remedy = remedy.or_else(|| remedy::remedy_for(&message));
                }
                Ok(_) => {}
                Err(error) => return Err(cannot_run("cargo", &error)),
            }
        }
    }
    let status = cargo.wait().map_err(|error| cannot_run("cargo", &error))?;
    match wasm {
        Some(wasm) if status.success() => Ok(Built {
            path: wasm.into(),
            linked,
        }),
        _ => Err(does_not_build(package, remedy)),
    }
}

/// Whether an artifact was compiled for the target. Macros and build scripts are compiled for the machine that builds.
fn is_for(target: WasmTarget, artifact: &Artifact) -> bool {
    artifact
        .filenames
        .iter()
        .flat_map(|file| file.components())
        .any(|folder| folder.as_str() == target.triple())
}

fn does_not_build(package: &Package, remedy: Option<&str>) -> Failure {
    let message = format!("`{}` does not build", package.name);
    match remedy {
        Some(remedy) => Failure::with_help(Kind::Build, message, remedy),
        None => Failure::new(Kind::Build, message),
    }
}

/// Cargo, run in a folder so that rustup uses the folder's toolchain.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(tool("CARGO", "cargo"));
    command.envs(target()).current_dir(folder);
    command
}

/// `CARGO_TARGET_DIR` as an absolute path, if it is set. Cargo would resolve it against the folder
/// that it runs in.
pub(super) fn target() -> Option<(&'static str, PathBuf)> {
    const NAME: &str = "CARGO_TARGET_DIR";
    let target = env::var_os(NAME)?;
    let absolute = std::path::absolute(&target);
    Some((NAME, absolute.unwrap_or_else(|_| target.into())))
}

/// The options for `cargo test` that make it build for this machine, if cargo is configured to build for WebAssembly.
pub(crate) fn native_options(folder: &Path) -> Result<Vec<String>, Failure> {
    if !builds_wasm(folder) {
        return Ok(Vec::new());
    }
    let output = Command::new(tool("RUSTC", "rustc"))
        .arg("-vV")
        .current_dir(folder)
        .output()
        .map_err(|error| cannot_run("rustc", &error))?;
    let version = String::from_utf8_lossy(&output.stdout);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or_else(|| {
        let message = "cannot find the target of this machine in the output of `rustc -vV`";
        Failure::new(Kind::Build, message)
    })?;
    Ok(vec!["--target".to_owned(), host.to_owned()])
}

/// Whether `CARGO_BUILD_TARGET` or, without it, the nearest `build.target` of cargo's configuration is WebAssembly.
fn builds_wasm(folder: &Path) -> bool {
    let is_wasm = |target: &str| target.starts_with("wasm32");
    if let Ok(target) = env::var("CARGO_BUILD_TARGET") {
        return is_wasm(&target);
    }
    let folder = std::path::absolute(folder).unwrap_or_default();
    let mut files = folder
        .ancestors()
        .flat_map(|folder| [".cargo/config", ".cargo/config.toml"].map(|name| folder.join(name)));
    match files.find_map(|file| configured_target(&file)) {
        Some(Value::String(target)) => is_wasm(&target),
        Some(Value::Array(targets)) => targets.iter().filter_map(Value::as_str).any(is_wasm),
        _ => false,
    }
}

fn configured_target(file: &Path) -> Option<Value> {
    let config: Table = fs::read_to_string(file).ok()?.parse().ok()?;
    config.get("build")?.get("target").cloned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_configuration_says_what_cargo_builds_for() {
        let outer = tempfile::tempdir().expect("a folder");
        let inner = outer.path().join("inner");
        let configure = |folder: &Path, text: &str| {
            fs::create_dir_all(folder.join(".cargo")).expect("a folder");
            fs::write(folder.join(".cargo/config.toml"), text).expect("a file");
        };
        configure(&inner, "[build]\njobs = 1\n");
        assert!(!builds_wasm(&inner));
        configure(outer.path(), "[build]\ntarget = \"wasm32-wasip1\"\n");
        assert!(builds_wasm(&inner));
        configure(&inner, "[build]\ntarget = [\"x86_64-unknown-linux-gnu\"]\n");
        assert!(!builds_wasm(&inner));
    }
}
