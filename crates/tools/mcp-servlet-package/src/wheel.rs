//! Wheels, which pip and uv install.

use std::{fmt::Write as _, io};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use crate::{File, zip};

/// What a wheel says about itself. Its script has the name of the project.
#[derive(Clone, Copy, Debug)]
pub struct Wheel<'a> {
    /// The name of the project.
    pub name: &'a str,
    /// The module whose function `main` the script runs.
    pub module: &'a str,
    /// The version.
    pub version: &'a str,
    /// The lines of `METADATA` after the name and the version.
    pub metadata: &'a str,
    /// A description in Markdown.
    pub description: &'a str,
    /// The platforms, such as `win_amd64`. Without one, the wheel is for every platform.
    pub platforms: &'a [&'a str],
}

/// The name of a project as names of files and modules have it: in lower case, with `_` instead of other characters.
pub fn normalized(name: &str) -> String {
    let normalized = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    name.chars().map(normalized).collect()
}

impl Wheel<'_> {
    /// The folder of files that go to the folder of programs.
    pub fn scripts(&self) -> String {
        format!("{}.data/scripts", self.base())
    }

    /// The file name and the bytes. The licenses go to the folder that is for them.
    ///
    /// # Errors
    /// If two files have the same path.
    pub fn pack(
        &self,
        files: &[File],
        licenses: &[File],
        level: u32,
    ) -> io::Result<(String, Vec<u8>)> {
        let base = self.base();
        let any = ["any"];
        let platforms = if self.platforms.is_empty() {
            &any[..]
        } else {
            self.platforms
        };
        let tags = platforms.iter().fold(String::new(), |mut tags, platform| {
            let _ = writeln!(tags, "Tag: py3-none-{platform}");
            tags
        });
        let pure = if self.platforms.is_empty() {
            "true"
        } else {
            "false"
        };
        let info = |name: &str, text: &str| File::text(&format!("{base}.dist-info/{name}"), text);
        let mut all = files.to_vec();
        all.extend([
            info("METADATA", &self.metadata(licenses)),
            info(
                "WHEEL",
                &format!(
                    "Wheel-Version: 1.0\nGenerator: mcp-servlet\nRoot-Is-Purelib: {pure}\n{tags}"
                ),
            ),
            info(
                "entry_points.txt",
                &format!("[console_scripts]\n{} = {}:main\n", self.name, self.module),
            ),
        ]);
        all.extend(
            licenses
                .iter()
                .map(|text| text.inside(&format!("{base}.dist-info/licenses"))),
        );
        all.push(record(&all, &format!("{base}.dist-info/RECORD")));
        let name = format!("{base}-py3-none-{}.whl", platforms.join("."));
        Ok((name, zip(&all, level)?))
    }

    fn base(&self) -> String {
        format!("{}-{}", normalized(self.name), self.version)
    }

    fn metadata(&self, licenses: &[File]) -> String {
        let Self {
            name,
            version,
            metadata,
            description,
            ..
        } = self;
        let mut text = format!(
            "Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{metadata}\
             Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n"
        );
        for file in licenses {
            let _ = writeln!(text, "License-File: {}", file.path);
        }
        text + "\n" + description
    }
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
