//! The keys of the file.
//!
//! See `docs/decisions/0059-sections-are-types.md`.

mod auth;
mod endpoint;
mod hooks;
mod listener;
mod lock;
mod quota;
mod records;
mod registry;
mod requests;
mod resources;
mod rule;
mod store;
mod tasks;

use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};

use mcp_servlet_call::{Limit, Limits};
use mcp_servlet_host::{Introduction, OnFailure};
use mcp_servlet_runtime::{
    CheckArguments, CheckResults, CompileCache, ErrorTexts, Isolation, LoadOptions,
    UnknownArguments,
};
use mcp_servlet_schema::Provider;
use mcp_servlet_server::HttpOptions;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{
    bundle::BundleSection,
    findings::SectionSpans,
    named::NamedSection,
    names,
    remote::RemoteSection,
    shape::ShapeSection,
    table::Table,
    tools::Tools,
    units::{Count, MAX_COUNT, Memory, Network, Size, Time, TimeOrZero},
};
pub(super) use auth::{AuthSection, IntrospectionSection, JwtSection, KeySection};
pub(super) use endpoint::{EndpointSection, Headers, Kind, Prove};
pub(super) use hooks::{Forward, OnSessionSection, RejectSection};
pub(super) use listener::{ListenerSection, ListenerTls};
use lock::LockSection;
pub(super) use lock::RemoteLockSection;
pub(super) use quota::QuotaSection;
use records::Authorities;
pub(super) use records::{ArgumentsAre, AuditSection, TracesSection};
pub(super) use registry::{RegistrySection, SignerSection};
pub(super) use requests::Requests;
use resources::Resources;
pub(super) use rule::{NamesByKind, RuleNames, RuleSection};
pub(super) use store::StoreSection;
use tasks::Tasks;

/// The highest limit for fuel: the largest integer of TOML on a 64-bit system.
const MAX_FUEL: usize = isize::MAX.unsigned_abs();

/// The highest limit for instances. Each of them reserves some gigabytes of address space.
const MAX_INSTANCES: usize = 10_000;

/// A server of MCP servlets.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    /// How the server introduces itself.
    pub(super) server: Table<Server>,
    /// Limits of HTTP connections. Read once, at the start.
    pub(super) http: Table<Http>,
    /// Whether there must be a lock.
    pub(super) lock: Table<LockSection>,
    /// When calls become tasks, and what is kept of them. Read once, at the start.
    pub(super) tasks: Table<Tasks>,
    /// HTTP requests that servlets send, unless one has its own settings.
    pub(super) requests: Table<Requests>,
    /// Limits for all servlets, unless one has its own.
    pub(super) limits: Table<ServletLimits>,
    /// What happens to arguments, unless a servlet says otherwise.
    pub(super) arguments: Table<Arguments>,
    /// Addresses that endpoints listen on, by name.
    #[schemars(with = "BTreeMap<String, ListenerSection>")]
    pub(super) listener: BTreeMap<String, Spanned<Table<ListenerSection>>>,
    /// Where clients connect, by name. Default: what the options `--http` and `--stdio` say.
    #[schemars(with = "BTreeMap<String, EndpointSection>")]
    pub(super) endpoint: BTreeMap<String, Spanned<Table<EndpointSection>>>,
    /// The audit log: what callers have done. Read once, at the start.
    #[schemars(with = "Option<AuditSection>")]
    pub(super) audit: Option<Spanned<Table<AuditSection>>>,
    /// Spans of requests for a collector. Read once, at the start.
    #[schemars(with = "Option<TracesSection>")]
    pub(super) traces: Option<Spanned<Table<TracesSection>>>,
    /// Stores that several processes share, by name. Read once, at the start.
    #[schemars(with = "BTreeMap<String, StoreSection>")]
    pub(super) store: BTreeMap<String, Spanned<Table<StoreSection>>>,
    /// Who may call endpoints, by name.
    #[schemars(with = "BTreeMap<String, AuthSection>")]
    pub(super) auth: BTreeMap<String, Spanned<Table<AuthSection>>>,
    /// Bundles of virtual tools, by name.
    #[schemars(with = "BTreeMap<String, BundleSection>")]
    pub(super) bundle: BTreeMap<String, Table<BundleSection>>,
    /// The servlets, by name.
    #[schemars(with = "BTreeMap<String, ServletSection>")]
    pub(super) servlet: BTreeMap<String, Spanned<ServletSection>>,
    /// Those who sign images in registries, by name.
    #[schemars(with = "BTreeMap<String, SignerSection>")]
    pub(super) signer: BTreeMap<String, Table<SignerSection>>,
    /// Settings of OCI registries, by host.
    #[schemars(with = "BTreeMap<String, RegistrySection>")]
    pub(super) oci: BTreeMap<Spanned<String>, Table<RegistrySection>>,
    /// Other MCP servers, by name.
    #[schemars(with = "BTreeMap<String, RemoteSection>")]
    pub(super) remote: BTreeMap<String, Spanned<RemoteSection>>,
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
    /// Keys with which the server seals what it gives to clients for later, such as sessions: base64 of at least 32 bytes, the same in
    /// all processes. The first one seals, all of them open. Default: a random one.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) state_keys: Option<Spanned<Vec<Spanned<String>>>>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { body = \"4MiB\" }"
)]
pub(super) struct Http {
    /// Maximum number of connections. Default: 1024.
    connections: Option<Count<1, MAX_COUNT>>,
    /// How long a client may take for the head of a request. An idle connection is closed after the same time. Default:
    /// `30s`.
    #[schemars(with = "Time")]
    head_time: Limit<Duration>,
    /// How long a client may take for the body of a request, and may leave a response unread. Default: `1m`.
    #[schemars(with = "Time")]
    body_time: Limit<Duration>,
    /// How large a request may be. Default: `4MiB`.
    #[schemars(with = "Size")]
    body: Limit<u64>,
    /// Maximum number of sessions. Default: 1000. 0 turns sessions off.
    sessions: Option<Count<0, MAX_COUNT>>,
    /// How long a session lasts without a request or an open stream. Default: `5m`.
    #[schemars(with = "Time")]
    session_idle: Limit<Duration>,
    /// How long requests are still served after the signal to end, while `/ready` says that the process ends. Default: `0s`.
    #[schemars(with = "Option<TimeOrZero>")]
    leave: Option<TimeOrZero>,
    /// Addresses of proxies that name their clients in `X-Forwarded-For`, such as `10.0.0.5` or `10.0.0.0/8`. Default: none.
    trusted_proxies: Vec<Network>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { source = \"a.wasm\" }"
)]
pub(super) struct ServletSection {
    /// A `.wasm` file, a directory of them, an `https` URL, or a reference such as `oci://ghcr.io/ada/mine:1.2.0`.
    #[schemars(with = "String")]
    pub(super) source: Spanned<String>,
    /// The SHA-256 digest that the file must have, in hexadecimal.
    #[schemars(with = "Option<String>")]
    pub(super) sha256: Option<Spanned<String>>,
    /// The image must be signed by one of these signers.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) signed_by: Option<Spanned<Vec<Spanned<String>>>>,
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
    pub(super) limits: Table<ServletLimits>,
    /// What happens to arguments.
    #[serde(default)]
    pub(super) arguments: Table<Arguments>,
    /// The cache of its resources.
    #[serde(default)]
    pub(super) resources: Table<Resources>,
    /// Which of its tools appear, and how.
    #[serde(default)]
    pub(super) tools: Table<Tools>,
    /// Limits for single tools.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, ToolLimits>")]
    pub(super) tool: BTreeMap<Spanned<String>, Table<ToolLimits>>,
    /// What happens if this servlet fails to load: `skip` (the default) serves the others and logs a warning, `fail` does not
    /// start the server, `cached` serves what an `oci://` tag named last if its registry does not answer.
    #[serde(default)]
    #[schemars(schema_with = "names::schema::<OnFailure>")]
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
    /// Tools of other servlets and of remotes that it may call, such as `weather:get_*`; `*` matches any text.
    #[schemars(with = "Vec<String>")]
    pub(super) tools: Vec<Spanned<String>>,
    /// Resources of other servlets and of remotes that it may read, such as `docs:file:///*`; `*` matches any text.
    #[schemars(with = "Vec<String>")]
    pub(super) resources: Vec<Spanned<String>>,
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

/// A section with the limits of a call, and more fields. Serde's `flatten` would lose the places of mistakes.
macro_rules! with_call_limits {
    ($(#[$meta:meta])* struct $name:ident { $($fields:tt)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(
            deny_unknown_fields,
            default,
            expecting = "a table such as { timeout = \"30s\" }"
        )]
        pub(super) struct $name {
            /// How long one call may run.
            #[schemars(with = "Time")]
            timeout: Limit<Duration>,
            /// How much memory an instance may take. Calls of a tool with a limit of its own have instances of their own.
            #[schemars(with = "Option<Memory>")]
            pub(super) memory: Option<Spanned<Memory>>,
            /// How many WebAssembly instructions one call may execute, roughly. Counting makes the servlet slower. Default: no limit.
            fuel: Option<Count<1, MAX_FUEL>>,
            /// The limit for the output of one call.
            #[schemars(with = "Size")]
            output: Limit<u64>,
            /// How many HTTP requests one call may send.
            http_requests: Option<u32>,
            /// How large the body of an HTTP response may be.
            #[schemars(with = "Size")]
            http_response: Limit<u64>,
            /// How long one HTTP request may take, redirects and body included.
            #[schemars(with = "Time")]
            http_timeout: Limit<Duration>,
            $($fields)*
        }

        impl $name {
            /// The limits of a call that the section sets.
            pub(super) fn call_limits(&self) -> Limits {
                let mut limits = Limits::default();
                limits.timeout = self.timeout;
                limits.memory = self.memory.as_ref().map(|memory| memory.get_ref().0).unwrap_or_default();
                limits.fuel = self.fuel.map(|limit| Limit::At(limit.0 as u64)).unwrap_or_default();
                limits.output = self.output;
                limits.http_requests = self.http_requests.map(Limit::At).unwrap_or_default();
                limits.http_response = self.http_response;
                limits.http_timeout = self.http_timeout;
                limits
            }
        }
    };
}

with_call_limits! {
    /// Limits of a tool.
    struct ToolLimits {
        /// The scopes that callers need in addition to those of the endpoint.
        #[schemars(with = "Vec<String>")]
        scopes: Vec<Spanned<String>>,
        /// What clients get of its results. Default: everything.
        pub(super) shape: Option<Table<ShapeSection>>,
    }
}

with_call_limits! {
    /// Limits of a servlet.
    struct ServletLimits {
        /// How much all variables of the servlet may take together.
        #[schemars(with = "Size")]
        vars: Limit<u64>,
        /// How many HTTP requests of the servlet may be open at the same time. Default: 64.
        http_concurrency: Option<Count<1, MAX_COUNT>>,
        /// How long compiling the module may take. Default: `2m`.
        #[schemars(with = "Time")]
        compile_timeout: Limit<Duration>,
        /// How many instances there may be.
        #[schemars(with = "Option<InstancesAre>")]
        pub(super) instances: Option<Spanned<Table<InstancesAre>>>,
        /// What calls share: `shared` instances, or only variables if each `call` has a new instance. The default depends on the
        /// servlet.
        #[schemars(schema_with = "names::schema::<Isolation>")]
        isolation: Option<Isolation>,
        /// How many calls may wait for an instance. With 0, a call is refused at once if all instances are busy.
        queue: Option<Count<0, MAX_COUNT>>,
        /// How long a call may wait for an instance.
        #[schemars(with = "Time")]
        wait: Limit<Duration>,
        /// Arguments that do not match the tool's schema: `check` (the default) refuses them. `coerce` does so too, but reads a
        /// string such as `"10"` as a number, a boolean or null if only that matches. `off` does not check.
        #[schemars(schema_with = "names::schema::<CheckArguments>")]
        arguments: Option<CheckArguments>,
        /// Structured results that do not match the tool's schema: `warn` (the default) logs a warning, `error` fails the call,
        /// `off` does not check.
        #[schemars(schema_with = "names::schema::<CheckResults>")]
        results: Option<CheckResults>,
        /// The error texts of the servlet: clients get them (`shown`, the default), or learn only which servlet failed
        /// (`logged`).
        #[schemars(schema_with = "names::schema::<ErrorTexts>")]
        errors: Option<ErrorTexts>,
        /// The directory of compiled modules, or `off`.
        #[schemars(with = "Option<String>")]
        pub(super) cache: Option<Spanned<String>>,
    }
}

/// What happens to the arguments of calls.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { unknown = \"drop\" }"
)]
pub(super) struct Arguments {
    /// What happens to arguments that are not in the schema of a tool: `refuse` (the default), if the schema does not allow
    /// them, or `drop` before the call.
    #[schemars(schema_with = "names::schema::<UnknownArguments>")]
    unknown: Option<UnknownArguments>,
}

impl Arguments {
    /// Applies the section to `options`.
    pub(super) fn apply(self, options: &mut LoadOptions) {
        set(&mut options.unknown, self.unknown);
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { min = 1, max = 4 }"
)]
pub(super) struct InstancesAre {
    /// How many instances are kept even if they are idle.
    min: Option<Count<0, MAX_INSTANCES>>,
    /// Maximum number of calls that run at the same time, each in its own instance.
    max: Option<Count<1, MAX_INSTANCES>>,
    /// Instances beyond `min` are dropped when they are idle for this long.
    #[schemars(with = "Time")]
    idle: Limit<Duration>,
}

impl ServletSection {
    /// Whether the server does not start without the servlet.
    pub(super) fn is_required(&self) -> bool {
        self.on_failure == OnFailure::Fail
    }

    /// The scopes that callers of its tools need.
    pub(super) fn tool_scopes(&self) -> impl Iterator<Item = (&str, &[Spanned<String>])> {
        let tools = self.tool.iter();
        tools.map(|(name, limits)| (name.get_ref().as_str(), limits.scopes.as_slice()))
    }
}

impl File {
    /// The servlets and remotes of the file.
    pub(super) fn named(&self) -> Vec<NamedSection<'_>> {
        let servlets = self.servlet.iter().map(|(name, section)| NamedSection {
            name,
            kind: "servlet",
            start: section.span().start,
        });
        let remotes = self.remote.iter().map(|(name, section)| NamedSection {
            name,
            kind: "remote",
            start: section.span().start,
        });
        servlets.chain(remotes).collect()
    }

    /// The byte ranges of the sections of servlets and remotes.
    pub(super) fn spans(&self) -> BTreeMap<String, SectionSpans> {
        let servlets = self
            .servlet
            .iter()
            .map(|(name, section)| (name.clone(), servlet_spans(section)));
        let remotes = self
            .remote
            .iter()
            .map(|(name, section)| (name.clone(), remote_spans(section)));
        servlets.chain(remotes).collect()
    }
}

fn servlet_spans(section: &Spanned<ServletSection>) -> SectionSpans {
    let (span, section) = (section.span(), section.get_ref());
    let tools = section
        .tool
        .keys()
        .map(|name| (name.get_ref().as_str(), name.span()));
    SectionSpans {
        section: span,
        source: section.source.span(),
        sha256: section.sha256.as_ref().map(Spanned::span),
        tools: owned(section.tools.patterns().chain(tools)),
    }
}

fn remote_spans(section: &Spanned<RemoteSection>) -> SectionSpans {
    let (span, section) = (section.span(), section.get_ref());
    SectionSpans {
        source: section.target_span().unwrap_or_else(|| span.clone()),
        section: span,
        sha256: None,
        tools: owned(section.patterns()),
    }
}

fn owned<'n>(names: impl Iterator<Item = (&'n str, Range<usize>)>) -> Vec<(String, Range<usize>)> {
    names.map(|(name, span)| (name.to_owned(), span)).collect()
}

impl Server {
    /// How the server introduces itself.
    pub(super) fn introduction(&self) -> Introduction {
        let mut introduction = Introduction::default();
        introduction.name.clone_from(&self.name);
        introduction.version.clone_from(&self.version);
        introduction.instructions.clone_from(&self.instructions);
        introduction
    }
}

impl Http {
    /// The options that the section describes.
    pub(super) fn options(&self) -> HttpOptions {
        let trusted_proxies = self.trusted_proxies.iter().map(|network| network.0);
        let mut options = HttpOptions::default();
        options.trusted_proxies = trusted_proxies.collect();
        set(
            &mut options.connections,
            self.connections.map(|limit| limit.0),
        );
        options.head_time = self.head_time.resolve(options.head_time);
        options.body_time = self.body_time.resolve(options.body_time);
        let body = self.body.map(saturated).resolve(Some(options.body));
        options.body = body.unwrap_or(usize::MAX);
        set(&mut options.sessions, self.sessions.map(|limit| limit.0));
        set(&mut options.leave, self.leave.map(|time| time.0));
        options.session_idle = self.session_idle.resolve(options.session_idle);
        options
    }
}

fn saturated(size: u64) -> usize {
    size.try_into().unwrap_or(usize::MAX)
}

impl ServletLimits {
    /// Applies the section to `options`. Relative paths start at `folder`.
    pub(super) fn apply(&self, options: &mut LoadOptions, folder: &Path) {
        options.limits = self.call_limits().inherit(&options.limits);
        let vars = self.vars.resolve(Some(options.vars));
        options.vars = vars.unwrap_or(u64::MAX);
        let concurrency = self.http_concurrency.map(|limit| Some(limit.0));
        set(&mut options.http_concurrency, concurrency);
        options.compile = self.compile_timeout.resolve(options.compile);
        set(&mut options.queue, self.queue.map(|limit| limit.0));
        options.wait = self.wait.resolve(options.wait);
        set(&mut options.isolation, self.isolation.map(Some));
        set(&mut options.arguments, self.arguments);
        set(&mut options.results, self.results);
        set(&mut options.errors, self.errors);
        let cache = |text: &Spanned<String>| match text.get_ref().as_str() {
            "off" => CompileCache::Off,
            directory => CompileCache::Directory(folder.join(directory)),
        };
        set(&mut options.cache, self.cache.as_ref().map(cache));
        if let Some(limits) = self.instances.as_ref().map(Spanned::get_ref) {
            let instances = &mut options.instances;
            instances.min = limits.min.map(|limit| limit.0).or(instances.min);
            instances.max = limits.max.map(|limit| limit.0).or(instances.max);
            instances.idle = limits.idle.or(instances.idle);
        }
    }
}

impl InstancesAre {
    /// Whether `min` or `max` is set.
    pub(super) fn has_bounds(&self) -> bool {
        self.min.is_some() || self.max.is_some()
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
