//! `servlet.toml`: the servlets that a server offers, and their limits.

mod auth;
mod bundle;
mod cache;
mod endpoint;
mod file;
mod findings;
mod grants;
mod hooks;
mod hosts;
mod load;
mod lock;
mod members;
mod named;
mod names;
mod problem;
mod quotas;
mod read;
mod records;
mod registries;
mod remote;
mod remotes;
mod restart;
mod rules;
mod secrets;
mod shape;
mod state;
mod store;
mod table;
mod tools;
mod units;
mod wording;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use mcp_servlet_host::{Entry, Introduction, OnFailure};
use mcp_servlet_runtime::{
    Instances, LoadError as ModuleError, LoadOptions, Proxy, Source, signature_file,
};
use mcp_servlet_schema::Provider;
use toml::Spanned;

use crate::{
    HttpOptions, StateKeys, StoreOptions, TaskOptions, records::RecordOptions, watch::Snapshot,
};
use bundle::Bundles;
pub use endpoint::{Endpoint, EndpointTransport, Listener};
use file::{File, Requests, ServletLimits, ServletSection};
pub use findings::{Finding, Findings, Served, Severity};
use grants::ReadGrant;
use hooks::ReadHook;
pub use hosts::parse_host;
pub(crate) use lock::Locks;
pub use lock::{Lock, LockedItem, LockedKind, LockedMember, NotCurrent, Permissions, Rights};
use members::Members;
pub use problem::{ConfigError, Located, Position, Problem};
use registries::Registries;
pub use remote::RemoteEntry;
pub use remotes::Remotes;
use rules::ReadRule;
pub use rules::{ExplainedReject, ExplainedRule, ExplainedStep, Explanation, ServedEndpoint};
use shape::ReadShape;
pub use units::parse_memory;

/// A configuration that was read and checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// The servlets, in the order of the file.
    pub entries: Vec<Entry>,
    /// Other MCP servers, in the order of the file. They are members after the servlets.
    pub remotes: Vec<RemoteEntry>,
    /// How the server introduces itself.
    pub introduction: Introduction,
    /// Limits and allowed hosts for clients over HTTP.
    pub http: HttpOptions,
    /// When calls become tasks, and limits for tasks.
    pub tasks: TaskOptions,
    /// The keys with which state is sealed that leaves the process. None for a random one.
    pub state_keys: Option<StateKeys>,
    /// What is recorded of requests.
    pub records: RecordOptions,
    /// The provider whose restrictions input schemas are rewritten for.
    pub schemas_for: Option<Provider>,
    /// The virtual tools.
    bundles: Bundles,
    /// The addresses that endpoints listen on, in the order of the file.
    pub listeners: Vec<Listener>,
    /// Where clients connect, in the order of the file. If there are none, the caller of the server
    /// decides.
    pub endpoints: Vec<Endpoint>,
    /// What endpoints can serve.
    members: Members,
    /// The path of the configuration, and its text with secrets masked.
    source: (PathBuf, String),
    /// What is most likely a mistake in the text alone.
    warnings: Vec<Problem>,
    /// The rules of all endpoints.
    rules: Vec<ReadRule>,
    /// The shapes of results.
    shapes: Vec<ReadShape>,
    /// What servlets may call and read.
    grants: Vec<ReadGrant>,
    /// The certificates and signers of registries.
    registries: Registries,
    /// The tools that decide about sessions.
    hooks: Vec<ReadHook>,
    /// The endpoints of the conditions that reject clients, and their lines.
    rejects: Vec<(String, usize)>,
    /// The environment variables that its values refer to.
    pub variables: BTreeSet<String>,
    /// The configuration and the files that it names, as they were before they were read.
    files: Snapshot,
    /// Whether it is used with its lock.
    locks: Locks,
    /// Whether there must be a lock.
    needs_lock: bool,
    /// What is wrong with it. The parts that are wrong are left out.
    mistakes: Vec<Problem>,
}

impl Config {
    /// Reads a configuration in order to load it. Relative paths start at its directory. If there is a [`Lock`] beside it,
    /// servlets and remotes are tied to what it has.
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
        Self::look_and_read(path, Mode::Elsewhere, Locks::Off).1
    }

    /// Like [`Config::check`], for the text of a configuration at `path`. The file need not exist.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let config = Self::understand(path, text, Mode::Check, &mut Snapshot::default());
        config.and_then(Self::without_mistakes)
    }

    /// Reads a configuration again in order to load it. The snapshot has the files that the outcome depends on.
    pub(crate) fn look_and_load(
        path: &Path,
        locks: Locks,
    ) -> (Snapshot, Result<Self, ConfigError>) {
        Self::look_and_read(path, Mode::Load, locks)
    }

    /// The path of the configuration.
    pub(crate) fn path(&self) -> &Path {
        &self.source.0
    }

    /// The configuration and the files that it names, as they were before they were read.
    pub(crate) fn files(&self) -> &Snapshot {
        &self.files
    }

    /// Whether it is used with its lock.
    pub(crate) fn locks(&self) -> Locks {
        self.locks
    }

    /// Reads a configuration. The snapshot has the files that the outcome depends on, whether it is good or bad.
    fn look_and_read(
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
        let read_bundles = read.bundles;
        let source = (path.to_owned(), secrets::masked(text, &read.secrets));
        let Some(file) = read.file else {
            return Err(ConfigError::wrong(source, read.problems));
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut reader = Reader::new(text, folder, mode, files);
        reader.problems = read.problems;
        reader.defaults(&file);
        reader.stores = reader.stores(&file);
        reader.registries(&file);
        let (mut entries, mut members) = reader.servlets(&file);
        let mut auths = reader.auths(&file);
        let remotes = reader.remotes(&file, &auths.options());
        let bundles = reader.bundles(&read_bundles, &file.named());
        members.add_remotes(file.remote.keys());
        members.add_bundles(read_bundles.names());
        reader.grants(&file, (&read_bundles, &file.named()), (&members, &entries));
        let state_keys = reader.state_keys(&file);
        let records = reader.records(&file, state_keys.as_ref());
        let tasks = file.tasks.options();
        let listeners = reader.listeners(&file);
        let mut endpoints = reader.endpoints(&file, &members.names(), &tasks, &mut auths);
        reader.quotas(&file, &mut endpoints, &entries);
        let hooks = reader.hooks(&file, &mut endpoints, &mut entries, &auths.credentials());
        let rules = reader.rules(&file, &mut endpoints, (&members, &entries));
        reader.unused_auths(&auths);
        reader.unused_stores(&file, &endpoints);
        reader.open_tools(&auths, &endpoints, &read_bundles.tools);
        reader.repeated_tools(&read_bundles.tools, &endpoints);
        Ok(Self {
            entries,
            remotes,
            introduction: file.server.introduction(),
            http: file.http.options(),
            tasks,
            state_keys,
            records,
            schemas_for: file.server.schemas_for,
            bundles,
            listeners,
            endpoints,
            members,
            source,
            warnings: reader.warnings,
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

/// Why a configuration is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Report every problem.
    Check,
    /// Report every problem, on a machine without the server's environment variables.
    Elsewhere,
    /// Describe a server that runs elsewhere: files may be missing, environment variables are empty.
    Describe,
    /// Load it. Unless `on_failure` is `fail`, a missing file is reported when its servlet is loaded.
    Load,
}

/// The end of messages about a section that has the name of a servlet in a directory.
const IN_DIRECTORY: &str =
    "a servlet that is named after its file in a directory; give one of them another name";

/// Turns sections into entries and collects problems.
struct Reader<'a> {
    text: &'a str,
    folder: &'a Path,
    /// Limits of servlets that set none.
    defaults: LoadOptions,
    mode: Mode,
    problems: Vec<Problem>,
    /// What is most likely a mistake.
    warnings: Vec<Problem>,
    variables: BTreeSet<String>,
    /// The names of servlets that are named after their files.
    in_directories: BTreeSet<String>,
    registries: Registries,
    shapes: Vec<ReadShape>,
    grants: Vec<ReadGrant>,
    rejects: Vec<(String, usize)>,
    stores: BTreeMap<String, StoreOptions>,
    files: &'a mut Snapshot,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, folder: &'a Path, mode: Mode, files: &'a mut Snapshot) -> Self {
        Self {
            text,
            folder,
            defaults: LoadOptions::default(),
            mode,
            problems: Vec::new(),
            warnings: Vec::new(),
            variables: BTreeSet::new(),
            in_directories: BTreeSet::new(),
            registries: Registries::default(),
            shapes: Vec::new(),
            grants: Vec::new(),
            rejects: Vec::new(),
            stores: BTreeMap::new(),
            files,
        }
    }

    /// Reads the limits that apply to all servlets.
    fn defaults(&mut self, file: &File) {
        let limits = &file.limits;
        let mut defaults = LoadOptions::default();
        file.arguments.apply(&mut defaults);
        limits.apply(&mut defaults, self.folder);
        self.proxy(&file.requests, &mut defaults);
        self.limits(limits, &defaults);
        self.defaults = defaults;
    }

    /// Reports a file or directory that is missing. `is_required` says whether the server does not start without it.
    fn absent(&mut self, is_required: bool, span: std::ops::Range<usize>, what: String) {
        let must_be_there = match self.mode {
            Mode::Check | Mode::Elsewhere => true,
            Mode::Load => is_required,
            Mode::Describe => false,
        };
        if must_be_there {
            self.problem(span, what);
        }
    }

    fn problem(&mut self, span: std::ops::Range<usize>, message: String) {
        self.problems.push(Problem { span, message });
    }

    fn warn(&mut self, span: std::ops::Range<usize>, message: String) {
        self.warnings.push(Problem { span, message });
    }

    /// Adds a problem with these bytes of a string, or with all of it.
    fn problem_in(
        &mut self,
        value: &Spanned<String>,
        bytes: Option<std::ops::Range<usize>>,
        message: String,
    ) {
        let start = problem::inside(value.get_ref(), &value.span(), self.text);
        let part = bytes.zip(start);
        let part = part.map(|(bytes, start)| bytes.start + start..bytes.end + start);
        self.problem(part.unwrap_or_else(|| value.span()), message);
    }

    /// The line of this offset, from 1.
    fn line(&self, offset: usize) -> usize {
        problem::line(self.text, offset)
    }

    /// The line and the column of this offset, for messages.
    fn position(&self, offset: usize) -> String {
        problem::position_in_words(self.text, offset)
    }

    fn servlet(&mut self, name: &str, section: &Spanned<ServletSection>, entries: &mut Vec<Entry>) {
        let section = section.get_ref();
        let options = self.options(section);
        let shapes = Arc::new(self.shapes(name, section));
        let sources = self.sources(section);
        // The servlets of a directory are named after their files.
        let is_one = sources.len() == 1 && !self.folder.join(section.source.get_ref()).is_dir();
        for source in sources {
            if !is_one {
                self.in_directories.insert(source.name());
            }
            let mut entry = Entry::of(source, options.clone());
            entry.name = is_one.then(|| name.to_owned());
            entry.prefix = section.tools.prefix();
            entry.filter = section.tools.filter();
            entry.on_failure = section.on_failure;
            entry.shapes = Arc::clone(&shapes);
            entries.push(entry);
        }
    }

    /// A source with the path of its file, or the settings of its registry.
    fn resolved(&mut self, section: &ServletSection, source: Source) -> Source {
        match source {
            Source::File(path) => Source::File(self.file(section, path)),
            Source::Image(image) => Source::Image(self.image(section, image)),
            Source::Pinned { source, sha256 } => Source::Pinned {
                source: Box::new(self.resolved(section, *source)),
                sha256,
            },
            other => other,
        }
    }

    fn sources(&mut self, section: &ServletSection) -> Vec<Source> {
        let mut source = self.resolved(section, Source::parse(section.source.get_ref()));
        // Those of an image are in its registry.
        if !is_image(&source)
            && let Some(keys) = self.signers(&section.signed_by)
        {
            let unsigned = Box::new(source);
            source = Source::Signed {
                source: unsigned,
                keys,
            };
        }
        if section.on_failure == OnFailure::Cached && !is_image(&source) {
            let message = "`on_failure = \"cached\"` needs a source in a registry, such as `oci://ghcr.io/ada/mine:1.2.0`";
            self.problem(section.source.span(), message.to_owned());
        }
        let (source, span) = match &section.sha256 {
            Some(sha256) => (source.pinned(sha256.get_ref()), sha256.span()),
            None => (source, section.source.span()),
        };
        match source.clone().expand() {
            Ok(sources) => sources,
            Err(error @ ModuleError::NoDigest { .. }) => {
                self.problem(span, error.to_string());
                Vec::new()
            }
            Err(ModuleError::Registry(error)) if error.is_usage() => {
                self.problem(span, error.to_string());
                Vec::new()
            }
            // Loading reports the same error.
            Err(error) => {
                self.absent(section.is_required(), span, error.to_string());
                vec![source]
            }
        }
    }

    fn file(&mut self, section: &ServletSection, path: PathBuf) -> PathBuf {
        let path = self.folder.join(path);
        // The snapshot comes before the read, so that a change in between is noticed.
        self.files.add(path.clone());
        if section.signed_by.is_some() {
            self.files.add(signature_file(&path));
        }
        if path.is_dir() {
            self.directory(section);
        } else if !path.exists() {
            let message = format!("there is no file `{}`", path.display());
            self.absent(section.is_required(), section.source.span(), message);
        }
        path
    }

    /// Reports keys that only make sense for a single servlet.
    fn directory(&mut self, section: &ServletSection) {
        if let Some(sha256) = &section.sha256 {
            let message =
                "a digest needs a single file; name the files of the directory one by one";
            self.problem(sha256.span(), message.to_owned());
        }
        if let Some(signed_by) = &section.signed_by {
            let message =
                "signatures are of single files; name the files of the directory one by one";
            self.problem(signed_by.span(), message.to_owned());
        }
        if let Some(tool) = section.tool.keys().next().map(Spanned::get_ref) {
            let message = format!(
                "the servlets of a directory have no tools in common: name the file of the one that has `{tool}`"
            );
            self.problem(section.source.span(), message);
        }
    }

    fn options(&mut self, section: &ServletSection) -> LoadOptions {
        let mut options = self.defaults.clone();
        section.limits.apply(&mut options, self.folder);
        section.arguments.apply(&mut options);
        section.resources.apply(&mut options);
        options.allow_private = section.allow.private;
        self.proxy(&section.requests, &mut options);
        self.limits(&section.limits, &options);
        for host in &section.allow.hosts {
            match parse_host(host.get_ref()) {
                Ok(pattern) => options.allowed_hosts.push(pattern),
                Err(message) => self.problem(host.span(), message),
            }
        }
        for path in &section.allow.paths {
            let host = self.folder.join(path.host.get_ref());
            if !host.is_dir() {
                let message = format!("there is no directory `{}`", host.display());
                self.absent(section.is_required(), path.host.span(), message);
            }
            if options.allowed_paths.iter().any(|other| other.host == host) {
                let message = "this directory is allowed twice; allow it once, under one name";
                self.problem(path.host.span(), message.to_owned());
            }
            options
                .allowed_paths
                .push(mcp_servlet_runtime::AllowedPath {
                    guest: path
                        .guest
                        .clone()
                        .unwrap_or_else(|| path.host.get_ref().into()),
                    read_only: path.read_only,
                    host,
                });
        }
        options.allowed_tools = self.allowed(&section.allow.tools);
        options.allowed_resources = self.allowed(&section.allow.resources);
        for (key, value) in &section.config {
            if let Some(text) = self.expanded(value) {
                options.config.insert(key.clone(), text);
            }
        }
        self.tools(section, &mut options);
        options
    }

    /// A value with its environment variables and files expanded. None if one is missing.
    fn expanded(&mut self, value: &Spanned<String>) -> Option<String> {
        match self.expand(value.get_ref()) {
            Ok(text) => Some(text),
            Err(message) => {
                self.problem(value.span(), message);
                None
            }
        }
    }

    /// A text with the values of its environment variables and files.
    fn expand(&mut self, text: &str) -> Result<String, String> {
        units::expand(text, |name| {
            let path = units::path_of_secret(name);
            if path.is_none() {
                self.variables.insert(name.to_owned());
            }
            match (self.mode, path) {
                (Mode::Elsewhere | Mode::Describe, _) => Ok(Some(String::new())),
                (Mode::Check | Mode::Load, Some(path)) => self.secret_file(path),
                (Mode::Check | Mode::Load, None) => Ok(std::env::var(name).ok()),
            }
        })
    }

    /// Sets the proxy from `[requests]`.
    fn proxy(&mut self, requests: &Requests, options: &mut LoadOptions) {
        let Some(value) = &requests.proxy else {
            return;
        };
        options.proxy = None;
        let Some(text) = self.expanded(value).filter(|text| text != "none") else {
            return;
        };
        // Without the server's environment variables, the expanded value may not be a URL.
        let is_incomplete =
            matches!(self.mode, Mode::Elsewhere | Mode::Describe) && text != *value.get_ref();
        match Proxy::parse(&text) {
            Ok(proxy) => options.proxy = Some(proxy),
            Err(_) if is_incomplete => {}
            Err(message) => self.problem(value.span(), format!("{message}, or none")),
        }
    }

    /// Checks limits of all servlets or of one. `options` are the options that result from them.
    fn limits(&mut self, limits: &ServletLimits, options: &LoadOptions) {
        if let Some(instances) = &limits.instances
            && instances.get_ref().has_bounds()
            && bounds(&self.defaults).is_ok()
            && let Err((min, max)) = bounds(options)
        {
            let message =
                format!("`min` is {min} and `max` is {max}: expected `min` to be at most `max`");
            self.problem(instances.span(), message);
        }
        if let Some(cache) = &limits.cache
            && let Err(problem) = cache::check(cache.get_ref(), &options.cache)
        {
            self.problem(cache.span(), problem);
        }
    }

    fn tools(&mut self, section: &ServletSection, options: &mut LoadOptions) {
        let tools = section.tool.iter();
        options.tools = tools
            .map(|(name, limits)| (name.get_ref().clone(), limits.call_limits()))
            .collect();
        // The default depends on the module, so loading checks it.
        let Some(isolation) = options.isolation else {
            return;
        };
        let instances = options.instances.or(Instances::default());
        let Some(tool) = options.tool_without_memory(instances, isolation) else {
            return;
        };
        if let Some(memory) = &section.tool[tool].memory {
            let message = "all calls share one instance, so a tool cannot have a memory limit of its own: set `memory` in \
                the limits of the servlet, or start an instance for each call: `isolation = \"call\"`";
            self.problem(memory.span(), message.to_owned());
        }
    }
}

/// The minimum and maximum number of instances, if they contradict each other.
fn bounds(options: &LoadOptions) -> Result<(), (usize, usize)> {
    match (options.instances.min, options.instances.max) {
        (Some(min), Some(max)) if min > max => Err((min, max)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;

/// Whether a source is in a registry.
fn is_image(source: &Source) -> bool {
    match source {
        Source::Image(_) => true,
        Source::Pinned { source, .. } => is_image(source),
        _ => false,
    }
}
