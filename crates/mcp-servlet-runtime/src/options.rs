//! What a servlet may do: nothing beyond computing, unless the options say so.

mod cache;
mod limits;
mod proxy;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use extism::{Manifest, Wasm};

use crate::inspect::Module;
pub use cache::CompileCache;
pub use limits::{Limits, ToolOptions};
pub use proxy::Proxy;

pub(crate) const WASM_PAGE: u64 = 65_536;

/// What a servlet is given and how far it may go.
///
/// The default denies the network and the file system and bounds memory, time and everything else.
#[derive(Clone, PartialEq)]
pub struct LoadOptions {
    /// Values that the servlet reads with `config_get`, secrets among them.
    pub config: BTreeMap<String, String>,
    /// Hosts that HTTP requests may go to; `*` and `?` match parts of a name.
    pub allowed_hosts: Vec<String>,
    /// Whether HTTP requests may go to private addresses: loopback, link-local, and those of private networks.
    ///
    /// Otherwise only those that `allowed_hosts` lists without a pattern, and `localhost` if it is in the list.
    pub allow_private: bool,
    /// The proxy through which HTTP requests are sent; `None` sends them directly. Variables of the environment such as
    /// `HTTP_PROXY` have no effect on them.
    ///
    /// The proxy resolves names, so `allow_private` only matters for hosts that are addresses themselves, and for `localhost`.
    pub proxy: Option<Proxy>,
    /// Directories that a servlet built for WASI may open.
    pub allowed_paths: Vec<AllowedPath>,
    /// How many bytes of memory an instance may take, messages included; `None` lifts the bound.
    pub memory: Option<u64>,
    /// How long one call may run; `None` lifts the bound.
    pub timeout: Option<Duration>,
    /// How many bytes one call may answer; `None` leaves it to `memory`.
    pub output: Option<u64>,
    /// How many bytes the variables of an instance may take; 0 turns variables off.
    pub vars: u64,
    /// How many HTTP requests one call may send, redirects not counted; `None` lifts the bound.
    pub http_requests: Option<u32>,
    /// How many bytes the body of an HTTP response may have; `None` leaves it to `memory`.
    pub http_response: Option<u64>,
    /// How long one HTTP request may take, redirects and body included; `None` leaves it to `timeout`. It ends the
    /// request, where `timeout` ends the call.
    pub http_timeout: Option<Duration>,
    /// How many instances there may be, and for how long; by default as the servlet needs it.
    pub instances: InstanceLimits,
    /// What calls share.
    pub isolation: Isolation,
    /// How many calls may wait for an instance; those that come then are refused.
    pub queue: usize,
    /// How long a call may wait for an instance; `None` lifts the bound. [`Guest::call`](crate::Guest::call), which
    /// has a thread to itself, waits without end.
    pub wait: Option<Duration>,
    /// How arguments are checked before the servlet gets them.
    pub arguments: CheckArguments,
    /// What happens to arguments that the schema of a tool does not name.
    pub unknown: UnknownArguments,
    /// How structured results are checked.
    pub results: CheckResults,
    /// Who reads the text that the servlet fails with.
    pub errors: ErrorTexts,
    /// How long compiling the module may take; `None` lifts the bound.
    pub compile: Option<Duration>,
    /// Where compiled modules are kept.
    pub cache: CompileCache,
    /// Other limits for some tools, by the names that the servlet gives them.
    pub tools: BTreeMap<String, ToolOptions>,
}

/// How many instances of a servlet there may be, and for how long.
///
/// The memory of an instance, and with it every `static` of the servlet, lasts from call to call and belongs to that
/// instance: which of several a call gets is not defined. A servlet that counts on it wants [`Instances::ONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instances {
    /// As many are made at once and stay, however long they have nothing to do.
    pub min: usize,
    /// As many calls may run at the same time.
    pub max: usize,
    /// The others go when they had nothing to do for that long; `None` keeps them.
    pub idle: Option<Duration>,
}

impl Instances {
    /// One that lasts. A call that traps, or is stopped, replaces it all the same.
    pub const ONE: Self = Self {
        min: 1,
        max: 1,
        idle: None,
    };
}

/// How many instances of a servlet there may be, as far as that is said. The rest is as the servlet needs it:
/// [`Instances::ONE`] for one that keeps variables or changes its lists, else [`Instances::default`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstanceLimits {
    /// As [`Instances::min`].
    pub min: Option<usize>,
    /// As [`Instances::max`].
    pub max: Option<usize>,
    /// As [`Instances::idle`].
    pub idle: Option<Option<Duration>>,
}

impl From<Instances> for InstanceLimits {
    fn from(instances: Instances) -> Self {
        Self {
            min: Some(instances.min),
            max: Some(instances.max),
            idle: Some(instances.idle),
        }
    }
}

impl InstanceLimits {
    /// What is said, and where nothing is, what `otherwise` says.
    pub fn or(self, otherwise: Instances) -> Instances {
        let max = match self.max {
            Some(max) => max.max(1),
            // It keeps state, which a larger `min` for all servlets does not change.
            None if otherwise == Instances::ONE => 1,
            None => otherwise.max.max(self.min.unwrap_or(0)),
        };
        Instances {
            min: self.min.unwrap_or(otherwise.min).min(max),
            max,
            idle: self.idle.unwrap_or(otherwise.idle),
        }
    }
}

impl Default for Instances {
    /// One, and more while they are needed: twice as many as there are processors, and at least eight, because servlets
    /// wait for the network more than they compute.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            min: 1,
            max: (2 * processors).max(8),
            idle: Some(Duration::from_mins(1)),
        }
    }
}

/// What the calls of a servlet share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Instances, one call after the other.
    #[default]
    Shared,
    /// Nothing: each call has a fresh instance, which costs about a tenth of a millisecond. Variables do not last.
    Call,
}

/// Who reads the text that a servlet fails with: that of an error without a code of its own, or of a panic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorTexts {
    /// Clients do.
    #[default]
    Shown,
    /// The log has it. Clients learn which servlet failed, and in which export.
    Logged,
}

/// How the arguments of calls are checked before a servlet gets them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckArguments {
    /// What does not match the tool's schema is told to the model, as a result with `isError`.
    #[default]
    Check,
    /// As [`Check`](Self::Check), but text such as `"10"` is taken for a number, a boolean or null where only that fits.
    Coerce,
    /// Not at all.
    Off,
}

/// What happens if the structured content of a result does not match the tool's schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckResults {
    /// The log says so.
    #[default]
    Warn,
    /// The call fails.
    Error,
    /// Nothing.
    Off,
}

/// What happens to arguments that the schema of a tool does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownArguments {
    /// They are refused if the schema says so (`"additionalProperties": false`) or the servlet does.
    #[default]
    Refuse,
    /// They are removed before the call. A tool whose schema takes any name keeps all of its arguments.
    Drop,
}

/// A directory of the host that the servlet sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedPath {
    /// The directory on the host.
    pub host: PathBuf,
    /// The name under which the servlet opens it.
    pub guest: PathBuf,
    /// Whether writing is refused.
    pub read_only: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            config: BTreeMap::new(),
            allowed_hosts: Vec::new(),
            allow_private: false,
            proxy: None,
            allowed_paths: Vec::new(),
            memory: Some(256 * 1024 * 1024),
            timeout: Some(Duration::from_secs(30)),
            output: Some(8 << 20),
            vars: 1 << 20,
            http_requests: Some(100),
            http_response: Some(50 << 20),
            http_timeout: Some(Duration::from_secs(20)),
            instances: InstanceLimits::default(),
            isolation: Isolation::Shared,
            queue: 1024,
            wait: Some(Duration::from_secs(30)),
            arguments: CheckArguments::default(),
            unknown: UnknownArguments::default(),
            results: CheckResults::default(),
            errors: ErrorTexts::default(),
            compile: Some(Duration::from_mins(2)),
            cache: CompileCache::Default,
            tools: BTreeMap::new(),
        }
    }
}

/// Without the values of `config`: there are secrets among them.
impl std::fmt::Debug for LoadOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let config: Vec<_> = self.config.keys().collect();
        f.debug_struct("LoadOptions")
            .field("config", &config)
            .field("allowed_hosts", &self.allowed_hosts)
            .field("allow_private", &self.allow_private)
            .field("proxy", &self.proxy)
            .field("allowed_paths", &self.allowed_paths)
            .field("memory", &self.memory)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl LoadOptions {
    /// How many instances `module` may have.
    pub(crate) fn instances_for(&self, module: &Module) -> Instances {
        // They keep state between calls, and on purpose.
        let keeps_state = module.imports_extism("var_set") || module.changes();
        self.instances.or(if keeps_state {
            Instances::ONE
        } else {
            Instances::default()
        })
    }

    /// A tool whose memory limit would need another instance, where there is but one that calls share.
    pub fn tool_without_memory(&self, instances: Instances) -> Option<&str> {
        if instances.max != 1 || self.isolation == Isolation::Call {
            return None;
        }
        let limits = |tool: &ToolOptions| tool.memory.is_some_and(|memory| memory != self.memory);
        let mut tools = self.tools.iter();
        tools
            .find(|(_, tool)| limits(tool))
            .map(|(name, _)| name.as_str())
    }

    /// The Extism manifest for a module under these options. It has no time limit: the watchdog keeps the time.
    pub(crate) fn manifest(&self, wasm: Wasm) -> Manifest {
        let mut manifest = Manifest::new([wasm])
            .with_config(self.config.clone().into_iter())
            .with_allowed_hosts(self.allowed_hosts.iter().cloned())
            .with_allowed_paths(self.allowed_paths.iter().map(AllowedPath::mapping));
        manifest.memory.max_pages = pages(self.memory);
        manifest.memory.max_var_bytes = Some(self.vars);
        manifest
    }
}

/// A bound on memory as the manifest has it.
pub(crate) fn pages(memory: Option<u64>) -> Option<u32> {
    let pages = |bytes| u32::try_from(bytes / WASM_PAGE).unwrap_or(u32::MAX);
    memory.map(pages)
}

impl AllowedPath {
    fn mapping(&self) -> (String, PathBuf) {
        let host = self.host.to_string_lossy();
        let host = if self.read_only {
            format!("ro:{host}")
        } else {
            host.into_owned()
        };
        (host, self.guest.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_no_host_and_no_path_by_default() {
        let manifest = LoadOptions::default().manifest(Wasm::data([]));
        assert_eq!(manifest.allowed_hosts, Some(Vec::new()));
        assert_eq!(manifest.allowed_paths, Some(BTreeMap::new()));
        assert_eq!(manifest.memory.max_pages, Some(4096));
    }

    #[test]
    fn shows_no_secrets() {
        let options = LoadOptions {
            config: [("token".to_owned(), "hunter2".to_owned())].into(),
            ..LoadOptions::default()
        };
        let shown = format!("{options:?}");
        assert!(shown.contains("token"), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn gives_one_lasting_instance_to_servlets_that_keep_variables() {
        let module = |text: &str| {
            Module::read(&wat::parse_str(text).expect("valid text")).expect("a module")
        };
        let keeps =
            module(r#"(module (import "extism:host/env" "var_set" (func (param i64 i64))))"#);
        let options = LoadOptions::default();
        assert_eq!(options.instances_for(&keeps), Instances::ONE);
        assert_eq!(
            options.instances_for(&module("(module)")),
            Instances::default()
        );
        let options = LoadOptions {
            instances: Instances {
                min: 9,
                max: 0,
                idle: None,
            }
            .into(),
            ..options
        };
        assert_eq!(
            options.instances_for(&keeps),
            Instances::ONE,
            "within reason"
        );
    }

    #[test]
    fn marks_read_only_paths_for_the_runtime() {
        let path = AllowedPath {
            host: "/srv/data".into(),
            guest: "/data".into(),
            read_only: true,
        };
        assert_eq!(path.mapping(), ("ro:/srv/data".into(), "/data".into()));
    }
}
