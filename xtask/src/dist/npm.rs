//! Packages of npm: `mcp-servlet`, which starts the command, and one with the command for each platform.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::archive::File;
use super::platform::Platform;
use super::{LICENSE, Program, Release, SUMMARY, VERSION};

const LAUNCHER: &str = include_str!("launcher.js");

/// The package that users install. npm installs the package of their platform with it.
pub(super) fn launcher(release: &Release) -> anyhow::Result<(String, Vec<u8>)> {
    let platforms: BTreeMap<_, _> = Platform::all_of_npm().map(|name| (name, VERSION)).collect();
    let manifest = json!({
        "name": "mcp-servlet",
        "version": VERSION,
        "description": SUMMARY,
        "license": LICENSE,
        "keywords": ["mcp", "wasm", "servlet"],
        "bin": { "mcp-servlet": "servlet.js", "servlet": "servlet.js" },
        "files": ["servlet.js"],
        "engines": { "node": ">=18" },
        "optionalDependencies": platforms,
    });
    let file = File::text("servlet.js", LAUNCHER);
    pack(release, "mcp-servlet", &manifest, file)
}

/// The package with the command for one platform.
pub(super) fn platform(release: &Release, program: &Program) -> anyhow::Result<(String, Vec<u8>)> {
    let name = program.platform.npm();
    let (os, cpu) = program.platform.node;
    let binary = program.platform.program();
    let manifest = json!({
        "name": name,
        "version": VERSION,
        "description": format!("{SUMMARY}, for {os}-{cpu}"),
        "license": LICENSE,
        "os": [os],
        "cpu": [cpu],
        "files": [binary],
        "preferUnplugged": true,
    });
    pack(release, &name, &manifest, File::program(binary, program))
}

fn pack(
    release: &Release,
    name: &str,
    manifest: &Value,
    file: File,
) -> anyhow::Result<(String, Vec<u8>)> {
    let manifest = format!("{manifest:#}\n");
    let mut files = vec![File::text("package.json", &manifest), file];
    files.extend(release.texts.iter().cloned());
    let files: Vec<_> = files.iter().map(|file| file.inside("package")).collect();
    let name = name.trim_start_matches('@').replace('/', "-");
    Ok((format!("{name}-{VERSION}.tgz"), release.tar_gz(&files)?))
}
