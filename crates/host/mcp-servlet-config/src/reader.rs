//! Turns the sections of a file into options, and collects what is wrong with them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use mcp_servlet_host::{Entry, OnFailure};
use mcp_servlet_runtime::{
    Instances, LoadError as ModuleError, LoadOptions, Proxy, Source, signature_file,
};
use mcp_servlet_server::{StoreOptions, watch::Snapshot};
use toml::Spanned;

use super::{
    Problem, cache,
    endpoint::EndpointSpans,
    file::{File, Requests, ServletLimits, ServletSection},
    grants::ReadGrant,
    hosts::parse_host,
    problem,
    registries::Registries,
    remote::RemoteLock,
    shape::ReadShape,
    units,
};

/// Why a configuration is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Report every problem.
    Check,
    /// Report every problem, on a machine without the server's environment variables.
    CheckWithoutEnv,
    /// Describe a server that runs elsewhere: files may be missing, environment variables are empty.
    Describe,
    /// Load it. Unless `on_failure` is `fail`, a missing file is reported when its servlet is loaded.
    Load,
}

/// The end of messages about a section that has the name of a servlet in a directory.
pub(super) const IN_DIRECTORY: &str =
    "a servlet that is named after its file in a directory; give one of them another name";

/// Turns sections into entries and collects problems.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) folder: &'a Path,
    /// Limits of servlets that set none.
    pub(super) defaults: LoadOptions,
    pub(super) mode: Mode,
    pub(super) problems: Vec<Problem>,
    /// The paths of keys whose values could not be read.
    pub(super) left_out: Vec<Vec<String>>,
    /// What is most likely a mistake.
    pub(super) warnings: Vec<Problem>,
    pub(super) variables: BTreeSet<String>,
    /// The names of servlets that are named after their files.
    pub(super) in_directories: BTreeSet<String>,
    pub(super) registries: Registries,
    pub(super) shapes: Vec<ReadShape>,
    pub(super) grants: Vec<ReadGrant>,
    pub(super) rejects: Vec<(String, usize)>,
    pub(super) endpoint_spans: BTreeMap<String, EndpointSpans>,
    pub(super) remote_locks: BTreeMap<String, RemoteLock>,
    pub(super) stores: BTreeMap<String, StoreOptions>,
    pub(super) files: &'a mut Snapshot,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, path: &'a Path, mode: Mode, files: &'a mut Snapshot) -> Self {
        Self {
            text,
            folder: path.parent().unwrap_or(Path::new("")),
            defaults: LoadOptions::default(),
            mode,
            problems: Vec::new(),
            left_out: Vec::new(),
            warnings: Vec::new(),
            variables: BTreeSet::new(),
            in_directories: BTreeSet::new(),
            registries: Registries::default(),
            shapes: Vec::new(),
            grants: Vec::new(),
            rejects: Vec::new(),
            endpoint_spans: BTreeMap::new(),
            remote_locks: BTreeMap::new(),
            stores: BTreeMap::new(),
            files,
        }
    }

    /// Reads the limits that apply to all servlets.
    pub(super) fn defaults(&mut self, file: &File) {
        let limits = &file.limits;
        let mut defaults = LoadOptions::default();
        file.arguments.apply(&mut defaults);
        limits.apply(&mut defaults, self.folder);
        self.proxy(&file.requests, &mut defaults);
        self.limits(limits, &defaults);
        self.defaults = defaults;
    }

    /// Reports a file or directory that is missing. `is_required` says whether the server does not start without it.
    pub(super) fn absent(&mut self, is_required: bool, span: std::ops::Range<usize>, what: String) {
        let must_be_there = match self.mode {
            Mode::Check | Mode::CheckWithoutEnv => true,
            Mode::Load => is_required,
            Mode::Describe => false,
        };
        if must_be_there {
            self.problem(span, what);
        }
    }

    pub(super) fn problem(&mut self, span: std::ops::Range<usize>, message: String) {
        self.problems.push(Problem { span, message });
    }

    pub(super) fn warn(&mut self, span: std::ops::Range<usize>, message: String) {
        self.warnings.push(Problem { span, message });
    }

    /// Whether a key is there, and it or a part of its value could not be read.
    pub(super) fn is_left_out(&self, path: &[&str]) -> bool {
        self.left_out.iter().any(|one| {
            one.len() >= path.len() && one.iter().zip(path).all(|(key, part)| key == part)
        })
    }

    /// Adds a problem with these bytes of a string, or with all of it.
    pub(super) fn problem_in(
        &mut self,
        value: &Spanned<String>,
        bytes: Option<std::ops::Range<usize>>,
        message: String,
    ) {
        let start = problem::inside(value.get_ref(), &value.span(), self.text);
        let part = bytes
            .zip(start)
            .map(|(bytes, start)| bytes.start + start..bytes.end + start);
        self.problem(part.unwrap_or_else(|| value.span()), message);
    }

    /// The line of this offset, from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        problem::line(self.text, offset)
    }

    /// The line and the column of this offset, for messages.
    pub(super) fn position(&self, offset: usize) -> String {
        problem::position_in_words(self.text, offset)
    }

    pub(super) fn servlet(
        &mut self,
        name: &str,
        section: &Spanned<ServletSection>,
        entries: &mut Vec<Entry>,
    ) {
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
        if source.image().is_none()
            && let Some(keys) = self.signers(&section.signed_by)
        {
            let unsigned = Box::new(source);
            source = Source::Signed {
                source: unsigned,
                keys,
            };
        }
        if section.on_failure == OnFailure::Cached && source.image().is_none() {
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

    pub(super) fn file(&mut self, section: &ServletSection, path: PathBuf) -> PathBuf {
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

    pub(super) fn options(&mut self, section: &ServletSection) -> LoadOptions {
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
    pub(super) fn expanded(&mut self, value: &Spanned<String>) -> Option<String> {
        match self.expand(value.get_ref()) {
            Ok(text) => Some(text),
            Err(message) => {
                self.problem(value.span(), message);
                None
            }
        }
    }

    /// A text with the values of its environment variables and files.
    pub(super) fn expand(&mut self, text: &str) -> Result<String, String> {
        units::expand(text, |name| {
            let path = units::path_of_secret(name);
            if path.is_none() {
                self.variables.insert(name.to_owned());
            }
            match (self.mode, path) {
                (Mode::CheckWithoutEnv | Mode::Describe, _) => Ok(Some(String::new())),
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
            matches!(self.mode, Mode::CheckWithoutEnv | Mode::Describe) && text != *value.get_ref();
        match Proxy::parse(&text) {
            Ok(proxy) => options.proxy = Some(proxy),
            Err(_) if is_incomplete => {}
            Err(message) => self.problem(value.span(), format!("{message}, or none")),
        }
    }

    /// Checks limits of all servlets or of one. `options` are the options that result from them.
    pub(super) fn limits(&mut self, limits: &ServletLimits, options: &LoadOptions) {
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
            && let Err(problem) = cache::check_cache(cache.get_ref(), &options.cache)
        {
            self.problem(cache.span(), problem);
        }
    }

    pub(super) fn tools(&mut self, section: &ServletSection, options: &mut LoadOptions) {
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
