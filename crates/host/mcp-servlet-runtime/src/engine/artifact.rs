//! Compiled modules as files: a machine compiles each module once.
//!
//! A file belongs to one module, one kernel with the code that merges it, one release of wasmtime and its settings. Files are machine code, so the
//! directory belongs to the user alone.

use std::{
    ffi::OsStr,
    fs::{self, DirBuilder, File},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex},
    time::{Duration, SystemTime},
};

use mcp_servlet_common::{hex, lock, user_cache};
use sha2::{Digest as _, Sha256};
use wasmtime::{Engine, Module};

use super::merge::{KERNEL, MERGE};
use crate::{
    error::LoadError,
    options::{CompileCache, Quality},
};

/// Files that were not used for this long are removed.
const MAX_UNUSED_TIME: Duration = Duration::from_hours(24 * 30);

/// How long the time of use of a file may be behind.
const TOUCH_INTERVAL: Duration = Duration::from_hours(24);

/// The digest of what belongs to every file, before the module.
static BEFORE_MODULES: LazyLock<Sha256> =
    LazyLock::new(|| Sha256::new().chain_update(KERNEL).chain_update(MERGE));

/// The default directory, once it was checked.
static DEFAULT_DIRECTORY: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The files of one module.
#[derive(Clone, Debug)]
pub(super) struct Artifacts {
    /// `None` if there is no cache.
    directory: Option<PathBuf>,
    digest: String,
}

impl Artifacts {
    /// The files of the module with this digest. An error if the directory of the cache cannot be used.
    pub(super) fn open(cache: &CompileCache, module: &[u8]) -> Result<Self, LoadError> {
        let directory = match cache {
            CompileCache::Off => None,
            CompileCache::Directory(directory) => {
                let private = private(directory).map_err(|source| LoadError::Cache {
                    directory: directory.clone(),
                    source,
                });
                Some(private?)
            }
            CompileCache::Default => checked_default_directory(),
        };
        let digest: [u8; 32] = BEFORE_MODULES
            .clone()
            .chain_update(module)
            .finalize()
            .into();
        Ok(Self {
            directory,
            digest: hex(&digest),
        })
    }

    fn path(&self, engine: &Engine, quality: Quality) -> Option<PathBuf> {
        let mut settings = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut settings);
        let (settings, quality) = (settings.finish(), quality.suffix());
        let name = format!("{}-{settings:016x}.{quality}", self.digest);
        Some(self.directory.as_ref()?.join(name))
    }

    /// The compiled module, if there is a file.
    pub(super) fn find(&self, engine: &Engine, quality: Quality) -> Option<Artifact> {
        let path = self.path(engine, quality)?;
        // On Windows, setting the time needs write access.
        let file = File::options()
            .read(true)
            .write(cfg!(windows))
            .open(&path)
            .ok()?;
        // The time says on which day it was used last.
        let used = file.metadata().and_then(|metadata| metadata.modified());
        if !used.is_ok_and(|used| used.elapsed().is_ok_and(|since| since < TOUCH_INTERVAL)) {
            let _ = file.set_modified(SystemTime::now());
        }
        Some(Artifact(file))
    }

    /// Stores a compiled module. Without the file, the module is compiled again the next time.
    pub(super) fn store(&self, engine: &Engine, quality: Quality, code: &[u8]) {
        let Some(path) = self.path(engine, quality) else {
            return;
        };
        if let Err(error) = write(&path, code) {
            tracing::warn!(path = %path.display(), %error, "cannot store a compiled module");
        }
        path.parent().map(remove_unused);
    }
}

/// The file of a compiled module.
pub(super) struct Artifact(File);

impl Artifact {
    /// The module, if it fits the engine. The pages of the file are read when they are used.
    pub(super) fn load(&self, engine: &Engine) -> Option<Module> {
        let file = self.0.try_clone().ok()?;
        #[expect(unsafe_code, reason = "machine code cannot be checked")]
        // SAFETY: only this user can write to the directory, and its files have their contents before they get their name.
        let module = unsafe { Module::deserialize_open_file(engine, file) };
        module
            .inspect_err(|error| tracing::debug!(%error, "a compiled module does not fit"))
            .ok()
    }
}

/// A compiled module from its bytes.
pub(super) fn module(engine: &Engine, code: &[u8]) -> wasmtime::Result<Module> {
    #[expect(unsafe_code, reason = "machine code cannot be checked")]
    // SAFETY: the bytes come from the compiler.
    unsafe {
        Module::deserialize(engine, code)
    }
}

/// Writes a file under a random name first. Other processes never see a part of it.
fn write(path: &Path, code: &[u8]) -> io::Result<()> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    // Drafts of a process that was killed are removed like other files.
    let mut draft = tempfile::Builder::new()
        .prefix(name)
        .tempfile_in(directory)?;
    draft.write_all(code)?;
    // After a crash of the system, no file with the final name has wrong contents.
    draft.as_file().sync_all()?;
    draft.persist(path)?;
    Ok(())
}

fn remove_unused(directory: &Path) {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    for file in files.filter(|file| is_artifact(&file.file_name())) {
        let used = file.metadata().and_then(|metadata| metadata.modified());
        if used.is_ok_and(|used| used.elapsed().is_ok_and(|since| since > MAX_UNUSED_TIME)) {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Whether a file has a name of [`Artifacts::path`]: a digest, and what follows it.
fn is_artifact(name: &OsStr) -> bool {
    let parts = name.as_encoded_bytes().split_at_checked(64);
    parts.is_some_and(|(digest, rest)| {
        digest.iter().all(u8::is_ascii_hexdigit) && rest.starts_with(b"-")
    })
}

/// The directory for compiled modules within a cache directory. Only this user may write there.
fn private(cache: &Path) -> io::Result<PathBuf> {
    let directory = cache.join("modules");
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&directory)?;
    // The checks must hold for the directory that is used later, whatever links lead to it.
    let directory = directory.canonicalize()?;
    #[cfg(unix)]
    {
        check_owner(&directory)?;
        directory.ancestors().skip(1).try_for_each(check_ancestor)?;
    }
    Ok(directory)
}

/// Refuses a directory in which another user could replace directories of this user.
#[cfg(unix)]
fn check_ancestor(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(directory)?;
    let is_safe = [0, rustix::process::geteuid().as_raw()].contains(&metadata.uid());
    // The group of a user with the same number has only this user.
    let others = if metadata.uid() == metadata.gid() {
        0o002
    } else {
        0o022
    };
    // In a directory with the sticky bit, such as /tmp, users can only replace what is theirs.
    let is_shared = metadata.mode() & others != 0 && metadata.mode() & 0o1000 == 0;
    if is_safe && !is_shared {
        return Ok(());
    }
    let problem = format!(
        "others may replace directories in `{}`",
        directory.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
}

/// Refuses a directory whose files could come from another user.
#[cfg(unix)]
fn check_owner(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(directory)?;
    let shown = directory.display();
    let problem = if metadata.uid() != rustix::process::geteuid().as_raw() {
        format!("`{shown}` belongs to another user")
    } else if metadata.mode() & 0o022 != 0 {
        format!("others may write to `{shown}`")
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
}

/// The default directory. It is checked again only if it was removed or could not be used.
fn checked_default_directory() -> Option<PathBuf> {
    let mut checked = lock(&DEFAULT_DIRECTORY);
    if !checked.as_ref().is_some_and(|directory| directory.is_dir()) {
        *checked = default_directory();
    }
    checked.clone()
}

/// The cache directory of the user. Without it, servlets still work, but start slowly.
fn default_directory() -> Option<PathBuf> {
    let directory = match user_cache() {
        Some(cache) => private(&cache.join("mcp-servlet")),
        None => Err(io::Error::other("the user has no cache directory")),
    };
    directory
        .inspect_err(|error| {
            tracing::warn!("cannot cache compiled servlets, so they start slowly: {error}");
        })
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(engine: &Engine) -> Vec<u8> {
        engine
            .precompile_module(b"\0asm\x01\0\0\0")
            .expect("a module")
    }

    #[test]
    fn a_file_is_found_for_the_same_module_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = CompileCache::Directory(folder.path().to_owned());
        let engine = Engine::default();
        let artifacts = Artifacts::open(&cache, b"one").expect("a directory");
        assert!(artifacts.find(&engine, Quality::Optimized).is_none());
        artifacts.store(&engine, Quality::Optimized, &code(&engine));
        let file = artifacts.find(&engine, Quality::Optimized);
        assert!(file.is_some_and(|file| file.load(&engine).is_some()));
        assert!(artifacts.find(&engine, Quality::Quick).is_none());
        let other = Artifacts::open(&cache, b"two").expect("a directory");
        assert!(other.find(&engine, Quality::Optimized).is_none());
    }

    #[test]
    fn a_file_that_does_not_fit_is_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = CompileCache::Directory(folder.path().to_owned());
        let engine = Engine::default();
        let artifacts = Artifacts::open(&cache, b"one").expect("a directory");
        let whole = code(&engine);
        for damaged in [&b""[..], b"nonsense", &whole[..whole.len() / 2]] {
            artifacts.store(&engine, Quality::Quick, damaged);
            let file = artifacts.find(&engine, Quality::Quick).expect("a file");
            assert!(file.load(&engine).is_none());
        }
    }

    #[test]
    fn a_file_has_its_name_once_it_is_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("name");
        std::thread::scope(|threads| {
            for byte in 0..4_u8 {
                let path = &path;
                threads.spawn(move || write(path, &vec![byte; 100_000]).expect("room"));
            }
        });
        let code = fs::read(&path).expect("one of them");
        assert_eq!(
            (code.len(), code.iter().all(|byte| *byte == code[0])),
            (100_000, true)
        );
        let files = fs::read_dir(folder.path()).expect("a folder");
        assert_eq!(files.count(), 1, "no drafts are left");
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_is_refused_if_others_can_replace_one_above_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let cache = folder.path().join("a/b/c");
        fs::create_dir_all(&cache).expect("room");
        let above = folder.path().join("a");
        fs::set_permissions(&above, fs::Permissions::from_mode(0o777)).expect("it is there");
        let cache = CompileCache::Directory(cache);
        let error = Artifacts::open(&cache, b"").expect_err("others can replace `b`");
        let text = mcp_servlet_call::chain(&error);
        assert!(text.contains("others may replace directories in"), "{text}");
        fs::set_permissions(&above, fs::Permissions::from_mode(0o1777)).expect("it is there");
        Artifacts::open(&cache, b"").expect("only the owner can replace `b`");
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_others_can_change_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let cache = CompileCache::Directory(folder.path().to_owned());
        Artifacts::open(&cache, b"").expect("a directory");
        let modules = folder.path().join("modules");
        fs::set_permissions(&modules, fs::Permissions::from_mode(0o777)).expect("it is there");
        let error = Artifacts::open(&cache, b"").expect_err("others can change it");
        assert!(
            mcp_servlet_call::chain(&error).contains("others may write"),
            "{error}"
        );
        fs::set_permissions(&modules, fs::Permissions::from_mode(0o755)).expect("it is there");
        // Only root can give a directory to another user.
        if std::os::unix::fs::chown(&modules, Some(1), None).is_ok() {
            let error = Artifacts::open(&cache, b"").expect_err("another user can change it");
            assert!(
                mcp_servlet_call::chain(&error).contains("belongs to another user"),
                "{error}"
            );
        }
    }
}
