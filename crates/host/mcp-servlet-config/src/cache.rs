//! Checks the directory for compiled modules.

use std::{fs, io, path::Path};

use mcp_servlet_runtime::CompileCache;

/// Checks that the directory exists or can be created, and that it is writable.
pub(super) fn check_cache(text: &str, cache: &CompileCache) -> Result<(), String> {
    let CompileCache::Directory(directory) = cache else {
        return Ok(());
    };
    if text.is_empty() {
        return Err("expected a directory, or `off`".to_owned());
    }
    // The directory itself is created on first use.
    let existing = directory
        .ancestors()
        .find(|path| path.exists())
        .unwrap_or(Path::new("."));
    write_to(existing).map_err(|error| {
        let shown = existing.display();
        format!("cannot cache compiled modules there: cannot write to `{shown}`: {error}")
    })
}

fn write_to(directory: &Path) -> io::Result<()> {
    if !directory.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let probe = directory.join(format!(".servlet-probe-{}", std::process::id()));
    fs::write(&probe, "")?;
    fs::remove_file(probe)
}
