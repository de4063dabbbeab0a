//! Detects changed files by polling.
//!
//! Polling costs little and works everywhere, even where the system sends no events: behind a
//! symbolic link that is swapped, on a network drive, in a container. Each poll is compared with
//! the state from before the files were read, so a change during reading or loading is noticed
//! afterwards. Looking at files can take long on a slow disk, so it has a thread of its own.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// The poll interval while nothing changes.
const INTERVAL: Duration = Duration::from_secs(1);

/// The poll interval is at least this long for each file, so that many files do not cost more.
const PER_FILE: Duration = Duration::from_millis(2);

/// How long a file must stay unchanged to count as completely written.
const SETTLING: Duration = Duration::from_millis(250);

/// The file that marks a cache directory, such as cargo's `target`.
const CACHE: &str = "CACHEDIR.TAG";

/// The state of files at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    watched: Vec<Watched>,
    /// Directories whose files are not watched.
    ignored: Vec<PathBuf>,
    files: BTreeMap<PathBuf, Option<State>>,
}

/// Modification time and size, which identify one state of a file.
type State = (SystemTime, u64);

/// A watched path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Watched {
    /// A file, or the `.wasm` files of a directory.
    Named(PathBuf),
    /// Everything below a directory, except hidden files and caches.
    Sources(PathBuf),
}

impl Snapshot {
    /// Adds a file, or the `.wasm` files of a directory, in its current state.
    pub fn add(&mut self, path: PathBuf) {
        self.look(Watched::Named(path));
    }

    /// Adds everything below a directory except hidden files and caches, in its current state.
    pub fn add_sources(&mut self, directory: PathBuf) {
        self.look(Watched::Sources(directory));
    }

    /// Ignores a directory in the sources that are added later, such as a `target` that cargo has not marked as a cache.
    pub fn ignore(&mut self, directory: PathBuf) {
        self.ignored.push(directory);
    }

    /// The current state of the same files.
    #[must_use]
    pub fn again(&self) -> Self {
        let mut now = Self {
            ignored: self.ignored.clone(),
            ..Self::default()
        };
        for watched in &self.watched {
            now.look(watched.clone());
        }
        now
    }

    /// Waits until the files have changed and are no longer being written. Returns the new state.
    pub async fn changed(&self) -> Self {
        let mut seen = self.clone();
        loop {
            let is_changing = seen != *self;
            let wait = if is_changing {
                SETTLING
            } else {
                interval(self.files.len())
            };
            tokio::time::sleep(wait).await;
            let before = seen.clone();
            let now = tokio::task::spawn_blocking(move || before.again())
                .await
                // It only fails while the runtime ends.
                .unwrap_or_else(|_| seen.clone());
            if is_changing && now == seen {
                return now;
            }
            seen = now;
        }
    }

    fn look(&mut self, watched: Watched) {
        match &watched {
            Watched::Named(path) => self.look_at_named(path),
            Watched::Sources(path) => self.look_below(path),
        }
        self.watched.push(watched);
    }

    fn look_at_named(&mut self, path: &Path) {
        let data = fs::metadata(path).ok();
        if !data.as_ref().is_some_and(fs::Metadata::is_dir) {
            self.files
                .insert(path.to_owned(), data.and_then(|data| state(&data)));
            return;
        }
        let inside = fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        for file in inside.filter(|path| path.extension().is_some_and(|end| end == "wasm")) {
            self.look_at(file);
        }
    }

    fn look_below(&mut self, directory: &Path) {
        let inside = fs::read_dir(directory).into_iter().flatten().flatten();
        for entry in inside {
            let path = entry.path();
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            // A symbolic link to a directory does not count as one, so links cannot form a cycle.
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match is_directory {
                _ if is_hidden => {}
                true if path.join(CACHE).exists() || self.ignored.contains(&path) => {}
                true => self.look_below(&path),
                false => self.look_at(path),
            }
        }
    }

    /// Follows symbolic links. A missing file is watched too, because it may appear later.
    fn look_at(&mut self, file: PathBuf) {
        let data = fs::metadata(&file).ok();
        self.files.insert(file, data.and_then(|data| state(&data)));
    }
}

/// The poll interval for so many files while nothing changes.
fn interval(files: usize) -> Duration {
    INTERVAL.max(PER_FILE.saturating_mul(u32::try_from(files).unwrap_or(u32::MAX)))
}

fn state(data: &fs::Metadata) -> Option<State> {
    Some((data.modified().ok()?, data.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_once_a_second_at_a_few_files_and_less_often_at_many() {
        for (files, seconds) in [(1, 1), (300, 1), (500, 1), (5_000, 10)] {
            assert_eq!(interval(files), Duration::from_secs(seconds), "{files}");
        }
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    #[test]
    fn sees_added_changed_and_removed_servlets() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.wasm");
        for watched in [&file, folder.path()] {
            let mut last = Snapshot::default();
            last.add(watched.to_owned());
            for text in ["one", "three"] {
                write(&file, text);
                assert_ne!(last.again(), last, "{text}");
                last = last.again();
                assert_eq!(last.again(), last);
            }
            fs::remove_file(&file).expect("it was there");
            assert_ne!(last.again(), last);
        }
    }

    #[test]
    fn watches_sources_but_not_build_output() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        write(&path("target/CACHEDIR.TAG"), "");
        let mut before = Snapshot::default();
        before.ignore(path("volume"));
        before.add_sources(folder.path().to_owned());
        for made in [
            "target/debug/a.rs",
            "volume/debug/a.rs",
            ".git/index",
            "src/.lib.rs.swp",
        ] {
            write(&path(made), "");
            assert_eq!(before.again(), before, "{made}");
        }
        for written in ["Cargo.toml", "src/lib.rs", "src/a/b/text.md"] {
            write(&path(written), "");
            assert_ne!(before.again(), before, "{written}");
            before = before.again();
        }
    }

    #[cfg(unix)]
    #[test]
    fn sees_a_retargeted_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        write(&path("1/a.toml"), "one");
        write(&path("2/a.toml"), "three");
        let link = path("now");
        std::os::unix::fs::symlink(path("1"), &link).expect("a link");
        let mut before = Snapshot::default();
        before.add(link.join("a.toml"));
        fs::remove_file(&link).expect("a link");
        std::os::unix::fs::symlink(path("2"), &link).expect("a link");
        assert_ne!(before.again(), before);
    }
}
