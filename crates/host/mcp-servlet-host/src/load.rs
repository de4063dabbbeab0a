//! Loads several servlets. By default, one that fails does not affect the others.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use mcp_servlet_runtime::{
    Fetched, LoadError as ModuleError, LoadOptions, RegistryError, Source, processors,
};
use serde::Deserialize;

use crate::{
    Filter, Host, LoadError, Member, Mount, Prefix, Servlet, ServletLock, Shape, UnmetNeeds,
};

/// The maximum number of servlets that are fetched at the same time.
const MAX_FETCHES: usize = 8;

/// A servlet to load, and how it is served. Start with [`Entry::of`] and set fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The name in logs, errors and prefixes. The default comes from the name of the file.
    pub name: Option<String>,
    /// The file, URL or bytes to load.
    pub source: Source,
    /// What the servlet may access, and its limits.
    pub options: LoadOptions,
    /// The prefix for the names of its tools and prompts.
    pub prefix: Prefix,
    /// Which of its tools are listed.
    pub filter: Filter,
    /// What happens if it cannot be loaded.
    pub on_failure: OnFailure,
    /// What the operator has approved of it.
    pub lock: ServletLock,
    /// What clients get of the results of tools, by the names of these. Names without a tool have no effect.
    pub shapes: Arc<BTreeMap<String, Shape>>,
}

/// What happens if a servlet cannot be loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// The other servlets are served without it.
    #[default]
    Skip,
    /// No servlet is served.
    Fail,
    /// If a registry does not answer, the image that its tag named last is served. Otherwise as `Skip`.
    Cached,
}

impl Entry {
    /// A servlet with these options and default settings.
    pub fn of(source: Source, options: LoadOptions) -> Self {
        Self {
            name: None,
            source,
            options,
            prefix: Prefix::default(),
            filter: Filter::default(),
            on_failure: OnFailure::default(),
            lock: ServletLock::default(),
            shapes: Arc::default(),
        }
    }

    /// The name in logs, errors and prefixes.
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.source.name())
    }
}

/// The result of loading several entries.
#[derive(Debug)]
pub struct Loaded {
    /// The servlets that are served.
    pub host: Host,
    /// The servlet of each entry, in the order of the entries. `None` if it is skipped.
    pub mounts: Vec<Option<Mount>>,
    /// The servlets that are skipped.
    pub skipped: Vec<FailedLoad>,
    /// The servlets whose previous version is still served.
    pub failed_reloads: Vec<FailedLoad>,
}

/// The result of loading no entries.
impl Default for Loaded {
    fn default() -> Self {
        Self {
            host: Host::new(Vec::new()),
            mounts: Vec::new(),
            skipped: Vec::new(),
            failed_reloads: Vec::new(),
        }
    }
}

/// A servlet that could not be loaded.
#[derive(Debug)]
pub struct FailedLoad {
    /// The number of its entry.
    pub entry: usize,
    /// Its name.
    pub name: String,
    /// The reason.
    pub error: Box<LoadError>,
}

impl fmt::Display for FailedLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for FailedLoad {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl From<FailedLoad> for LoadError {
    fn from(failed: FailedLoad) -> Self {
        *failed.error
    }
}

/// Whether a module lacks a required signature. Then its previous version is not kept either.
fn is_unsigned(error: &LoadError) -> bool {
    matches!(
        error,
        LoadError::Module(
            ModuleError::NotSigned { .. } | ModuleError::Registry(RegistryError::NotSigned { .. })
        )
    )
}

impl Loaded {
    /// Loads servlets, several at a time, and serves them together in this order.
    ///
    /// A servlet of `previous` with the same module and options is not loaded again and keeps its
    /// instances. If a servlet of `previous` can no longer be loaded, its previous version stays,
    /// with the new options, unless the new one lacks a required signature.
    ///
    /// # Errors
    /// The first entry with [`OnFailure::Fail`] that could not be loaded.
    pub fn load(entries: &[Entry], previous: Option<&Host>) -> Result<Self, FailedLoad> {
        let results = load_all(entries, previous);
        let mut mounts = Vec::new();
        let (mut skipped, mut failed_reloads) = (Vec::new(), Vec::new());
        for (number, (entry, result)) in entries.iter().zip(results).enumerate() {
            let failed = |error| FailedLoad {
                entry: number,
                name: entry.name(),
                error: Box::new(error),
            };
            let former = || previous.and_then(|host| former(host, entry));
            let servlet = match result {
                Ok(servlet) => servlet,
                Err(error) if entry.on_failure == OnFailure::Fail => return Err(failed(error)),
                Err(error) => {
                    let Some(former) = former().filter(|_| !is_unsigned(&error)) else {
                        skipped.push(failed(error));
                        mounts.push(None);
                        continue;
                    };
                    failed_reloads.push(failed(error));
                    // Revoked rights must end, even if the module cannot be loaded any more.
                    let renewed = Arc::clone(&former).with_options(&entry.options);
                    match renewed.and_then(|servlet| servlet.with_shapes(&entry.shapes)) {
                        Ok(servlet) => servlet,
                        Err(error) => {
                            failed_reloads.push(failed(error));
                            former
                        }
                    }
                }
            };
            mounts.push(Some(Mount {
                member: Member::Servlet(servlet),
                prefix: entry.prefix.clone(),
                filter: entry.filter.clone(),
            }));
        }
        Ok(Self {
            host: Host::compose(mounts.iter().flatten().cloned().collect()),
            mounts,
            skipped,
            failed_reloads,
        })
    }

    /// The names of the servlets that are skipped.
    pub fn skipped_names(&self) -> Vec<String> {
        self.skipped
            .iter()
            .map(|failed| failed.name.clone())
            .collect()
    }

    /// What the servlets declare that they need and were not given.
    pub fn unmet_needs(&self) -> impl Iterator<Item = UnmetNeeds> {
        let servlets = self.host.servlets().iter();
        servlets.filter_map(|servlet| servlet.unmet_needs())
    }

    /// All warnings: servlets that are skipped, and [`Host::problems`].
    pub fn problems(&self) -> impl Iterator<Item = &LoadError> {
        let skipped = self.skipped.iter().map(|failed| &*failed.error);
        skipped.chain(self.host.problems())
    }
}

/// Loads one servlet per processor at a time, and more if some are fetched from a URL.
fn load_all(entries: &[Entry], previous: Option<&Host>) -> Vec<Result<Arc<Servlet>, LoadError>> {
    let remote = entries.iter().filter(|entry| entry.source.is_remote());
    let at_once = processors() + remote.count().min(MAX_FETCHES);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut loaded = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(entry) = entries.get(at) else {
                return loaded;
            };
            loaded.push((at, load(entry, previous)));
        }
    };
    let mut loaded = thread::scope(|scope| {
        // This thread loads servlets, too.
        let others: Vec<_> = (1..at_once.min(entries.len()))
            .map(|_| scope.spawn(work))
            .collect();
        let mut loaded = work();
        for other in others {
            // A panic here is a bug in this crate, so it is passed on.
            let others = other.join();
            loaded.extend(others.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        loaded
    });
    loaded.sort_by_key(|(at, _)| *at);
    loaded.into_iter().map(|(_, result)| result).collect()
}

fn load(entry: &Entry, previous: Option<&Host>) -> Result<Arc<Servlet>, LoadError> {
    let mut fetched = entry
        .source
        .clone()
        .fetch()
        .map_err(|error| match (error, &entry.name) {
            (ModuleError::Unreadable { source, .. }, Some(name)) => ModuleError::Unreadable {
                servlet: name.clone(),
                source,
            },
            (error, _) => error,
        })?;
    if let Some(name) = &entry.name {
        fetched.name.clone_from(name);
    }
    entry.lock.check_module(&fetched.name, fetched.digest())?;
    if let Some(same) = previous.and_then(|host| unchanged(host, &fetched, entry)) {
        return same.with_shapes(&entry.shapes);
    }
    let servlet = Servlet::from_fetched(fetched, &entry.options, &entry.lock)?;
    Ok(Arc::new(servlet.shaped(&entry.shapes)))
}

fn unchanged(host: &Host, fetched: &Fetched, entry: &Entry) -> Option<Arc<Servlet>> {
    let mut servlets = host.servlets().iter();
    let is_same = |servlet: &&Arc<Servlet>| {
        servlet.name() == fetched.name
            && servlet.origin() == fetched.origin
            && servlet.digest() == fetched.digest()
            && servlet.options() == &entry.options
            && *servlet.lock() == entry.lock
    };
    servlets.find(is_same).cloned()
}

/// The previous version of an entry: the servlet with the same name, or from the same source.
fn former(host: &Host, entry: &Entry) -> Option<Arc<Servlet>> {
    let origin = entry.source.to_string();
    let is_it = |servlet: &&Arc<Servlet>| match &entry.name {
        Some(name) => servlet.name() == name,
        None => servlet.origin() == origin,
    };
    host.servlets().iter().find(is_it).cloned()
}
