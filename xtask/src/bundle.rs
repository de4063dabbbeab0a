//! `bundle`: packs the plugin and the template for `xtp plugin init`.

use std::fs;
use std::io::{BufReader, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, ensure};
use cargo_metadata::Message;
use xtp_bindgen::template;
use xtp_bundle::{Bundle, Entry};

use crate::shell::{cargo, portable_flags};

const TARGET: &str = "wasm32-unknown-unknown";
/// The profile for the smallest wasm, as `servlet build` uses it.
const PROFILE: &str = "servlet";

/// Writes the bundle of this checkout: the same bytes on every machine.
///
/// # Errors
///
/// If the plugin does not build, or the file cannot be written.
pub(crate) fn run(output: &Path) -> anyhow::Result<()> {
    let entries = template::FILES
        .iter()
        .map(|(path, text)| Entry::file(path, text));
    let plugin = fs::read(build_plugin()?)?;
    let bundle = Bundle::new(template::CONFIG.to_owned(), plugin, entries.collect())?;
    let packed = bundle.pack()?;
    let shown = output.display();
    fs::write(output, &packed).with_context(|| format!("cannot write {shown}"))?;
    let plugin = bundle.plugin.len();
    println!("{shown}  {} bytes, plugin.wasm {plugin}", packed.len());
    Ok(())
}

/// Builds the plugin and returns its path.
fn build_plugin() -> anyhow::Result<PathBuf> {
    let mut command = cargo(&["rustc", "--package", "xtp-bindgen", "--lib"]);
    command
        .args(["--crate-type", "cdylib"])
        .args(["--target", TARGET, "--profile", PROFILE])
        .args(["--message-format", "json-render-diagnostics"])
        .env("CARGO_ENCODED_RUSTFLAGS", portable_flags())
        .stdout(Stdio::piped());
    if !std::io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    let mut cargo = command.spawn().context("cannot run cargo")?;
    let mut wasm = None;
    if let Some(messages) = cargo.stdout.take() {
        let messages = Message::parse_stream(BufReader::new(messages)).map_while(Result::ok);
        wasm = messages.filter_map(wasm_in).last();
    }
    let status = cargo.wait()?;
    ensure!(status.success(), "the plugin does not build");
    wasm.context("cargo reported no plugin")
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
