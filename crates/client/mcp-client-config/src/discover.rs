//! Reads the files of all clients.

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
};

use crate::{document, entry, places::Places, server::Server, source::Source};

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The servers of all files, in the order in which they are looked up. Names may repeat.
    pub servers: Vec<Server>,
    /// The files and entries that could not be read.
    pub warnings: Vec<Warning>,
}

/// A file, or an entry of it, that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct Warning {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, and in which entry.
    pub problem: String,
}

impl Found {
    /// The server of a name, or of a client and a name such as `cursor:weather`: the first that is not
    /// disabled.
    pub fn find(&self, name: &str) -> Option<&Server> {
        self.named(name).find(|server| !server.is_disabled)
    }

    /// All servers of a name, or of a client and a name, including disabled ones.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Server> {
        self.servers.iter().filter(move |server| {
            let qualified = name.strip_prefix(server.source.name());
            let qualified = qualified.and_then(|name| name.strip_prefix(':'));
            server.name == name || qualified == Some(&*server.name)
        })
    }
}

/// Reads the files of all clients with `read`. Files that do not exist are left out.
pub fn discover(places: &Places, read: impl Fn(&Path) -> io::Result<String>) -> Found {
    let mut found = Found::default();
    let mut seen = HashSet::new();
    for source in Source::ALL {
        for path in source.files(places) {
            if !seen.insert(path.clone()) {
                continue;
            }
            match read(&path) {
                Ok(text) => found.extend(read_text(source, &path, &text, places)),
                Err(error) if is_missing(&error) => {}
                Err(error) => found.warn(&path, error.to_string()),
            }
        }
    }
    found
}

/// Reads the text of one file. For [`Source::File`], any of the known forms.
pub fn read_text(source: Source, path: &Path, text: &str, places: &Places) -> Found {
    let mut found = Found::default();
    let document = match document::parse(path, text) {
        Ok(document) => document,
        Err(problem) => {
            found.warn(path, problem);
            return found;
        }
    };
    for (name, entry) in entry::entries(source, &places.folder, &document) {
        match entry::read(source, entry) {
            Ok(entry) => found.servers.push(Server {
                name: name.clone(),
                source,
                path: path.to_owned(),
                is_disabled: entry.is_disabled,
                startup_timeout: entry.startup_timeout,
                timeout: entry.timeout,
                connection: entry.connection,
            }),
            Err(problem) => found.warn(path, format!("server `{name}`: {problem}")),
        }
    }
    found
}

impl Found {
    fn warn(&mut self, path: &Path, problem: String) {
        let path = path.to_owned();
        self.warnings.push(Warning { path, problem });
    }

    fn extend(&mut self, other: Self) {
        self.servers.extend(other.servers);
        self.warnings.extend(other.warnings);
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
