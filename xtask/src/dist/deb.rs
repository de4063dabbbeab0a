//! A package of Debian, with manual pages, completions, and a systemd unit that is not enabled.
//!
//! Its data is compressed with gzip: with xz it would be a third smaller, but that needs another library of C.

use std::fs;

use anyhow::Context;
use jiff::Timestamp;
use mcp_servlet_package::{File, gzip};

use super::{LICENSE, Program, Release, VERSION};
use crate::shell::root;

/// The first line of the description. Debian wants it without the name of the package and without an article.
const SYNOPSIS: &str = "build, describe, call and serve MCP servlets";

/// The rest of the description.
const DESCRIPTION: &str = " A servlet is a WebAssembly module with tools, resources and prompts for the\n \
                            Model Context Protocol. This command builds servlets, calls them, and serves\n \
                            them together with other MCP servers.\n";

const MAINTAINER: &str = "The mcp-servlet developers";

/// The package, if the platform is Linux.
pub(super) fn pack(
    release: &Release,
    program: &Program,
) -> anyhow::Result<Option<(String, Vec<u8>)>> {
    let Some(architecture) = program.platform.linux else {
        return Ok(None);
    };
    let data = data(release, program)?;
    let size = data.iter().map(|file| file.bytes.len()).sum::<usize>() / 1024;
    let control = format!(
        "Package: mcp-servlet\nVersion: {VERSION}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {size}\nSection: utils\nPriority: optional\nDescription: {SYNOPSIS}\n{DESCRIPTION}"
    );
    let control = release.tar_gz(&[File::text("control", &control)])?;
    let data = release.tar_gz(&data)?;
    let members = [
        ("debian-binary", &b"2.0\n"[..]),
        ("control.tar.gz", &control),
        ("data.tar.gz", &data),
    ];
    let name = format!("mcp-servlet_{VERSION}_{architecture}.deb");
    Ok(Some((name, ar(&members, release.time))))
}

/// An archive of Unix, which Debian packages are.
fn ar(members: &[(&str, &[u8])], time: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let size = bytes.len();
        let header = format!(
            "{name:<16}{time:<12}{:<6}{:<6}{:<8}{size:<10}`\n",
            0, 0, 100_644
        );
        archive.extend(header.bytes());
        archive.extend(*bytes);
        archive.extend((size % 2 == 1).then_some(b'\n'));
    }
    archive
}

/// The files that are installed.
fn data(release: &Release, program: &Program) -> anyhow::Result<Vec<File>> {
    let documents = "usr/share/doc/mcp-servlet";
    let unit = fs::read_to_string(root().join("deploy/servlet.service"))?;
    let mut files = vec![
        File::program("usr/bin/servlet", program.bytes.clone()),
        File::text("usr/lib/systemd/system/servlet.service", &unit),
        File::new(
            &format!("{documents}/changelog.gz"),
            gzip(changelog(release.time)?.as_bytes(), 9)?,
        ),
        File::new(&format!("{documents}/copyright"), copyright(release)?),
    ];
    for file in &release.documents {
        if let Some(page) = file.path.strip_prefix("man/") {
            let path = format!("usr/share/man/man1/{page}.gz");
            files.push(File::new(&path, gzip(&file.bytes, 9)?));
        }
        let folder = match &*file.path {
            "completions/servlet.bash" => "bash-completion/completions/servlet",
            "completions/_servlet" => "zsh/vendor-completions/_servlet",
            "completions/servlet.fish" => "fish/vendor_completions.d/servlet.fish",
            _ => continue,
        };
        files.push(File::new(
            &format!("usr/share/{folder}"),
            file.bytes.clone(),
        ));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn changelog(time: u64) -> anyhow::Result<String> {
    let date =
        Timestamp::from_second(i64::try_from(time)?)?.strftime("%a, %d %b %Y %H:%M:%S +0000");
    Ok(format!(
        "mcp-servlet ({VERSION}) unstable; urgency=medium\n\n  * Version {VERSION}.\n\n -- {MAINTAINER}  {date}\n"
    ))
}

/// The licenses. Debian systems already have the text of Apache-2.0.
fn copyright(release: &Release) -> anyhow::Result<Vec<u8>> {
    let mut licenses = release.texts.iter();
    let mit = licenses
        .find(|text| text.path == "LICENSE-MIT")
        .context("there is no LICENSE-MIT")?;
    let head = format!(
        "License: {LICENSE}\n\nThe text of Apache-2.0 is in /usr/share/common-licenses/Apache-2.0.\n\nThe text of MIT:\n\n"
    );
    Ok([head.as_bytes(), &mit.bytes].concat())
}
