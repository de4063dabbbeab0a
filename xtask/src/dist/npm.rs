//! Packages of npm: `mcp-servlet`, which starts the command, and one with the command for each platform.

use std::collections::BTreeMap;

use mcp_servlet_package::{File, npm};
use serde_json::{Value, json};

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
    pack(release, &manifest, File::text("servlet.js", LAUNCHER))
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
    let file = File::program(binary, program.bytes.clone());
    pack(release, &manifest, file)
}

fn pack(release: &Release, manifest: &Value, file: File) -> anyhow::Result<(String, Vec<u8>)> {
    let mut files = vec![file];
    files.extend(release.texts.iter().cloned());
    Ok(npm::pack(manifest, &files, release.time, release.level)?)
}
