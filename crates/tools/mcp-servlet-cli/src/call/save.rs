//! Saves the binary contents of a result to files.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp_servlet_host::{CallToolResult, Content, ResourceData};

use crate::{
    failure::{Failure, Kind},
    terminal::{note, one_line},
};

/// The extensions of media types. Files of other types end in `.bin`, so that no server chooses what opens them.
const EXTENSIONS: &[(&str, &str)] = &[
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/avif", "avif"),
    ("image/bmp", "bmp"),
    ("image/svg+xml", "svg"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/mpeg", "mp3"),
    ("audio/mp4", "m4a"),
    ("audio/ogg", "ogg"),
    ("audio/flac", "flac"),
    ("audio/webm", "weba"),
    ("application/pdf", "pdf"),
    ("application/zip", "zip"),
];

/// How many names are tried for one file.
const MAX_NAME_ATTEMPTS: usize = 10_000;

/// Binary data of a result.
struct Blob<'a> {
    /// What it is: `image`, `audio` or `resource`.
    kind: &'static str,
    mime_type: Option<&'a str>,
    base64: &'a str,
}

/// Creates the folder. Without it, a call would run for nothing.
pub(super) fn create(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| {
        let message = format!("cannot create `{}`: {error}", folder.display());
        Failure::new(Kind::Usage, message)
    })
}

/// Writes images, audio and binary resources to new files in a folder, and reports their paths on standard error.
pub(super) fn save(folder: &Path, result: &CallToolResult) -> Result<(), Failure> {
    let blobs = result.content().filter_map(Blob::of);
    for (number, blob) in (1..).zip(blobs) {
        let Ok(bytes) = BASE64_STANDARD.decode(blob.base64) else {
            let kind = blob.kind;
            note(format_args!(
                "warning: {kind} {number} is not base64, so it is not saved"
            ));
            continue;
        };
        let path = write(folder, &blob, number, &bytes).map_err(|error| {
            let message = format!("cannot write to `{}`: {error}", folder.display());
            Failure::new(Kind::Output, message)
        })?;
        note(format_args!(
            "saved `{}`",
            one_line(&path.display().to_string())
        ));
    }
    Ok(())
}

impl<'a> Blob<'a> {
    fn of(content: Content<'a>) -> Option<Self> {
        let (kind, mime_type, base64) = match content {
            Content::Image {
                data, mime_type, ..
            } => ("image", mime_type, data),
            Content::Audio {
                data, mime_type, ..
            } => ("audio", mime_type, data),
            Content::Resource { resource, .. } => match resource.data {
                ResourceData::Blob(blob) => ("resource", resource.mime_type, blob),
                ResourceData::Text(_) => return None,
            },
            _ => return None,
        };
        Some(Self {
            kind,
            mime_type,
            base64,
        })
    }

    fn extension(&self) -> &'static str {
        let given = self
            .mime_type
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default()
            .trim();
        let known = EXTENSIONS
            .iter()
            .find(|(name, _)| given.eq_ignore_ascii_case(name));
        known.map_or("bin", |(_, extension)| extension)
    }
}

/// Writes to the first name that no file has: `image-1.png`, then `image-1-2.png`.
fn write(folder: &Path, blob: &Blob<'_>, number: usize, bytes: &[u8]) -> io::Result<PathBuf> {
    let (kind, extension) = (blob.kind, blob.extension());
    for attempt in 1..=MAX_NAME_ATTEMPTS {
        let more = match attempt {
            1 => String::new(),
            _ => format!("-{attempt}"),
        };
        let path = folder.join(format!("{kind}-{number}{more}.{extension}"));
        match File::create_new(&path) {
            Ok(mut file) => {
                file.write_all(bytes)?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
