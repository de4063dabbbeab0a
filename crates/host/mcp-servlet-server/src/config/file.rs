//! The keys of the file.

mod requests;
mod tasks;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use mcp_servlet_runtime::{
    CheckArguments, CheckResults, CompileCache, ErrorTexts, Isolation, Limit, LoadOptions,
    ToolOptions, UnknownArguments,
};
use mcp_servlet_schema::Provider;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{
    table::Table,
    units::{Count, Memory, Size, Time},
};
use crate::HttpOptions;
pub(super) use requests::Requests;
use tasks::Tasks;

/// The highest limit for connections, sessions or calls.
const MOST: usize = 1_000_000;

/// The highest limit for fuel: the largest integer of TOML.
const MOST_FUEL: usize = i64::MAX as usize;

/// The highest limit for instances. Each of them reserves some gigabytes of address space.
const MOST_INSTANCES: usize = 10_000;

/// A server of MCP servlets.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    /// How the server introduces itself.
    pub(super) server: Table<Server>,
    /// Limits of HTTP connections. Read once, at the start.
    pub(super) http: Table<Http>,
    /// When calls become tasks, and what is kept of them. Read once, at the start.
    pub(super) tasks: Table<Tasks>,
    /// HTTP requests that servlets send, unless one has its own settings.
    pub(super) requests: Table<Requests>,
    /// Limits for all servlets, unless one has its own.
    pub(super) limits: Table<Limits>,
    /// What happens to arguments, unless a servlet says otherwise.
    pub(super) arguments: Table<Arguments>,
    /// The servlets, by name.
    #[schemars(with = "BTreeMap<String, ServletSection>")]
    pub(super) servlet: BTreeMap<String, Spanned<ServletSection>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { name = \"acme\" }"
)]
pub(super) struct Server {
    /// The server's name; by default the servlet's if there is only one.
    pub(super) name: Option<String>,
    /// The server's version.
    pub(super) version: Option<String>,
    /// How to use the server, in words for a model.
    pub(super) instructions: Option<String>,
    /// Rewrites input schemas to what this provider takes; by default clients get them as they are.
    pub(super) schemas_for: Option<Provider>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { body = \"4MiB\" }"
)]
pub(super) struct Http {
    /// Maximum number of connections. Default: 1024.
    connections: Option<Count<1, MOST>>,
    /// How long a client may take for the head of a request. An idle connection is closed after the same time. Default:
    /// `30s`.
    head_time: Time,
    /// How long a client may take for the body of a request. Default: `1m`.
    body_time: Time,
    /// How large a request may be. Default: `4MiB`.
    body: Size,
    /// Maximum number of sessions. Default: 1000. 0 turns sessions off.
    sessions: Option<Count<0, MOST>>,
    /// How long a session lasts without a request or an open stream. Default: `5m`.
    session_idle: Time,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { source = \"a.wasm\" }"
)]
pub(super) struct ServletSection {
    /// A `.wasm` file, a directory of them, or an `https` URL.
    #[schemars(with = "String")]
    pub(super) source: Spanned<String>,
    /// The SHA-256 digest that the file must have, in hexadecimal.
    #[schemars(with = "Option<String>")]
    pub(super) sha256: Option<Spanned<String>>,
    /// Values that the servlet reads. `${NAME}` is replaced by the environment variable, `${NAME:-text}` by `text` if it is
    /// not set.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) config: BTreeMap<String, Spanned<String>>,
    /// Hosts and directories that the servlet may use.
    #[serde(default)]
    pub(super) allow: Table<Allow>,
    /// HTTP requests that it sends.
    #[serde(default)]
    pub(super) requests: Table<Requests>,
    /// Limits of the servlet.
    #[serde(default)]
    pub(super) limits: Table<Limits>,
    /// What happens to arguments.
    #[serde(default)]
    pub(super) arguments: Table<Arguments>,
    /// Which of its tools appear, and how.
    #[serde(default)]
    pub(super) tools: Table<Tools>,
    /// Limits for single tools.
    #[serde(default)]
    pub(super) tool: BTreeMap<String, Table<ToolLimits>>,
    /// What happens if this servlet fails to load.
    #[serde(default)]
    pub(super) on_failure: OnFailure,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { hosts = [\"api.example\"] }"
)]
pub(super) struct Allow {
    /// Hosts that HTTP requests may go to; `*` and `?` match parts of a name.
    #[schemars(with = "Vec<String>")]
    pub(super) hosts: Vec<Spanned<String>>,
    /// Whether the hosts may have private addresses; by default only those that `hosts` lists as addresses, and
    /// `localhost`.
    pub(super) private: bool,
    /// Directories that it may open.
    pub(super) paths: Vec<Table<AllowedPath>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { host = \"data\" }")]
pub(super) struct AllowedPath {
    /// The directory on the host.
    #[schemars(with = "String")]
    pub(super) host: Spanned<String>,
    /// The name under which the servlet opens it; by default the same.
    pub(super) guest: Option<PathBuf>,
    /// Whether writing is refused.
    #[serde(default)]
    pub(super) read_only: bool,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { only = [\"get_*\"] }"
)]
pub(super) struct Tools {
    /// Patterns of the tools that clients see, with `*` and `?`. Default: all tools.
    pub(super) only: Vec<String>,
    /// Patterns of tools to leave out.
    pub(super) except: Vec<String>,
    /// The prefix of the names of its tools and prompts: `auto`, `never`, `name` for the servlet's name, or another prefix.
    pub(super) prefix: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { timeout = \"30s\" }"
)]
pub(super) struct ToolLimits {
    /// How long one call may run.
    timeout: Time,
    /// How much memory an instance may take that runs the tool; such calls have instances of their own.
    #[schemars(with = "Option<Memory>")]
    pub(super) memory: Option<Spanned<Memory>>,
    /// How many WebAssembly instructions one call may execute, roughly. Counting makes the servlet slower.
    fuel: Option<Count<1, MOST_FUEL>>,
    /// The limit for the output of one call.
    output: Size,
    /// How many HTTP requests one call may send.
    http_requests: Option<u32>,
    /// How large the body of an HTTP response may be.
    http_response: Size,
    /// How long one HTTP request may take, redirects and body included.
    http_timeout: Time,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum OnFailure {
    /// The servlet is skipped with a warning.
    #[default]
    Skip,
    /// The server does not start.
    Fail,
}

/// Limits of a servlet.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { timeout = \"30s\" }"
)]
pub(super) struct Limits {
    /// How long one call may run.
    timeout: Time,
    /// How much memory an instance may take.
    memory: Memory,
    /// How many WebAssembly instructions one call may execute, roughly. Counting makes the servlet slower. Default: no limit.
    fuel: Option<Count<1, MOST_FUEL>>,
    /// The limit for the output of one call.
    output: Size,
    /// How much the variables of an instance may take.
    vars: Size,
    /// How many HTTP requests one call may send.
    http_requests: Option<u32>,
    /// How large the body of an HTTP response may be.
    http_response: Size,
    /// How long one HTTP request may take, redirects and body included.
    http_timeout: Time,
    /// How many HTTP requests of the servlet may be open at the same time. Default: 64.
    http_concurrency: Option<Count<1, MOST>>,
    /// How long compiling the module may take. Default: `2m`.
    compile_timeout: Time,
    /// How many instances there may be.
    #[schemars(with = "Option<InstancesAre>")]
    pub(super) instances: Option<Spanned<Table<InstancesAre>>>,
    /// What calls share. By default, this depends on the servlet.
    isolation: Option<Shares>,
    /// How many calls may wait for an instance. With 0, a call is refused at once if all instances are busy.
    queue: Option<Count<0, MOST>>,
    /// How long a call may wait for an instance.
    wait: Time,
    /// How arguments are checked.
    arguments: Option<ArgumentsAre>,
    /// How structured results are checked.
    results: Option<ResultsAre>,
    /// Whether clients see the error texts of the servlet.
    errors: Option<ErrorsAre>,
    /// The directory of compiled modules, or `off`.
    #[schemars(with = "Option<String>")]
    pub(super) cache: Option<Spanned<String>>,
}

/// What happens to the arguments of calls.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { unknown = \"drop\" }"
)]
pub(super) struct Arguments {
    /// Whether arguments that are not in the schema of a tool are refused or dropped. Default: `refuse`.
    unknown: Option<UnknownAre>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum UnknownAre {
    /// They are refused if the schema does not allow them.
    Refuse,
    /// They are removed before the call.
    Drop,
}

impl Arguments {
    /// Applies the section to `options`.
    pub(super) fn apply(self, options: &mut LoadOptions) {
        let unknown = self.unknown.map(|unknown| match unknown {
            UnknownAre::Refuse => UnknownArguments::Refuse,
            UnknownAre::Drop => UnknownArguments::Drop,
        });
        set(&mut options.unknown, unknown);
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { min = 1, max = 4 }"
)]
pub(super) struct InstancesAre {
    /// Instances that are created when the servlet loads and are always kept.
    min: Option<Count<0, MOST_INSTANCES>>,
    /// This many calls may run at the same time.
    max: Option<Count<1, MOST_INSTANCES>>,
    /// Instances beyond `min` are dropped when they are idle for that long.
    idle: Time,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Shares {
    /// Calls share instances.
    Shared,
    /// Each call gets a new instance. Only variables last between calls.
    Call,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ArgumentsAre {
    /// Refused if they do not match the tool's schema.
    Check,
    /// Like `check`, but a string such as `"10"` is read as a number, a boolean or null if only that matches.
    Coerce,
    /// Not checked.
    Off,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ResultsAre {
    /// If they do not match the schema, the server logs a warning.
    Warn,
    /// The call fails if they do not match.
    Error,
    /// Not checked.
    Off,
}

impl Http {
    /// The options that the section describes.
    pub(super) fn options(self) -> HttpOptions {
        let mut options = HttpOptions::default();
        set(
            &mut options.connections,
            self.connections.map(|limit| limit.0),
        );
        options.head_time = self.head_time.0.resolve(options.head_time);
        options.body_time = self.body_time.0.resolve(options.body_time);
        let body = self.body.0.map(saturated).resolve(Some(options.body));
        options.body = body.unwrap_or(usize::MAX);
        set(&mut options.sessions, self.sessions.map(|limit| limit.0));
        options.session_idle = self.session_idle.0.resolve(options.session_idle);
        options
    }
}

fn saturated(size: u64) -> usize {
    size.try_into().unwrap_or(usize::MAX)
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ErrorsAre {
    /// Clients get the error texts.
    Shown,
    /// Only the log has them; clients learn which servlet failed.
    Logged,
}

impl Limits {
    /// Applies the section to `options`. Relative paths start at `folder`.
    pub(super) fn apply(&self, options: &mut LoadOptions, folder: &Path) {
        options.timeout = self.timeout.0.resolve(options.timeout);
        options.memory = self.memory.0.resolve(options.memory);
        let fuel = self.fuel.map(|limit| Some(limit.0 as u64));
        set(&mut options.fuel, fuel);
        options.output = self.output.0.resolve(options.output);
        let vars = self.vars.0.resolve(Some(options.vars));
        options.vars = vars.unwrap_or(u64::MAX);
        set(&mut options.http_requests, self.http_requests.map(Some));
        options.http_response = self.http_response.0.resolve(options.http_response);
        options.http_timeout = self.http_timeout.0.resolve(options.http_timeout);
        let concurrency = self.http_concurrency.map(|limit| Some(limit.0));
        set(&mut options.http_concurrency, concurrency);
        options.compile = self.compile_timeout.0.resolve(options.compile);
        set(&mut options.queue, self.queue.map(|limit| limit.0));
        options.wait = self.wait.0.resolve(options.wait);
        set(
            &mut options.isolation,
            self.isolation.map(|isolation| Some(isolation.into())),
        );
        set(&mut options.arguments, self.arguments.map(Into::into));
        set(&mut options.results, self.results.map(Into::into));
        set(&mut options.errors, self.errors.map(Into::into));
        let cache = |text: &Spanned<String>| match text.get_ref().as_str() {
            "off" => CompileCache::Off,
            directory => CompileCache::Directory(folder.join(directory)),
        };
        set(&mut options.cache, self.cache.as_ref().map(cache));
        if let Some(limits) = self.instances.as_ref().map(Spanned::get_ref) {
            let instances = &mut options.instances;
            instances.min = limits.min.map(|limit| limit.0).or(instances.min);
            instances.max = limits.max.map(|limit| limit.0).or(instances.max);
            instances.idle = limits.idle.0.or(instances.idle);
        }
    }
}

impl InstancesAre {
    /// Whether `min` or `max` is set.
    pub(super) fn has_bounds(&self) -> bool {
        self.min.is_some() || self.max.is_some()
    }
}

impl ToolLimits {
    /// The options that the section describes.
    pub(super) fn options(&self) -> ToolOptions {
        ToolOptions {
            timeout: self.timeout.0,
            memory: self
                .memory
                .as_ref()
                .map_or(Limit::Inherit, |limit| limit.get_ref().0),
            fuel: self
                .fuel
                .map_or(Limit::Inherit, |limit| Limit::At(limit.0 as u64)),
            output: self.output.0,
            http_requests: self.http_requests.map_or(Limit::Inherit, Limit::At),
            http_response: self.http_response.0,
            http_timeout: self.http_timeout.0,
        }
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

impl From<Shares> for Isolation {
    fn from(shares: Shares) -> Self {
        match shares {
            Shares::Shared => Self::Shared,
            Shares::Call => Self::Call,
        }
    }
}

impl From<ArgumentsAre> for CheckArguments {
    fn from(arguments: ArgumentsAre) -> Self {
        match arguments {
            ArgumentsAre::Check => Self::Check,
            ArgumentsAre::Coerce => Self::Coerce,
            ArgumentsAre::Off => Self::Off,
        }
    }
}

impl From<ResultsAre> for CheckResults {
    fn from(results: ResultsAre) -> Self {
        match results {
            ResultsAre::Warn => Self::Warn,
            ResultsAre::Error => Self::Error,
            ResultsAre::Off => Self::Off,
        }
    }
}

impl From<ErrorsAre> for ErrorTexts {
    fn from(errors: ErrorsAre) -> Self {
        match errors {
            ErrorsAre::Shown => Self::Shown,
            ErrorsAre::Logged => Self::Logged,
        }
    }
}
