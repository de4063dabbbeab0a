//! Writes the files of a new project.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use xtp_bundle::Entry;

use super::Error;

/// Writes all entries into a folder that does not exist yet or is empty. Never overwrites a file.
///
/// # Errors
///
/// If the folder is not empty, or a file cannot be written.
pub(crate) fn write(entries: &[Entry], folder: &Path) -> Result<(), Error> {
    check_vacant(folder)?;
    check_unique(entries)?;
    let failed = |path: &Path, source| Error::Write {
        path: path.to_owned(),
        source,
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for entry in entries {
        let path = folder.join(entry.path.split('/').collect::<PathBuf>());
        match &entry.contents {
            None => fs::create_dir_all(&path),
            Some(contents) => write_file(&path, contents, entry.is_executable),
        }
        .map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// Refuses a folder that is not empty.
///
/// # Errors
///
/// [`Error::Exists`].
pub(crate) fn check_vacant(folder: &Path) -> Result<(), Error> {
    let is_vacant = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_vacant {
        return Ok(());
    }
    Err(Error::Exists {
        folder: folder.to_owned(),
    })
}

fn check_unique(entries: &[Entry]) -> Result<(), Error> {
    let mut pairs = entries.windows(2);
    match pairs.find(|pair| pair[0].path == pair[1].path) {
        None => Ok(()),
        Some(pair) => Err(Error::Twice {
            file: pair[0].path.clone(),
        }),
    }
}

fn write_file(path: &Path, contents: &[u8], is_executable: bool) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, contents)?;
    if is_executable {
        make_executable(path)?;
    }
    Ok(())
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}
