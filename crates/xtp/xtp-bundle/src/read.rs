//! Reads a [`Bundle`] from a folder or a zip file.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use zip::ZipArchive;

use crate::{Bundle, CONFIG, Config, Entry, Error, PLUGIN, ROOT, TEMPLATE};

/// More than any template needs. It keeps a small zip file from filling the memory.
const MAX_UNPACKED_BYTES: u64 = 512 * 1024 * 1024;

impl Bundle {
    /// Opens a bundle: a folder with the three parts, a folder with them in `bundle`, or a zip file.
    ///
    /// # Errors
    ///
    /// If the path cannot be read or is not a bundle, or an entry leads out of it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let entries = if path.is_dir() {
            folder(path)?
        } else {
            unzip(path)?
        };
        assemble(path, entries)
    }

    /// Makes a bundle of these parts, with the same checks as [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// If the configuration is invalid.
    pub fn new(config: String, plugin: Vec<u8>, mut entries: Vec<Entry>) -> Result<Self, Error> {
        entries.sort();
        Ok(Self {
            config: Config::parse(&config)?,
            plugin,
            entries,
            config_text: config,
        })
    }
}

/// Finds the three parts among all entries.
fn assemble(path: &Path, entries: Vec<Entry>) -> Result<Bundle, Error> {
    let missing = |missing| Error::Missing {
        path: path.to_owned(),
        missing,
    };
    let mut config = None;
    let mut plugin = None;
    let mut template = Vec::new();
    let mut has_template = false;
    for entry in entries {
        match entry.path.split_once('/') {
            None if entry.path == CONFIG => config = entry.contents,
            None if entry.path == PLUGIN => plugin = entry.contents,
            None => has_template |= entry.path == TEMPLATE,
            Some((TEMPLATE, inner)) => template.push(Entry {
                path: inner.to_owned(),
                ..entry
            }),
            Some(_) => {}
        }
    }
    let config = config.ok_or_else(|| missing(CONFIG))?;
    let plugin = plugin.ok_or_else(|| missing(PLUGIN))?;
    if !has_template && template.is_empty() {
        return Err(missing(TEMPLATE));
    }
    let config = String::from_utf8(config).map_err(|_| Error::Config {
        problem: "it is not UTF-8".to_owned(),
    })?;
    Bundle::new(config, plugin, template)
}

/// All entries of a folder, or of its folder `bundle`.
fn folder(path: &Path) -> Result<Vec<Entry>, Error> {
    let inner = path.join(ROOT);
    let root = if path.join(CONFIG).exists() || !inner.is_dir() {
        path
    } else {
        &inner
    };
    let mut entries = Vec::new();
    // Other files in the folder, for example of a checkout, do not belong to the bundle.
    for name in [CONFIG, PLUGIN] {
        if root.join(name).is_file() {
            entries.push(file(&root.join(name), name.to_owned())?);
        }
    }
    if root.join(TEMPLATE).is_dir() {
        entries.push(folder_entry(TEMPLATE.to_owned()));
        walk(&root.join(TEMPLATE), TEMPLATE, &mut entries)?;
    }
    Ok(entries)
}

/// All folders and files under a folder whose path in the bundle is `prefix`.
fn walk(folder: &Path, prefix: &str, entries: &mut Vec<Entry>) -> Result<(), Error> {
    let unreadable = |source| Error::Read {
        path: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let file_name = path
            .file_name()
            .and_then(OsStr::to_str)
            .ok_or_else(|| not_unicode(&path))?;
        let name = format!("{prefix}/{file_name}");
        if path.is_dir() {
            entries.push(folder_entry(name.clone()));
            walk(&path, &name, entries)?;
        } else {
            entries.push(file(&path, name)?);
        }
    }
    Ok(())
}

fn folder_entry(path: String) -> Entry {
    Entry {
        path,
        contents: None,
        is_executable: false,
    }
}

fn file(path: &Path, name: String) -> Result<Entry, Error> {
    let unreadable = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    Ok(Entry {
        path: name,
        contents: Some(fs::read(path).map_err(unreadable)?),
        is_executable: is_executable(path),
    })
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}

/// All entries of the folder `bundle` in a zip file.
fn unzip(path: &Path) -> Result<Vec<Entry>, Error> {
    let broken = |source| Error::Zip {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(broken)?;
    let mut entries = Vec::new();
    let mut left = MAX_UNPACKED_BYTES;
    for index in 0..archive.len() {
        let mut packed = archive.by_index(index).map_err(broken)?;
        let name = packed.name().map_err(broken)?.into_owned();
        let refuse = |problem| Error::Entry {
            name: name.clone(),
            problem,
        };
        let inside = packed
            .enclosed_name()
            .ok_or_else(|| refuse("leads out of the bundle"))?;
        if packed.is_symlink() {
            return Err(refuse("is a symbolic link"));
        }
        let Some(inside) = portable(&inside)? else {
            continue;
        };
        if packed.is_dir() {
            entries.push(folder_entry(inside));
            continue;
        }
        let is_executable = packed.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        let mut contents = Vec::new();
        let read = (&mut packed)
            .take(left + 1)
            .read_to_end(&mut contents)
            .map_err(|source| Error::Read {
                path: path.join(&inside),
                source,
            })? as u64;
        left = left
            .checked_sub(read)
            .ok_or_else(|| refuse("makes the bundle too large"))?;
        entries.push(Entry {
            path: inside,
            contents: Some(contents),
            is_executable,
        });
    }
    Ok(entries)
}

/// The path under the folder `bundle`, with `/` between names; `None` outside of it.
fn portable(path: &Path) -> Result<Option<String>, Error> {
    let Ok(inner) = path.strip_prefix(PathBuf::from(ROOT)) else {
        return Ok(None);
    };
    let names: Vec<_> = inner
        .iter()
        .map(OsStr::to_str)
        .collect::<Option<_>>()
        .ok_or_else(|| not_unicode(path))?;
    Ok(Some(names.join("/")).filter(|path| !path.is_empty()))
}

fn not_unicode(path: &Path) -> Error {
    Error::Entry {
        name: path.display().to_string(),
        problem: "has a name that is not Unicode",
    }
}

#[cfg(test)]
mod tests;
