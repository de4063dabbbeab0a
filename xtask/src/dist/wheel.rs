//! A wheel: the command, and a script `mcp-servlet` that starts it, for `uvx mcp-servlet`.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use super::archive::{self, File};
use super::{LICENSE, Program, Release, SUMMARY, VERSION};

/// Installers put scripts into one folder, so the command is next to this script.
const LAUNCHER: &str = include_str!("launcher.py");

pub(super) fn pack(release: &Release, program: &Program) -> anyhow::Result<(String, Vec<u8>)> {
    let platform = program.platform;
    let base = format!("mcp_servlet-{VERSION}");
    let tags: String = platform.wheel.iter().fold(String::new(), |mut tags, tag| {
        let _ = writeln!(tags, "Tag: py3-none-{tag}");
        tags
    });
    let info = |name: &str, text: &str| File::text(&format!("{base}.dist-info/{name}"), text);
    let script = format!("{base}.data/scripts/{}", platform.program());
    let mut files = vec![
        File::text("mcp_servlet/__init__.py", LAUNCHER),
        File::program(&script, program),
        info("METADATA", &metadata(release)),
        info(
            "WHEEL",
            &format!("Wheel-Version: 1.0\nGenerator: mcp-servlet\nRoot-Is-Purelib: false\n{tags}"),
        ),
        info(
            "entry_points.txt",
            "[console_scripts]\nmcp-servlet = mcp_servlet:main\n",
        ),
    ];
    files.extend(
        release
            .licenses()
            .map(|text| text.inside(&format!("{base}.dist-info/licenses"))),
    );
    files.push(record(&files, &format!("{base}.dist-info/RECORD")));
    let name = format!("{base}-py3-none-{}.whl", platform.wheel.join("."));
    Ok((name, archive::zip(&files, release.level)?))
}

fn metadata(release: &Release) -> String {
    let mut text = format!(
        "Metadata-Version: 2.4\nName: mcp-servlet\nVersion: {VERSION}\nSummary: {SUMMARY}\n\
         License-Expression: {LICENSE}\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n"
    );
    for file in release.licenses() {
        let _ = writeln!(text, "License-File: {}", file.path);
    }
    let readme = release.texts.iter().find(|text| text.path == "README.md");
    let readme = readme.map(|readme| String::from_utf8_lossy(&readme.bytes));
    text + "\n" + &readme.unwrap_or_default()
}

/// The list of all files with their digests.
fn record(files: &[File], path: &str) -> File {
    let mut text = String::new();
    for file in files {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&file.bytes));
        let _ = writeln!(text, "{},sha256={digest},{}", file.path, file.bytes.len());
    }
    let _ = writeln!(text, "{path},,");
    File::text(path, &text)
}
