//! `bundle`: packs the plugin and the template for `xtp plugin init`.

use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::shell::root;

/// Writes the bundle of this checkout: the same bytes on every machine.
///
/// # Errors
///
/// If the plugin does not build, or the file cannot be written.
pub(crate) fn run(output: &Path) -> anyhow::Result<()> {
    let bundle = xtp_bundle::ours::build(&root())?;
    let packed = bundle.pack()?;
    let shown = output.display();
    fs::write(output, &packed).with_context(|| format!("cannot write {shown}"))?;
    let plugin = bundle.plugin.len();
    println!("{shown}  {} bytes, plugin.wasm {plugin}", packed.len());
    Ok(())
}
