//! What a servlet may access, and its limits.

mod cache;
mod grant;
mod quality;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use mcp_servlet_call::{Limit, Limits};
use mcp_servlet_common::CheckArguments;
use mcp_servlet_http::Proxy;
use serde::Deserialize;

use crate::{inspect::Module, runtime::processors};
pub use cache::CompileCache;
pub use grant::{Grant, ParseGrantError};
pub use quality::Quality;

/// What a servlet may access, and its limits.
///
/// By default, the servlet has no access to the network or the file system, and everything is limited.
/// Start with the default and set fields:
///
/// ```
/// use std::time::Duration;
///
/// use mcp_servlet_call::{Limit, Limits};
/// use mcp_servlet_runtime::LoadOptions;
///
/// let mut options = LoadOptions::default();
/// options.limits.timeout = Limit::At(Duration::from_secs(5));
/// options.allowed_hosts.push("api.example".to_owned());
///
/// let mut slow = Limits::default();
/// slow.timeout = Limit::At(Duration::from_mins(5));
/// options.tools.insert("convert_video".to_owned(), slow);
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Configuration values that the servlet reads with `config_get`. They may contain secrets.
    pub config: BTreeMap<String, String>,
    /// The environment variables from which `config` gets no value, because they are empty, by configuration key. Messages name them.
    pub empty_variables: BTreeMap<String, String>,
    /// Hosts that HTTP requests may go to; `*` and `?` match parts of a name, and `config.KEY` is the host that the value of
    /// this [declared](crate::Needs::config) configuration key names.
    pub allowed_hosts: Vec<String>,
    /// Whether HTTP requests may go to private addresses: loopback, link-local and private networks.
    ///
    /// If not, requests can only reach private addresses that `allowed_hosts` lists without a
    /// pattern, and `localhost` if it is listed.
    pub allow_private: bool,
    /// The proxy for HTTP requests; `None` sends them directly. Environment variables such as
    /// `HTTP_PROXY` have no effect.
    ///
    /// The proxy resolves names, so `allow_private` only matters for literal addresses and for `localhost`.
    pub proxy: Option<Proxy>,
    /// Directories that a servlet built for WASI may open.
    pub allowed_paths: Vec<AllowedPath>,
    /// Tools of other servlets and of remotes that the servlet may call.
    pub allowed_tools: Vec<Grant>,
    /// Resources of other servlets and of remotes that the servlet may read.
    pub allowed_resources: Vec<Grant>,
    /// The limits of a call, as they were set. [`call_limits`](Self::call_limits) includes the defaults.
    pub limits: Limits,
    /// Limits for single tools, by the tool names of the servlet. Tools inherit those of the servlet.
    pub tools: BTreeMap<String, Limits>,
    /// The limit for the variables of the servlet in bytes; 0 turns variables off.
    pub vars: u64,
    /// How many HTTP requests of the servlet may be open at the same time, at least one; `None`
    /// means no limit. Further requests wait, at most for [`Limits::http_timeout`], before their own time begins.
    pub http_concurrency: Option<usize>,
    /// How many instances there may be and how long they may be idle. The default depends on the servlet.
    pub instances: InstanceLimits,
    /// What calls share. `None` decides by the servlet: calls have an instance of their own if the servlet uses
    /// `mcp-servlet` or keeps its state in variables, unless it reports changes of its lists.
    pub isolation: Option<Isolation>,
    /// How many calls may wait for an instance. Further calls are refused.
    pub queue: usize,
    /// How long a call may wait for an instance; `None` means no limit.
    /// [`Guest::list`](crate::Guest::list) waits without a limit.
    pub wait: Option<Duration>,
    /// How arguments are checked before the servlet gets them.
    ///
    /// `Servlet` of `mcp-servlet-host` applies this; [`Guest`](crate::Guest), which knows no tools, does not.
    pub arguments: CheckArguments,
    /// Whether arguments that are not in the schema of a tool are refused or dropped.
    ///
    /// `Servlet` of `mcp-servlet-host` applies this; [`Guest`](crate::Guest), which knows no tools, does not.
    pub unknown: UnknownArguments,
    /// How structured content of results is checked.
    ///
    /// `Servlet` of `mcp-servlet-host` applies this; [`Guest`](crate::Guest), which knows no tools, does not.
    pub results: CheckResults,
    /// Who gets the error messages of the servlet.
    pub errors: ErrorTexts,
    /// The time limit for compiling the module; `None` means no limit. Compiling it again with optimizations may take longer,
    /// but then other modules no longer wait for it.
    pub compile: Option<Duration>,
    /// Whether the lists of a servlet come from its [contract](crate::Contract), if it has one. Its module is not compiled then,
    /// and its calls fail.
    pub from_contract: bool,
    /// The cache of compiled modules.
    pub cache: CompileCache,
    /// How long what was read of a resource is kept, by URI and [`RequestCaller::key`](mcp_servlet_call::RequestCaller::key); `None` reads it
    /// every time.
    ///
    /// `Servlet` of `mcp-servlet-host` applies this; [`Guest`](crate::Guest) does not.
    pub resource_cache: Option<Duration>,
    /// Whether all callers get what one of them has read.
    pub resource_cache_shared: bool,
    /// The quality of all code of the servlet; `None` compiles it quickly and later again with optimizations.
    ///
    /// For the tests of this workspace; not part of the API.
    #[doc(hidden)]
    pub quality: Option<Quality>,
}

/// How many instances of a servlet there may be and how long they may be idle.
///
/// With [`Isolation::Shared`], an instance keeps its memory between calls, including every `static`
/// of the servlet. If there are several instances, any of them may run a call. A servlet that keeps
/// state in its memory needs [`Instances::ONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instances {
    /// How many instances are never dropped for being idle.
    pub min: usize,
    /// The maximum number of calls that run at the same time, each in its own instance.
    pub max: usize,
    /// How long the other instances may be idle before they are dropped; `None` keeps them.
    pub idle: Option<Duration>,
}

impl Instances {
    /// One instance that lasts. A call that traps or is stopped still replaces it.
    pub const ONE: Self = Self {
        min: 1,
        max: 1,
        idle: None,
    };
}

/// Settings for [`Instances`], each of them optional. The default depends on the servlet:
/// [`Instances::ONE`] if it keeps variables or reports changes of its lists, or else
/// [`Instances::default`].
///
/// Start with `InstanceLimits::default()` and set fields, or convert [`Instances`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstanceLimits {
    /// See [`Instances::min`].
    pub min: Option<usize>,
    /// See [`Instances::max`].
    pub max: Option<usize>,
    /// See [`Instances::idle`].
    pub idle: Limit<Duration>,
}

impl From<Instances> for InstanceLimits {
    fn from(instances: Instances) -> Self {
        Self {
            min: Some(instances.min),
            max: Some(instances.max),
            idle: instances.idle.map_or(Limit::Unlimited, Limit::At),
        }
    }
}

impl InstanceLimits {
    /// These settings, with values from `otherwise` for those that are not set.
    pub fn or(self, otherwise: Instances) -> Instances {
        let max = match self.max {
            Some(max) => max.max(1),
            // The servlet keeps state. A larger `min` for all servlets does not change that.
            None if otherwise == Instances::ONE => 1,
            None => otherwise.max.max(self.min.unwrap_or(0)),
        };
        Instances {
            min: self.min.unwrap_or(otherwise.min).min(max),
            max,
            idle: self.idle.resolve(otherwise.idle),
        }
    }
}

impl Default for Instances {
    /// One instance, and more under load: up to eight or twice the number of processors, whichever
    /// is larger. Servlets wait for the network more than they compute.
    fn default() -> Self {
        Self {
            min: 1,
            max: (2 * processors()).max(8),
            idle: Some(Duration::from_mins(1)),
        }
    }
}

/// What the calls of a servlet share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// Calls share instances, one call after another, with every `static` of the servlet.
    Shared,
    /// Each call gets a new instance, which costs tens of microseconds. Calls only share variables.
    Call,
}

impl Isolation {
    /// The name in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Call => "call",
        }
    }

    /// What the calls of a module share by default.
    ///
    /// A module that reports changes of its lists keeps state in statics on purpose. Any other one that uses `mcp-servlet`
    /// does not. Modules of other SDKs may keep state, whatever they import: those for JavaScript and Python import all
    /// functions of Extism.
    pub fn of(module: &Module) -> Self {
        if module.uses_sdk() && !module.changes() {
            Self::Call
        } else {
            Self::Shared
        }
    }
}

/// Who gets the error messages of a servlet. This concerns panics and errors without a JSON-RPC code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorTexts {
    /// Clients get them.
    #[default]
    Shown,
    /// Only the log gets them. Clients learn which servlet and which export failed.
    Logged,
}

/// How the host treats structured content that does not match the tool's schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckResults {
    /// The log gets a warning.
    #[default]
    Warn,
    /// The call fails.
    Error,
    /// Results are not checked.
    Off,
}

/// Whether arguments that are not in the schema of a tool are refused or dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownArguments {
    /// They are refused if the schema (`"additionalProperties": false`) or the servlet does not
    /// accept them.
    #[default]
    Refuse,
    /// They are removed before the call. If the schema accepts any name, all arguments are kept.
    Drop,
}

/// A directory of the host that the servlet may open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedPath {
    /// The directory on the host.
    pub host: PathBuf,
    /// The path by which the servlet opens it.
    pub guest: PathBuf,
    /// Whether the servlet may only read.
    pub read_only: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            config: BTreeMap::new(),
            empty_variables: BTreeMap::new(),
            allowed_hosts: Vec::new(),
            allow_private: false,
            proxy: None,
            allowed_paths: Vec::new(),
            allowed_tools: Vec::new(),
            allowed_resources: Vec::new(),
            limits: Limits::default(),
            tools: BTreeMap::new(),
            vars: 1 << 20,
            http_concurrency: Some(64),
            instances: InstanceLimits::default(),
            isolation: None,
            queue: 1024,
            wait: Some(Duration::from_secs(30)),
            arguments: CheckArguments::default(),
            unknown: UnknownArguments::default(),
            results: CheckResults::default(),
            errors: ErrorTexts::default(),
            compile: Some(Duration::from_mins(2)),
            from_contract: false,
            cache: CompileCache::Default,
            resource_cache: None,
            resource_cache_shared: false,
            quality: None,
        }
    }
}

/// Leaves out the values of `config`, which may be secrets.
impl std::fmt::Debug for LoadOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let config: Vec<_> = self.config.keys().collect();
        f.debug_struct("LoadOptions")
            .field("config", &config)
            .field("allowed_hosts", &self.allowed_hosts)
            .field("allow_private", &self.allow_private)
            .field("proxy", &self.proxy)
            .field("allowed_paths", &self.allowed_paths)
            .field("allowed_tools", &self.allowed_tools)
            .field("allowed_resources", &self.allowed_resources)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl LoadOptions {
    /// How many instances `module` may have.
    pub(crate) fn instances_for(&self, module: &Module) -> Instances {
        // Servlets with variables or change notifications keep state between calls on purpose.
        let keeps_state = module.imports_extism("var_set") || module.changes();
        self.instances.or(if keeps_state {
            Instances::ONE
        } else {
            Instances::default()
        })
    }

    /// What the servlet may call and read.
    pub fn grants(&self) -> impl Iterator<Item = &Grant> {
        self.allowed_tools.iter().chain(&self.allowed_resources)
    }

    /// The limits of calls that belong to no tool.
    pub fn call_limits(&self) -> Limits {
        self.limits.inherit(&Limits::DEFAULT)
    }

    /// The limits of calls of this tool.
    pub fn tool_limits(&self, tool: &str) -> Limits {
        let limits = self.call_limits();
        let tool = self.tools.get(tool);
        tool.map_or(limits, |tool| tool.inherit(&limits))
    }

    /// Whether the fuel of calls is counted.
    pub(crate) fn counts_fuel(&self) -> bool {
        let mut limits = self.tools.values().chain([&self.limits]);
        limits.any(|limits| matches!(limits.fuel, Limit::At(_)))
    }

    /// What the calls of `module` share.
    pub(crate) fn isolation_for(&self, module: &Module) -> Isolation {
        self.isolation.unwrap_or_else(|| Isolation::of(module))
    }

    /// A tool with its own memory limit, if all calls share one instance. Such a limit would need a
    /// second instance.
    pub fn tool_without_memory(&self, instances: Instances, isolation: Isolation) -> Option<&str> {
        if instances.max != 1 || isolation == Isolation::Call {
            return None;
        }
        let memory = self.call_limits().memory;
        let mut tools = self.tools.iter();
        tools
            .find(|(_, tool)| tool.memory.or(memory) != memory)
            .map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
