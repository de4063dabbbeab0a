//! Reads the files of all clients.

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
};

use crate::{
    document::{Document, Position, Problem},
    entry,
    places::Places,
    server::Server,
    source::Source,
};

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
#[error("{}{}: {problem}", path.display(), position.map(|at| format!(":{at}")).unwrap_or_default())]
pub struct Warning {
    /// The file.
    pub path: PathBuf,
    /// The place in the file, if it is known.
    pub position: Option<Position>,
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
            let qualified = name
                .strip_prefix(server.source.name())
                .and_then(|name| name.strip_prefix(':'));
            server.name == name || qualified == Some(&*server.name)
        })
    }
}

/// Reads the files of all clients with `read`. Files that do not exist are left out.
pub fn discover(places: &Places, read: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Found {
    let mut found = Found::default();
    let mut seen = HashSet::new();
    for source in Source::ALL {
        for path in source.files(places) {
            if !seen.insert(path.clone()) {
                continue;
            }
            match read(&path) {
                Ok(bytes) => found.extend(read_file(source, &path, &bytes, places)),
                Err(error) if is_missing(&error) => {}
                Err(error) => found.warn(&path, error.to_string().into()),
            }
        }
    }
    found
}

/// Reads the bytes of one file: UTF-8, or UTF-16 with a byte order mark. For [`Source::File`], any of the known forms.
pub fn read_file(source: Source, path: &Path, bytes: &[u8], places: &Places) -> Found {
    let mut found = Found::default();
    let document = match Document::read(path, bytes) {
        Ok(document) => document,
        Err(problem) => {
            found.warn(path, problem);
            return found;
        }
    };
    let (entries, problems) = entry::entries(source, places, &document.value);
    for problem in problems {
        found.warn(path, problem.into());
    }
    for (name, entry) in entries {
        let entry = entry::read(source, entry)
            .map_err(Problem::from)
            .and_then(|entry| {
                let broken = document.broken_path(&entry.connection.paths());
                broken.map_or(Ok(entry), Err)
            });
        match entry {
            Ok(entry) => found.servers.push(Server {
                name: name.clone(),
                source,
                path: path.to_owned(),
                is_disabled: entry.is_disabled,
                startup_timeout: entry.startup_timeout,
                timeout: entry.timeout,
                connection: entry.connection,
            }),
            Err(Problem { position, text }) => {
                let text = format!("server `{name}`: {text}");
                found.warn(path, Problem { position, text });
            }
        }
    }
    found
}

impl Found {
    fn warn(&mut self, path: &Path, problem: Problem) {
        self.warnings.push(Warning {
            path: path.to_owned(),
            position: problem.position,
            problem: problem.text,
        });
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
