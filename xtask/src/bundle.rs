//! `bundle`: packs the plugin and the template for `xtp plugin init`.

use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use xtp_bindgen::template;
use xtp_bundle::{Bundle, Entry};

use crate::shell::{cargo, portable_flags, run, target};

const TARGET: &str = "wasm32-unknown-unknown";
/// The profile for the smallest wasm, as `servlet build` uses it.
const PROFILE: &str = "servlet";

/// Writes the bundle of this checkout: the same bytes on every machine.
///
/// # Errors
///
/// If the plugin does not build, or the file cannot be written.
pub(crate) fn bundle(output: &Path) -> anyhow::Result<()> {
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
        .env("CARGO_ENCODED_RUSTFLAGS", portable_flags());
    if !std::io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    run(&mut command)?;
    let folder = target().join(TARGET).join(PROFILE);
    Ok(folder.join("xtp_bindgen.wasm"))
}
