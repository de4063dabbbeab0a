//! Archives of files: tar, gzip, zip, ar.

use std::collections::BTreeSet;
use std::io::{Cursor, Write as _};
use std::rc::Rc;

use flate2::{Compression, write::GzEncoder};
use tar::{EntryType, Header};
use zip::{CompressionMethod, DateTime, System, ZipWriter, write::SimpleFileOptions};

use super::Program;

const TEXT: u32 = 0o644;
const EXECUTABLE: u32 = 0o755;

/// A file of a package.
#[derive(Clone)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) bytes: Rc<[u8]>,
    mode: u32,
}

impl File {
    pub(super) fn new(path: &str, bytes: impl Into<Rc<[u8]>>) -> Self {
        Self {
            path: path.to_owned(),
            bytes: bytes.into(),
            mode: TEXT,
        }
    }

    pub(super) fn text(path: &str, text: &str) -> Self {
        Self::new(path, text.as_bytes())
    }

    /// An executable file.
    pub(super) fn program(path: &str, program: &Program) -> Self {
        Self {
            mode: EXECUTABLE,
            ..Self::new(path, program.bytes.clone())
        }
    }

    /// The same file in a folder.
    pub(super) fn inside(&self, folder: &str) -> Self {
        Self {
            path: format!("{folder}/{}", self.path),
            ..self.clone()
        }
    }
}

/// A tar file. A path that ends with `/` is a folder; the folders of the other files are added.
pub(super) fn tar(files: &[File], time: u64) -> anyhow::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    let mut folders = BTreeSet::new();
    for file in files {
        for (at, _) in file.path.match_indices('/') {
            let folder = &file.path[..=at];
            if folders.insert(folder) {
                let mut header = header(EntryType::Directory, 0, EXECUTABLE, time);
                tar.append_data(&mut header, folder, &[][..])?;
            }
        }
        if !file.path.ends_with('/') {
            let size = file.bytes.len() as u64;
            let mut header = header(EntryType::Regular, size, file.mode, time);
            tar.append_data(&mut header, &file.path, &*file.bytes)?;
        }
    }
    Ok(tar.into_inner()?)
}

fn header(kind: EntryType, size: u64, mode: u32, time: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(time);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Compressed bytes, without a time or a name.
pub(super) fn gzip(bytes: &[u8], level: u32) -> anyhow::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// A zip file, whose times are all the earliest that the format has.
pub(super) fn zip(files: &[File], level: u32) -> anyhow::Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for file in files {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(level.into()))
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(file.mode)
            .system(System::Unix);
        zip.start_file(&*file.path, options)?;
        zip.write_all(&file.bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// An archive of Unix, which Debian packages are.
pub(super) fn ar(members: &[(&str, &[u8])], time: u64) -> Vec<u8> {
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
