//! A wheel: the command, and a script `mcp-servlet` that starts it, for `uvx mcp-servlet`.

use mcp_servlet_package::{File, wheel::Wheel};

use super::{LICENSE, Program, Release, SUMMARY, VERSION};

const LAUNCHER: &str = include_str!("launcher.py");

pub(super) fn pack(release: &Release, program: &Program) -> anyhow::Result<(String, Vec<u8>)> {
    let platform = program.platform;
    let metadata = format!("Summary: {SUMMARY}\nLicense-Expression: {LICENSE}\n");
    let readme = release
        .texts
        .iter()
        .find(|text| text.path == "README.md")
        .map(|readme| String::from_utf8_lossy(&readme.bytes));
    let wheel = Wheel {
        name: "mcp-servlet",
        module: "mcp_servlet",
        version: VERSION,
        metadata: &metadata,
        description: &readme.unwrap_or_default(),
        platforms: platform.wheel,
    };
    let script = format!("{}/{}", wheel.scripts(), platform.program());
    let files = [
        File::text("mcp_servlet/__init__.py", LAUNCHER),
        File::program(&script, program.bytes.clone()),
    ];
    let licenses: Vec<_> = release.licenses().cloned().collect();
    Ok(wheel.pack(&files, &licenses, release.level)?)
}
