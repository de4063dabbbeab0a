//! What a service serves, and where.

use std::{sync::Arc, time::Duration};

use mcp_servlet_host::{Entry, Host, Introduction, Recorder};
use mcp_servlet_schema::Provider;

use crate::{
    configuration::Configuration,
    http::{HttpOptions, TlsOptions},
    records::RecordOptions,
    server::{ServeOptions, StateKeys},
    service::{Warning, Warnings},
};

/// What a [`Service`](crate::Service) serves, and where. It comes from a [configuration](Self::from_config), or a program
/// [makes](Self::from_host) it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Plan {
    pub(crate) members: Members,
    pub(crate) warnings: Warnings,
    /// Where clients connect. Endpoints of a configuration say that themselves.
    pub transports: Transports,
    /// Options for requests. Endpoints of a configuration have their own.
    pub options: ServeOptions,
    /// The address of `/metrics`, `/health` and `/ready` for operators, such as `127.0.0.1:9000`.
    pub operations: Option<String>,
    /// TLS at that address.
    pub operations_tls: Option<TlsOptions>,
    /// How long [`Service::run_until`](crate::Service::run_until) still accepts requests over HTTP after a signal, while `/ready` says
    /// that the process will stop.
    pub leave: Duration,
    /// The keys with which state is sealed that leaves the process. Processes that serve the same clients need the same keys.
    pub state_keys: StateKeys,
    /// What is recorded of requests: an audit log, and traces. By default, nothing.
    pub records: RecordOptions,
    /// The provider whose restrictions input schemas are rewritten for. A configuration has its own.
    pub schemas_for: Option<Provider>,
    /// Whether a configuration must name a servlet or a remote. Otherwise one that has none yet is served, with a warning.
    pub needs_members: bool,
    /// Learns about the calls that servlets make.
    pub recorder: Option<Arc<dyn Recorder>>,
}

/// What the endpoints of a service list.
#[derive(Debug)]
pub(crate) enum Members {
    /// What a configuration names.
    Config(Arc<dyn Configuration>, View),
    /// Servlets that are loaded.
    Entries(Vec<Entry>),
    /// A host that a program has made.
    Host(Arc<Host>),
    /// Nothing yet.
    Later(Introduction),
}

/// How a configuration is served.
#[derive(Clone, Debug)]
pub(crate) enum View {
    /// At its endpoints, and again when it changes.
    Endpoints,
    /// What one of its endpoints lists, or everything, once.
    Once(Option<String>),
}

/// Where clients connect to a service without endpoints in its configuration. By default, only in this process: see
/// [`Server::open_pipe`](crate::Server::open_pipe).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Transports {
    /// The address for HTTP, such as `127.0.0.1:8080`, and the options there.
    pub http: Option<(String, HttpOptions)>,
    /// TLS at that address.
    pub tls: Option<TlsOptions>,
    /// Whether a client is at the other end of standard input and output.
    pub stdio: bool,
}

impl Plan {
    fn new(members: Members) -> Self {
        Self {
            members,
            warnings: Warnings::default(),
            transports: Transports::default(),
            options: ServeOptions::default(),
            operations: None,
            operations_tls: None,
            leave: Duration::ZERO,
            state_keys: StateKeys::default(),
            records: RecordOptions::default(),
            schemas_for: None,
            needs_members: false,
            recorder: None,
        }
    }

    /// Serves the endpoints of a configuration, or everything in it at one endpoint if it has none. The service reloads the
    /// configuration when the file or a module that it names changes.
    pub fn from_config(config: impl Configuration + 'static) -> Self {
        Self::from_view(Arc::new(config), View::Endpoints)
    }

    /// Serves what this endpoint of a configuration lists, or everything in the configuration, at one endpoint with default options.
    /// The service waits for an attempt to connect to each remote, and reloads nothing: it is for one session of a client in this
    /// process.
    pub fn from_config_once(config: impl Configuration + 'static, endpoint: Option<&str>) -> Self {
        let view = View::Once(endpoint.map(str::to_owned));
        Self::from_view(Arc::new(config), view)
    }

    fn from_view(config: Arc<dyn Configuration>, view: View) -> Self {
        let mut plan = Self::new(Members::Config(Arc::clone(&config), view.clone()));
        let settings = config.settings();
        plan.leave = settings.http.leave;
        plan.state_keys = settings.state_keys.clone().unwrap_or_default();
        plan.options.tasks.clone_from(&settings.tasks);
        // A client in this process keeps its own records.
        if let View::Endpoints = view {
            plan.records.clone_from(&settings.records);
        }
        plan
    }

    /// Loads servlets, and serves them at one endpoint.
    pub fn from_entries(entries: Vec<Entry>) -> Self {
        Self::new(Members::Entries(entries))
    }

    /// Serves a host at one endpoint.
    pub fn from_host(host: impl Into<Arc<Host>>) -> Self {
        Self::new(Members::Host(host.into()))
    }

    /// Serves one endpoint whose servlets are still being built or loaded.
    ///
    /// Clients can connect at once. Their lists, calls and reads wait for [`Service::load`](crate::Service::load) or
    /// [`Server::replace`](crate::Server::replace), or for [`Server::started`](crate::Server::started) if there is nothing to serve,
    /// but no longer than [`ServeOptions::startup`]. A list that has waited for eight seconds is empty, and the client is notified
    /// when it changes. The features of the servlets are unknown until then, so the service declares all of them: tools, resources,
    /// prompts, completions and logging.
    pub fn without_servlets(introduction: Introduction) -> Self {
        Self::new(Members::Later(introduction))
    }

    /// Passes warnings to a function instead of the log: what the service leaves out, and what is most likely a mistake, at the start
    /// and after each reload.
    #[must_use]
    pub fn on_warning(mut self, report: impl Fn(&Warning) + Send + Sync + 'static) -> Self {
        self.warnings = Warnings::new(report);
        self
    }
}
