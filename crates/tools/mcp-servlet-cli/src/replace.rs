//! Replaces files in one step, because others may read them or write them at the same time.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

/// Replaces a file, or writes a new one. Those who read it see the old contents or the new. If the path is a link, its target is
/// replaced. Anything that is not a file, such as `/dev/null`, is written to instead.
pub(crate) fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, contents);
    }
    let real = fs::canonicalize(path);
    let path = real.as_deref().unwrap_or(path);
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut options = tempfile::Builder::new();
    // By default only the owner may read a temporary file; here the umask decides, as for every other file.
    #[cfg(unix)]
    options.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut new = options.tempfile_in(folder)?;
    new.write_all(contents)?;
    new.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::replace;

    #[cfg(unix)]
    #[test]
    fn only_files_are_replaced() {
        use std::os::unix::{fs::symlink, net::UnixListener};

        let folder = tempfile::tempdir().expect("a folder");
        let [file, link, socket] = ["file", "link", "socket"].map(|name| folder.path().join(name));
        fs::write(&file, "old").expect("a file");
        symlink(&file, &link).expect("a link");
        replace(&link, b"new").expect("the file is replaced");
        assert_eq!(fs::read_link(&link).expect("a link"), file);
        assert_eq!(fs::read(&file).expect("the file"), b"new");
        let _listener = UnixListener::bind(&socket).expect("a socket");
        replace(&socket, b"new").expect_err("a socket cannot be written to");
        assert!(!fs::metadata(&socket).expect("the socket").is_file());
    }

    #[test]
    fn all_who_write_one_file_at_the_same_time_succeed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        thread::scope(|scope| {
            for byte in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..100 {
                        replace(path, &[byte; 1000]).expect("the file is replaced");
                    }
                });
            }
        });
        let contents = fs::read(&path).expect("the file");
        assert_eq!(contents.len(), 1000);
        assert!(contents.iter().all(|byte| *byte == contents[0]));
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }
}
