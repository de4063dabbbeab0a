//! The bundle of this repository: the plugin `crates/xtp/xtp-bindgen` and the folder `xtp-template`.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{BufReader, IsTerminal as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use cargo_metadata::Message;

use crate::{Bundle, CONFIG, Error, TEMPLATE, read};

const TARGET: &str = "wasm32-unknown-unknown";
/// The profile for the smallest wasm, as `servlet build` uses it.
const PROFILE: &str = "servlet";

/// Builds the plugin in a checkout of the repository and makes the bundle.
///
/// # Errors
///
/// If a part is missing, or the plugin does not build.
pub fn build(checkout: &Path) -> Result<Bundle, Error> {
    let template = checkout.join("xtp-template");
    let read = |path: PathBuf| match fs::read(&path) {
        Ok(bytes) => Ok(bytes),
        Err(source) => Err(Error::Read { path, source }),
    };
    let config = String::from_utf8_lossy(&read(template.join(CONFIG))?).into_owned();
    let mut entries = Vec::new();
    read::walk(&template.join(TEMPLATE), "", &mut entries)?;
    let plugin = read(plugin(checkout)?)?;
    Bundle::new(config, plugin, entries)
}

/// Whether a folder is a checkout of the repository.
pub fn is_checkout(folder: &Path) -> bool {
    let template = folder.join("xtp-template").join(CONFIG);
    template.is_file() && folder.join("crates/xtp/xtp-bindgen/Cargo.toml").is_file()
}

/// Builds the plugin and returns its path.
fn plugin(checkout: &Path) -> Result<PathBuf, Error> {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let cannot_run = |source| Error::Run {
        program: program.to_string_lossy().into_owned(),
        source,
    };
    let mut command = Command::new(&program);
    command
        .current_dir(checkout)
        .args(["rustc", "--package", "xtp-bindgen", "--lib"])
        .args(["--crate-type", "cdylib"])
        .args(["--target", TARGET, "--profile", PROFILE])
        .args(["--message-format", "json-render-diagnostics"])
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags(checkout))
        .stdout(Stdio::piped());
    if !std::io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    if let Some(target) = env::var_os("CARGO_TARGET_DIR") {
        // Cargo would resolve a relative path from the checkout.
        let absolute = std::path::absolute(&target).unwrap_or_else(|_| target.into());
        command.env("CARGO_TARGET_DIR", absolute);
    }
    let mut cargo = command.spawn().map_err(cannot_run)?;
    let mut wasm = None;
    if let Some(messages) = cargo.stdout.take() {
        let messages = Message::parse_stream(BufReader::new(messages)).map_while(Result::ok);
        wasm = messages.filter_map(wasm_in).last();
    }
    let status = cargo.wait().map_err(cannot_run)?;
    match wasm {
        Some(wasm) if status.success() => Ok(wasm),
        _ => Err(Error::Build {
            checkout: checkout.to_owned(),
            status,
        }),
    }
}

/// The plugin, if this message of cargo reports it.
fn wasm_in(message: Message) -> Option<PathBuf> {
    let Message::CompilerArtifact(artifact) = message else {
        return None;
    };
    let mut files = artifact.filenames.into_iter();
    let wasm = files.find(|file| file.file_name() == Some("xtp_bindgen.wasm"))?;
    Some(wasm.into())
}

/// Keeps the paths of this machine out of the plugin, so that every machine builds the same bytes.
fn rust_flags(checkout: &Path) -> OsString {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    // Also without the variable, because cargo builds everything again if the flags change.
    let target = target.unwrap_or_else(|| checkout.join("target"));
    let folders = [
        (Some(checkout.to_owned()), "/mcp-servlet"),
        (home, "/cargo"),
        (Some(target), "/target"),
    ];
    let flags = folders.into_iter().filter_map(|(folder, name)| {
        let folder = folder?;
        let folder = fs::canonicalize(&folder).unwrap_or(folder);
        let mut flag = OsString::from("--remap-path-prefix=");
        flag.push(folder);
        flag.push("=");
        flag.push(name);
        Some(flag)
    });
    let flags: Vec<_> = flags.collect();
    flags.join(std::ffi::OsStr::new("\u{1f}"))
}
