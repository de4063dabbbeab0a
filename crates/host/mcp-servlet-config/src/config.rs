//! A configuration, and how it is read.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use mcp_servlet_host::{ApprovedNames, Entry, Introduction};
use mcp_servlet_schema::Provider;
use mcp_servlet_server::{Settings, watch::Snapshot};

use super::{
    ConfigError, Lock, Mode, Problem, Reader, bundle::Bundles, endpoint::EndpointSpans, file::File,
    grants::ReadGrant, hooks::ReadHook, lock::Locks, members::Members, read,
    registries::Registries, remote::RemoteLock, rules::ReadRule, secrets, shape::ReadShape,
};

/// A configuration that was read and checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// The servlets, in the order of the file.
    pub entries: Vec<Entry>,
    /// What the server reads itself: endpoints, remotes and options.
    pub settings: Settings,
    /// How the server introduces itself.
    pub introduction: Introduction,
    /// The provider whose restrictions input schemas are rewritten for.
    pub schemas_for: Option<Provider>,
    /// The virtual tools.
    pub(super) bundles: Bundles,
    /// What endpoints can serve.
    pub(super) members: Members,
    /// The path of the configuration, and its text with secrets masked.
    pub(super) source: (PathBuf, String),
    /// What is most likely a mistake in the text alone.
    pub(super) warnings: Vec<Problem>,
    /// The parts of endpoints that findings are about, by name.
    pub(super) endpoint_spans: BTreeMap<String, EndpointSpans>,
    /// How each remote is compared with the lock.
    pub(super) remote_locks: BTreeMap<String, RemoteLock>,
    /// The names in the lock for tools and prompts, by endpoint. A server without endpoints has one with an empty name.
    pub(super) approved: BTreeMap<String, Arc<ApprovedNames>>,
    /// The rules of all endpoints.
    pub(super) rules: Vec<ReadRule>,
    /// The shapes of results.
    pub(super) shapes: Vec<ReadShape>,
    /// What servlets may call and read.
    pub(super) grants: Vec<ReadGrant>,
    /// The certificates and signers of registries.
    pub(super) registries: Registries,
    /// The tools that decide about sessions.
    pub(super) hooks: Vec<ReadHook>,
    /// The endpoints of the conditions that reject clients, and their lines.
    pub(super) rejects: Vec<(String, usize)>,
    /// The environment variables that its values refer to.
    pub variables: BTreeSet<String>,
    /// The configuration and the files that it names, as they were before they were read.
    pub(super) files: Snapshot,
    /// Whether it is used with its lock.
    pub(super) locks: Locks,
    /// Whether there must be a lock.
    pub(super) needs_lock: bool,
    /// What is wrong with it. The parts that are wrong are left out.
    pub(super) mistakes: Vec<Problem>,
}

impl Config {
    /// Reads a configuration in order to load it. Relative paths start at its directory. If there is a [`Lock`] in the same
    /// folder, servlets and remotes are tied to what it has.
    ///
    /// A missing module is reported when its servlet is loaded, unless the servlet has `on_failure = "fail"`.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        Self::look_and_read(path, Mode::Load, Locks::Found).1
    }

    /// Like [`Config::read`], without the lock.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem.
    pub fn read_without_lock(path: &Path) -> Result<Self, ConfigError> {
        Self::look_and_read(path, Mode::Load, Locks::Off).1
    }

    /// Reads a configuration for a server elsewhere. Files may be missing; environment variables
    /// expand to the empty string.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem.
    pub fn read_for_elsewhere(path: &Path) -> Result<Self, ConfigError> {
        Self::look_and_read(path, Mode::Describe, Locks::Off).1
    }

    /// Checks a configuration and that every file exists.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem.
    pub fn check(path: &Path) -> Result<Self, ConfigError> {
        Self::look_and_read(path, Mode::Check, Locks::Found).1
    }

    /// Like [`Config::check`], but mistakes are only an error if they leave no part to check. [`prove`](Self::prove) returns them, with
    /// those that it finds in the virtual tools.
    ///
    /// # Errors
    /// [`ConfigError`] if the file cannot be read, or is not TOML.
    pub fn check_with_mistakes(path: &Path) -> Result<Self, ConfigError> {
        let config = Self::look(path, Mode::Check, Locks::Found).1?;
        if config.has_mistakes() {
            return Ok(config);
        }
        config.locked(path, Locks::Found)
    }

    /// Whether it has mistakes; see [`check_with_mistakes`](Self::check_with_mistakes).
    pub fn has_mistakes(&self) -> bool {
        !self.mistakes.is_empty()
    }

    /// Like [`Config::check`], on a machine without the server's environment: unset variables are allowed.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem.
    pub fn check_without_env(path: &Path) -> Result<Self, ConfigError> {
        Self::look_and_read(path, Mode::CheckWithoutEnv, Locks::Off).1
    }

    /// Like [`Config::check`], for the text of a configuration at `path`. The file need not exist.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let config = Self::understand(path, text, Mode::Check, &mut Snapshot::default());
        config.and_then(Self::without_mistakes)
    }

    /// Reads a configuration. The snapshot has the files that the outcome depends on, whether it is good or bad.
    pub(super) fn look_and_read(
        path: &Path,
        mode: Mode,
        locks: Locks,
    ) -> (Snapshot, Result<Self, ConfigError>) {
        let (files, config) = Self::look(path, mode, locks);
        let config = config.and_then(Self::without_mistakes);
        (files, config.and_then(|config| config.locked(path, locks)))
    }

    fn without_mistakes(self) -> Result<Self, ConfigError> {
        if self.has_mistakes() {
            return Err(ConfigError::wrong(self.source, self.mistakes));
        }
        Ok(self)
    }

    /// The same, without the lock, and with what is valid of a file with mistakes.
    fn look(path: &Path, mode: Mode, locks: Locks) -> (Snapshot, Result<Self, ConfigError>) {
        let mut files = Snapshot::default();
        files.add(path.to_owned());
        if locks != Locks::Off {
            files.add(Lock::path(path));
        }
        let text = fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: path.to_owned(),
            source,
        });
        let config = text.and_then(|text| Self::understand(path, &text, mode, &mut files));
        (files, config)
    }

    /// Reads what is valid of a configuration.
    fn understand(
        path: &Path,
        text: &str,
        mode: Mode,
        files: &mut Snapshot,
    ) -> Result<Self, ConfigError> {
        let read = read::read(text);
        let source = (path.to_owned(), secrets::masked(text, &read.secrets));
        let Some(file) = read.file else {
            return Err(ConfigError::wrong(source, read.problems));
        };
        let mut reader = Reader::new(text, path, mode, files);
        reader.problems = read.problems;
        reader.left_out = read.left_out;
        reader.defaults(&file);
        reader.stores = reader.stores(&file);
        reader.registries(&file);
        let (mut entries, mut members) = reader.servlets(&file);
        let mut auths = reader.auths(&file);
        let remotes = reader.remotes(&file, &auths.options());
        let bundles = reader.bundles(&read.bundles, &file.named());
        members.add_remotes(file.remote.keys());
        members.add_bundles(read.bundles.names());
        reader.grants(&file, (&read.bundles, &file.named()), (&members, &entries));
        let state_keys = reader.state_keys(&file);
        let tasks = file.tasks.options();
        let mut endpoints = reader.endpoints(&file, &members.names(), &tasks, &mut auths);
        reader.quotas(&file, &mut endpoints, &entries);
        let hooks = reader.hooks(&file, &mut endpoints, &mut entries, &auths.credentials());
        let rules = reader.rules(&file, &mut endpoints, (&members, &entries));
        reader.unused_auths(&auths);
        reader.unused_stores(&file, &endpoints);
        reader.open_tools(&auths, &endpoints, &read.bundles.tools);
        reader.repeated_tools(&read.bundles.tools, &endpoints);
        Ok(Self {
            entries,
            settings: Settings {
                http: file.http.options(),
                tasks,
                records: reader.records(&file, state_keys.as_ref()),
                state_keys,
                listeners: reader.listeners(&file),
                endpoints,
                remotes,
            },
            introduction: file.server.introduction(),
            schemas_for: file.server.schemas_for,
            bundles,
            members,
            source,
            warnings: reader.warnings,
            endpoint_spans: reader.endpoint_spans,
            remote_locks: reader.remote_locks,
            approved: BTreeMap::new(),
            rules,
            shapes: reader.shapes,
            grants: reader.grants,
            registries: reader.registries,
            hooks,
            rejects: reader.rejects,
            variables: reader.variables,
            files: reader.files.clone(),
            locks: Locks::Off,
            needs_lock: file.lock.required,
            mistakes: reader.problems,
        })
    }

    /// The JSON Schema of configurations, for editors.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(File).to_value()
    }
}
