//! Packages for npm and pip, and the archives that they are: tar, gzip, zip. The same files give the same bytes.

pub mod npm;
pub mod wheel;

use std::{
    collections::BTreeSet,
    io::{self, Cursor, Write as _},
    rc::Rc,
};

use flate2::{
    Compression,
    write::{GzEncoder, ZlibEncoder},
};
use tar::{EntryType, Header};
use zip::{CompressionMethod, DateTime, System, ZipWriter, write::SimpleFileOptions};

const TEXT_MODE: u32 = 0o644;
const EXECUTABLE_MODE: u32 = 0o755;

/// A file of a package.
#[derive(Clone, Debug)]
pub struct File {
    /// The path in the package, with `/` between its parts.
    pub path: String,
    /// The contents.
    pub bytes: Rc<[u8]>,
    mode: u32,
}

impl File {
    /// A file that everyone may read.
    pub fn new(path: &str, bytes: impl Into<Rc<[u8]>>) -> Self {
        Self {
            path: path.to_owned(),
            bytes: bytes.into(),
            mode: TEXT_MODE,
        }
    }

    /// A file with a text.
    pub fn text(path: &str, text: &str) -> Self {
        Self::new(path, text.as_bytes())
    }

    /// A file that everyone may run.
    pub fn program(path: &str, bytes: impl Into<Rc<[u8]>>) -> Self {
        Self {
            mode: EXECUTABLE_MODE,
            ..Self::new(path, bytes)
        }
    }

    /// The same file in a folder.
    #[must_use]
    pub fn inside(&self, folder: &str) -> Self {
        Self {
            path: format!("{folder}/{}", self.path),
            ..self.clone()
        }
    }
}

/// A tar file. A path that ends with `/` is a folder; the folders of the other files are added.
///
/// # Errors
/// If a path is too long.
pub fn tar(files: &[File], time: u64) -> io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    let mut folders = BTreeSet::new();
    for file in files {
        for (at, _) in file.path.match_indices('/') {
            let folder = &file.path[..=at];
            if folders.insert(folder) {
                let mut header = header(EntryType::Directory, 0, EXECUTABLE_MODE, time);
                tar.append_data(&mut header, folder, &[][..])?;
            }
        }
        if !file.path.ends_with('/') {
            let size = file.bytes.len() as u64;
            let mut header = header(EntryType::Regular, size, file.mode, time);
            tar.append_data(&mut header, &file.path, &*file.bytes)?;
        }
    }
    tar.into_inner()
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

/// Compressed bytes, without a time or a name. Levels are from 1 to 9.
///
/// # Errors
/// None is expected: the bytes are in memory.
pub fn gzip(bytes: &[u8], level: u32) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Compresses bytes with zlib, at the best level.
///
/// # Errors
/// None is expected: the bytes are in memory.
pub fn zlib(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// A zip file, whose times are all the earliest that the format has. Levels are from 1 to 9.
///
/// # Errors
/// If two files have the same path.
pub fn zip(files: &[File], level: u32) -> io::Result<Vec<u8>> {
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
