//! The file of a client, on the disk.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use mcp_client_config::{ClientFile, EditError};
use serde_json::{Map, Value};
use tempfile::NamedTempFile;

use crate::{
    clients::Client,
    failure::{Failure, Kind, cannot_write},
    terminal::one_line,
};

/// A copy is not replaced for this time, so that the state before several changes in a row is kept.
const KEEP_BACKUP: Duration = Duration::from_hours(24);

/// A file that is changed as a whole.
pub(super) struct InstalledIn {
    path: PathBuf,
    /// The bytes on the disk. None if there is no file.
    bytes: Option<Vec<u8>>,
    /// The text of `file` before it was changed. It may have other line ends than the file.
    before: String,
    file: ClientFile,
    /// The copy of an old file, after `write`.
    pub(super) backup: Option<Backup>,
}

/// A copy of the file from before a change.
pub(super) struct Backup {
    pub(super) path: PathBuf,
    /// Whether it is from before this change. Otherwise it is from before an earlier one, and was kept.
    pub(super) is_new: bool,
}

impl InstalledIn {
    /// Reads the file. One that does not exist has no servers.
    pub(super) fn read(client: Client, path: PathBuf) -> Result<Self, Failure> {
        // Files with settings are often links into a folder that is kept elsewhere.
        let path = fs::canonicalize(&path).unwrap_or_else(|_| target(path));
        let bytes = read_if_exists(&path)?;
        let file = ClientFile::parse(client, bytes.as_deref().unwrap_or_default())
            .map_err(|error| problem(&path, &error))?;
        Ok(Self {
            path,
            bytes,
            before: file.to_string(),
            file,
            backup: None,
        })
    }

    /// The path, for messages.
    pub(super) fn shown(&self) -> String {
        one_line(&self.path.display().to_string()).into_owned()
    }

    pub(super) fn server(&self, name: &str) -> Option<Value> {
        self.file.server(name)
    }

    pub(super) fn set(&mut self, name: &str, entry: &Map<String, Value>) -> Result<(), Failure> {
        let set = self.file.set(name, entry);
        set.map_err(|error| problem(&self.path, &error))
    }

    pub(super) fn remove(&mut self, name: &str) -> Result<bool, Failure> {
        let removed = self.file.remove(name);
        removed.map_err(|error| problem(&self.path, &error))
    }

    pub(super) fn has_changed(&self) -> bool {
        self.bytes.is_none() || self.before != self.file.to_string()
    }

    /// Replaces the file at once, so that a client never reads half of it. If it gets secrets, only its owner can read it then.
    pub(super) fn write(&mut self, has_secrets: bool) -> Result<(), Failure> {
        if read_if_exists(&self.path)? != self.bytes {
            let message = format!(
                "`{}` has just been changed by another program",
                self.shown()
            );
            return Err(Failure::with_help(
                Kind::Usage,
                message,
                "run the command again",
            ));
        }
        // Replacing the file would succeed, because that only needs the right to write to its folder.
        let is_protected = |file: fs::Metadata| file.permissions().readonly();
        if fs::metadata(&self.path).is_ok_and(is_protected) {
            let message = format!("cannot write `{}`: it is write-protected", self.shown());
            let help = "make the file writable if it may change";
            return Err(Failure::with_help(Kind::Usage, message, help));
        }
        let written = self.replace(has_secrets);
        written.map_err(|error| cannot_write(&self.path, &error))
    }

    fn replace(&mut self, has_secrets: bool) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        if self.bytes.is_some() {
            self.backup = Some(self.back_up()?);
        }
        let keep_mode = !has_secrets;
        self.put(&self.path, self.file.to_string().as_bytes(), keep_mode)
    }

    /// Writes a file next to this one, with its permissions. Only its owner can read any other, which may get secrets later.
    fn put(&self, path: &Path, bytes: &[u8], keep_mode: bool) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut new = NamedTempFile::new_in(folder)?;
        new.write_all(bytes)?;
        if keep_mode && self.bytes.is_some() {
            let permissions = fs::metadata(&self.path)?.permissions();
            new.as_file().set_permissions(permissions)?;
        }
        new.as_file().sync_all()?;
        new.persist(path)?;
        Ok(())
    }

    fn back_up(&self) -> io::Result<Backup> {
        let mut name = self.path.clone().into_os_string();
        name.push(".servlet-bak");
        let backup = PathBuf::from(name);
        // A link is replaced, not followed: a repository could bring one to any file of the user.
        let there = fs::symlink_metadata(&backup)
            .ok()
            .filter(fs::Metadata::is_file);
        let made = there.and_then(|backup| backup.modified().ok());
        let age = made.and_then(|made| SystemTime::now().duration_since(made).ok());
        let is_new = age.is_none_or(|age| age > KEEP_BACKUP);
        if is_new {
            self.put(&backup, self.bytes.as_deref().unwrap_or_default(), true)?;
        }
        Ok(Backup {
            path: backup,
            is_new,
        })
    }
}

/// Where a link leads whose file does not exist yet.
fn target(path: PathBuf) -> PathBuf {
    match fs::read_link(&path) {
        Ok(link) => path.parent().unwrap_or(Path::new("")).join(link),
        Err(_) => path,
    }
}

fn read_if_exists(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("cannot read `{}`: {error}", path.display());
            Err(Failure::new(Kind::Usage, message))
        }
    }
}

fn problem(path: &Path, error: &EditError) -> Failure {
    let path = path.display();
    let message = match error.position {
        Some(position) => format!("{path}:{position}: {}", error.problem),
        None => format!("{path}: {}", error.problem),
    };
    Failure::new(Kind::Usage, message)
}
