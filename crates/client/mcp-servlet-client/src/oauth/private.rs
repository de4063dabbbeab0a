//! Files that only their user can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// Creates a folder for this user alone, or checks that an existing one belongs to this user.
pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    check_owner(&fs::metadata(folder)?, 0o022)
}

/// Reads a file. None if it does not exist.
///
/// # Errors
/// If it belongs to another user, or others can read it.
pub(super) fn read(path: &Path) -> io::Result<Option<String>> {
    let mut file = match open(OpenOptions::new().read(true), path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    check_owner(&file.metadata()?, 0o077)?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Writes a file as a whole, so that readers see the old text or the new one. Its folder is created.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_folder(folder)?;
    // The file has mode 0600 from the start.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Removes a file. Returns whether there was one.
pub(super) fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens a file that is locked, and creates it first.
pub(super) fn lock_file(path: &Path) -> io::Result<File> {
    create_folder(path.parent().unwrap_or(Path::new(".")))?;
    let mut options = OpenOptions::new();
    let file = open(options.create(true).append(true), path)?;
    check_owner(&file.metadata()?, 0o077)?;
    Ok(file)
}

/// Whether an open file is still the one at a path.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (open, there) = (file.metadata(), fs::symlink_metadata(path));
    open.ok().map(identity) == there.ok().map(identity)
}

/// Whether a file is still at a path. While it is open, no other file can have the path.
#[cfg(not(unix))]
pub(super) fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Opens a file, but not the one that a symbolic link leads to.
#[cfg(unix)]
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    options.mode(0o600).custom_flags(flags).open(path)
}

/// Opens a file. Only its user can read the folder for local data.
#[cfg(not(unix))]
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Checks that a file or a folder belongs to this user, and that it has none of these bits of its mode.
#[cfg(unix)]
fn check_owner(metadata: &fs::Metadata, forbidden: u32) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let denied = |reason| Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return denied("it belongs to another user");
    }
    if metadata.mode() & forbidden != 0 {
        return denied("other users have access to it; change that with `chmod go-rwx`");
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_: &fs::Metadata, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn files_and_their_folder_are_for_their_user_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new/inner/file");
        write(&path, "one").expect("a file");
        write(&path, "two").expect("a file");
        assert_eq!(read(&path).expect("a file").as_deref(), Some("two"));
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().expect("a folder")), 0o700);
        let left = fs::read_dir(path.parent().expect("a folder")).expect("a folder");
        assert_eq!(left.count(), 1, "temporary files are gone");
        lock_file(&path.with_extension("lock")).expect("a file");
        assert_eq!(mode(&path.with_extension("lock")), 0o600);
    }

    #[test]
    fn files_that_others_can_read_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        write(&path, "one").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
        let error = read(&path).expect_err("a refusal");
        assert!(error.to_string().contains("other users"), "{error}");
    }

    #[test]
    fn files_of_another_user_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut path = folder.path().join("file");
        write(&path, "theirs").expect("a file");
        if std::os::unix::fs::chown(&path, Some(65534), None).is_err() {
            // Only root may give files away, so this user has a file of root.
            path = "/etc/passwd".into();
        }
        let error = read(&path).expect_err("a refusal");
        assert!(error.to_string().contains("another user"), "{error}");
    }

    #[test]
    fn folders_that_others_can_write_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).expect("a mode");
        let error = write(&folder.path().join("file"), "one").expect_err("a refusal");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn symbolic_links_are_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        write(&target, "theirs").expect("a file");
        symlink(&target, &link).expect("a link");
        assert!(read(&link).is_err());
        assert!(lock_file(&link).is_err());
        write(&link, "ours").expect("a file");
        assert_eq!(fs::read_to_string(&target).expect("a file"), "theirs");
    }

    #[test]
    fn a_file_that_does_not_exist_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("none/file");
        assert_eq!(read(&path).expect("no file"), None);
        assert!(!remove(&path).expect("no file"));
        assert!(!folder.path().join("none").exists());
    }
}
