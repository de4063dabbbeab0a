//! What was read from registries, by digest, and the last known digest of each tag.
//!
//! Nothing here is trusted: a file is hashed at each read.

use std::{
    fs::{self, DirBuilder},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::SystemTime,
};

use mcp_servlet_common::user_cache;

use crate::{digest::Digest, reference::Reference};

/// A folder with blobs and tags.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
}

/// What [`Cache::clean`] has removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The number of blobs.
    pub blobs: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl Cache {
    /// The cache of the user.
    pub fn of_user() -> Self {
        let folder = user_cache().map(|cache| cache.join("mcp-servlet").join("oci"));
        Self { folder }
    }

    /// A cache in this folder, which is created when it is needed.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: Some(folder.into()),
        }
    }

    /// Removes everything.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn clean(&self) -> io::Result<Cleaned> {
        let mut cleaned = Cleaned::default();
        let Some(folder) = self.folder.as_ref().filter(|folder| folder.exists()) else {
            return Ok(cleaned);
        };
        for blob in fs::read_dir(folder.join("blobs/sha256"))
            .into_iter()
            .flatten()
        {
            cleaned.blobs += 1;
            cleaned.bytes += blob?.metadata()?.len();
        }
        fs::remove_dir_all(folder)?;
        Ok(cleaned)
    }

    /// The bytes with this digest. A file that has another one is removed.
    pub(crate) fn blob(&self, digest: &Digest) -> Option<Vec<u8>> {
        let path = self.blob_path(digest)?;
        let bytes = fs::read(&path).ok()?;
        if Digest::of(&bytes) == *digest {
            return Some(bytes);
        }
        tracing::warn!(path = %path.display(), "a file in the cache has changed and is removed");
        let _ = fs::remove_file(&path);
        None
    }

    pub(crate) fn store_blob(&self, digest: &Digest, bytes: &[u8]) {
        store(self.blob_path(digest), bytes);
    }

    /// The last known digest of a tag, and since when it is known.
    pub(crate) fn tagged(&self, reference: &Reference) -> Option<(Digest, SystemTime)> {
        let path = self.tag_path(reference)?;
        let digest = Digest::parse(&fs::read_to_string(&path).ok()?)?;
        let since = fs::metadata(path).and_then(|metadata| metadata.modified());
        Some((digest, since.ok()?))
    }

    pub(crate) fn store_tag(&self, reference: &Reference, digest: &Digest) {
        store(self.tag_path(reference), digest.to_string().as_bytes());
    }

    fn blob_path(&self, digest: &Digest) -> Option<PathBuf> {
        Some(
            self.folder
                .as_ref()?
                .join("blobs/sha256")
                .join(digest.hex()),
        )
    }

    /// Its name is a digest, because file systems do not tell all tags apart.
    fn tag_path(&self, reference: &Reference) -> Option<PathBuf> {
        let name = Digest::of(reference.to_string().as_bytes());
        Some(self.folder.as_ref()?.join("tags").join(name.hex()))
    }
}

/// Writes a file. Without it, the bytes are fetched again. Warns once, because the cause is most likely the same for each file.
fn store(path: Option<PathBuf>, bytes: &[u8]) {
    static HAS_WARNED: AtomicBool = AtomicBool::new(false);
    let Some(path) = path else { return };
    if let Err(error) = write(&path, bytes)
        && !HAS_WARNED.swap(true, Ordering::Relaxed)
    {
        tracing::warn!(path = %path.display(), %error, "cannot store what was pulled");
    }
}

/// Writes a file that only the user can read, in one step.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}
