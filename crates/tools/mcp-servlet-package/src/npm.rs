//! Packages of npm.

use std::io;

use serde_json::Value;

use crate::{File, gzip, tar};

/// The file name and the bytes of a package with these files. The manifest has its name and its version.
///
/// # Errors
/// If a path is too long.
pub fn pack(
    manifest: &Value,
    files: &[File],
    time: u64,
    level: u32,
) -> io::Result<(String, Vec<u8>)> {
    let text = |key: &str| manifest[key].as_str().unwrap_or_default();
    let name = text("name").trim_start_matches('@').replace('/', "-");
    let name = format!("{name}-{}.tgz", text("version"));
    let manifest = File::text("package.json", &format!("{manifest:#}\n"));
    let files: Vec<_> = [&manifest]
        .into_iter()
        .chain(files)
        .map(|file| file.inside("package"))
        .collect();
    Ok((name, gzip(&tar(&files, time)?, level)?))
}
