//! Everything that a process serves, from one plan.

mod listening;
mod load;
mod reload;
mod restart;
mod warning;

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_servlet_call::chain;
use mcp_servlet_common::lock;
use mcp_servlet_host::{Entry, FailedLoad, Host};
use mcp_servlet_remote::NotReady;
use tokio::net::TcpListener;

use crate::{
    configuration::{self, Configuration, ConfigurationError, EndpointTransport, Listener},
    http::{Tls, operations},
    plan::{Members, Plan, Transports, View},
    records::RecordsError,
    remotes::Remotes,
    server::{Process, ServeOptions, Server, Startup},
    signals::ShutdownSignals,
    stdio::{ServeError, stdio},
};
pub use listening::{BindError, Listening};
use listening::{Bound, bind, bind_all, load_tls};
use load::{Loader, Version, Waiting, require_servlets};
use reload::Reload;
pub(crate) use warning::Warnings;
pub use warning::{Severity, Warning};

/// A running server: the endpoints of a [`Plan`], the servlets and remotes behind them, their listeners, and the reload of the
/// configuration.
///
/// It owns all of its tasks and sockets. When [`stop`](Self::stop) returns, none is left. Dropping it ends all of them as well, with the
/// calls that run, but without waiting for that. Only work that blocks a thread, such as compiling, goes on to its end, and has no
/// effect then.
///
/// ```
/// use mcp_servlet_host::{Host, Servlet, runtime::LoadOptions};
/// use mcp_servlet_server::{HttpOptions, Plan, Service};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let wasm = wat::parse_file("../mcp-servlet-host/tests/greet.wat")?;
/// # let folder = tempfile::tempdir()?;
/// # std::env::set_current_dir(&folder)?;
/// # std::fs::write("greet.wasm", wasm)?;
/// let greet = Servlet::load("greet.wasm", &LoadOptions::default())?;
/// let mut plan = Plan::from_host(Host::new(vec![greet]));
/// plan.transports.http = Some(("127.0.0.1:0".to_owned(), HttpOptions::default()));
/// let service = Service::start(plan).await?;
/// let port = service.listeners()[0].address.port();
/// println!("http://localhost:{port}/mcp");
/// service.stop().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Service {
    process: Arc<Process>,
    endpoints: Arc<[Endpoint]>,
    remotes: Remotes,
    listeners: Vec<Listening>,
    operations: Option<SocketAddr>,
    leave: Duration,
    loader: Loader,
    /// Why standard input and output failed, if clients have no other way to connect.
    failure: Arc<Mutex<Option<ServeError>>>,
}

/// A server, and where its clients connect.
#[derive(Debug)]
struct Endpoint {
    server: Server,
    transports: Vec<EndpointTransport>,
    /// The endpoint of the configuration. `None` if it has none.
    configured: Option<configuration::Endpoint>,
}

/// Why a service does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The configuration cannot be served.
    #[error(transparent)]
    Config(ConfigurationError),
    /// A servlet cannot be loaded.
    #[error(transparent)]
    Load(#[from] Box<FailedLoad>),
    /// Servlets could call each other for ever.
    #[error("{0}")]
    Circle(String),
    /// There is no servlet to serve.
    #[error("no servlet could be loaded")]
    NoServlet,
    /// The configuration has no endpoint of this name.
    #[error("the configuration has no endpoint `{name}`")]
    NoEndpoint {
        /// The name.
        name: String,
        /// The endpoints that it has.
        known: Vec<String>,
    },
    /// A required remote cannot be used.
    #[error(transparent)]
    Remote(#[from] NotReady),
    /// An address is not free, or files of TLS cannot be used.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The audit log cannot be written, or spans cannot be sent.
    #[error(transparent)]
    Records(#[from] RecordsError),
}

impl Service {
    /// Loads what a plan names, connects to its remotes, binds its listeners, and serves.
    ///
    /// On Unix, SIGHUP no longer ends the process if the service has an audit log, or if it listens and standard input is not a
    /// terminal. This holds even after [`stop`](Self::stop).
    ///
    /// # Errors
    /// [`StartError`]. Nothing of the service is left then.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn start(plan: Plan) -> Result<Self, StartError> {
        let remotes = Remotes::default();
        // Boxed, because the future is large.
        let started = Box::pin(Self::start_with(plan, &remotes)).await;
        if started.is_err() {
            remotes.close().await;
        }
        started
    }

    async fn start_with(plan: Plan, remotes: &Remotes) -> Result<Self, StartError> {
        let Plan {
            members,
            warnings,
            transports,
            options,
            operations,
            operations_tls,
            leave,
            state_keys,
            records,
            schemas_for,
            recorder,
            needs_members,
        } = plan;
        let loader = Loader {
            warnings,
            schemas_for,
            recorder,
        };
        let one = OneEndpoint {
            transports,
            options,
            needs_members,
        };
        // Boxed, because the future is large.
        let made = Box::pin(make(members, one, &loader, remotes)).await?;
        let bound = bind_all(&made.listeners, &made.endpoints).await?;
        let operations = match &operations {
            Some(address) => {
                let tls = load_tls(("operations", address), operations_tls.as_ref())?;
                let (listener, address) = bind(address).await?;
                Some(((listener, tls), address))
            }
            None => None,
        };
        made.process.open_records(&records)?;
        made.process.state_keys.replace(state_keys);
        let service = Self {
            process: made.process,
            endpoints: made.endpoints,
            remotes: remotes.clone(),
            listeners: bound.iter().map(|one| one.listening.clone()).collect(),
            operations: operations.as_ref().map(|(_, address)| *address),
            leave,
            loader,
            failure: Arc::default(),
        };
        #[cfg(unix)]
        service.follow_hangups();
        service.serve(bound, operations.map(|(listener, _)| listener));
        if let Some(version) = made.reloaded {
            service.reload(version);
        }
        Ok(service)
    }

    /// Opens the audit log again at each SIGHUP. Without one, the signal of a service manager that asks for a reload must not end the
    /// server: changed files are noticed anyway.
    #[cfg(unix)]
    fn follow_hangups(&self) {
        use std::io::{IsTerminal as _, stdin};

        // The end of a terminal is a SIGHUP as well, and ends a server in it.
        let is_service = !self.listeners.is_empty() && !stdin().is_terminal();
        if !is_service && !self.process.has_audit_log() {
            return;
        }
        let process = Arc::downgrade(&self.process);
        let reopen = move || {
            if let Some(process) = process.upgrade() {
                process.reopen_audit_log();
            }
        };
        match crate::signals::at_hangups(reopen) {
            Ok(following) => {
                self.process.nursery.spawn(following);
            }
            Err(error) => tracing::warn!(%error, "SIGHUP is not handled"),
        }
    }

    /// Starts the tasks of all transports.
    fn serve(
        &self,
        bound: Vec<Bound>,
        operations_listener: Option<(TcpListener, Option<Arc<Tls>>)>,
    ) {
        let transports = &self.process.transports;
        let is_only_stdio = bound.is_empty();
        for one in bound {
            transports.spawn(one.serve());
        }
        if let Some(listener) = operations_listener {
            transports.spawn(operations(self.server().clone(), listener));
        }
        let mut all = self.endpoints.iter();
        let stdio_endpoint =
            all.find(|endpoint| endpoint.transports.contains(&EndpointTransport::Stdio));
        let Some(Endpoint { server, .. }) = stdio_endpoint else {
            return;
        };
        let (server, failure) = (server.clone(), Arc::clone(&self.failure));
        transports.spawn(async move {
            let ended = stdio(&server).await;
            if is_only_stdio {
                *lock(&failure) = ended.err();
                server.0.process.active.stop();
            } else if let Err(error) = ended {
                // Clients over HTTP are still served.
                tracing::error!("standard input: {}", chain(&error));
            }
        });
    }

    /// Starts the task that reloads the configuration.
    fn reload(&self, version: Version) {
        let (process, endpoints) = (&self.process, &self.endpoints);
        let (loader, remotes) = (self.loader.clone(), self.remotes.clone());
        let reload = Reload::new(process, endpoints, loader, remotes, version);
        process.nursery.spawn(reload.run());
    }

    /// Waits until the service is [stopped](Self::stop). A service whose only transport is standard input and output stops when its
    /// client disconnects. When this returns, no task and no socket of the service is left.
    ///
    /// # Errors
    /// [`ServeError`] if the only transport is standard input and output, and fails.
    pub async fn run(&self) -> Result<(), ServeError> {
        self.process.active.stopping().await;
        self.process.transports.wait().await;
        self.process.nursery.cancel();
        self.remotes.close().await;
        self.process.nursery.wait().await;
        self.process.close_records().await;
        lock(&self.failure).take().map_or(Ok(()), Err)
    }

    /// As [`run`](Self::run), and stops the service at the first signal. With listeners, requests are still served for the time
    /// [`Plan::leave`] before that, so that load balancers notice it; another signal ends that time. Returns at a signal that arrives
    /// while running calls finish: drop the service then.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub async fn run_until(&self, signals: &mut ShutdownSignals) -> Result<(), ServeError> {
        tokio::select! {
            ended = self.run() => ended,
            () = self.stop_on(signals) => {
                self.process.close_records().await;
                Ok(())
            }
        }
    }

    /// Returns at a signal that arrives while the service waits for running calls.
    async fn stop_on(&self, signals: &mut ShutdownSignals) {
        let active = &self.process.active;
        let asked = active.unless_stopping(signals.received()).await.is_some();
        if asked {
            // Nothing sends clients to another process if this one is only on standard input and output.
            if !self.leave.is_zero() && !self.listeners.is_empty() {
                tracing::info!(leave = ?self.leave, "leaving; requests are still served");
                self.leave();
                let _ = tokio::time::timeout(self.leave, signals.received()).await;
            }
            tracing::info!("stopping");
            self.begin_stop();
        }
        signals.received().await;
        tracing::warn!("stopped at once; running calls get no response");
    }

    /// Stops the service, and waits for that as [`run`](Self::run) does: all endpoints refuse new requests, and let running calls finish
    /// for up to [`ServeOptions::drain`].
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub async fn stop(&self) -> Result<(), ServeError> {
        self.begin_stop();
        self.run().await
    }

    /// As [`stop`](Self::stop), without waiting.
    pub fn begin_stop(&self) {
        self.process.active.stop();
    }

    /// Lets the path `/ready` answer with status 503 from now on, so that load balancers send no new clients. Requests are still
    /// served until [`stop`](Self::stop).
    pub fn leave(&self) {
        self.process.active.leave();
    }

    /// Loads servlets, and serves them at the first endpoint instead of what it has. Servlets that have not changed are not loaded
    /// again.
    ///
    /// # Errors
    /// [`StartError`]. Then what was served before still is.
    pub async fn load(&self, entries: Vec<Entry>) -> Result<(), StartError> {
        let previous = self.server().host();
        let loaded = self.loader.load_entries(entries, Some(previous)).await?;
        self.process.set_skipped(loaded.skipped_names());
        self.server().replace(self.loader.finish(loaded.host));
        Ok(())
    }

    /// The first endpoint, or the only one.
    ///
    /// # Panics
    /// Never: there is at least one endpoint.
    pub fn server(&self) -> &Server {
        let first = self.endpoints.first();
        &first.expect("there is at least one endpoint").server
    }

    /// All endpoints, in the order of the configuration.
    pub fn servers(&self) -> impl Iterator<Item = &Server> {
        self.endpoints.iter().map(|one| &one.server)
    }

    /// The endpoint of this name.
    pub fn server_of(&self, endpoint: &str) -> Option<&Server> {
        self.servers().find(|one| one.name() == Some(endpoint))
    }

    /// The addresses that clients connect to.
    pub fn listeners(&self) -> &[Listening] {
        &self.listeners
    }

    /// The address of [`Plan::operations`], with the port that the system chose if it was 0.
    pub fn operations_address(&self) -> Option<SocketAddr> {
        self.operations
    }

    /// Opens the file of the audit log again, after another program has renamed it. SIGHUP does the same.
    pub fn reopen_audit_log(&self) {
        self.process.reopen_audit_log();
    }

    /// All metrics of the service, in the Prometheus text format.
    pub fn metrics(&self) -> String {
        self.process.encode_metrics()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.begin_stop();
        self.process.nursery.cancel();
        self.remotes.stop();
    }
}

/// The parts of a service, before its listeners are bound.
struct Made {
    process: Arc<Process>,
    endpoints: Arc<[Endpoint]>,
    listeners: Vec<Listener>,
    /// The version of a configuration that is reloaded.
    reloaded: Option<Version>,
}

/// The only endpoint of a plan whose configuration has none.
struct OneEndpoint {
    transports: Transports,
    options: ServeOptions,
    /// Whether a configuration must name something to serve.
    needs_members: bool,
}

async fn make(
    members: Members,
    one: OneEndpoint,
    loader: &Loader,
    remotes: &Remotes,
) -> Result<Made, StartError> {
    match members {
        Members::Config(config, view) => {
            Box::pin(make_configured(config, view, one, (loader, remotes))).await
        }
        Members::Entries(entries) => {
            let servlets = loader.load_entries(entries, None).await?;
            let skipped = servlets.skipped_names();
            let made = one.made(loader.finish(servlets.host), Startup::done());
            made.process.set_skipped(skipped);
            Ok(made)
        }
        Members::Host(host) => Ok(one.made(host, Startup::done())),
        Members::Later(introduction) => {
            let host = Host::new(Vec::new()).introduced(introduction);
            Ok(one.made(Arc::new(host), Startup::running()))
        }
    }
}

async fn make_configured(
    config: Arc<dyn Configuration>,
    view: View,
    one: OneEndpoint,
    (loader, remotes): (&Loader, &Remotes),
) -> Result<Made, StartError> {
    let waiting = match view {
        View::Endpoints => Waiting::OnlyRequired,
        View::Once(_) => Waiting::AllTried,
    };
    // Loading takes time, and so do remotes.
    if let View::Once(Some(name)) = &view {
        named(&*config, name)?;
    }
    let needs_members = one.needs_members;
    let loading = loader.load_config(config, None, (remotes, waiting));
    let version = loading.await?;
    let Version {
        config,
        loaded,
        remotes,
        ..
    } = &version;
    let needs_servlets = needs_members || !loaded.mounts.is_empty();
    if config.settings().remotes.is_empty() && needs_servlets {
        require_servlets(loaded)?;
    }
    let all = || loader.finish(config.host_of_all(loaded, remotes));
    let mut made = match &view {
        View::Once(Some(name)) => {
            let host = config.host_of(named(&**config, name)?, loaded, remotes);
            one.made(loader.finish(host), Startup::done())
        }
        View::Endpoints if !config.settings().endpoints.is_empty() => {
            made_of_endpoints(&version, loader)
        }
        View::Once(None) | View::Endpoints => one.made(all(), Startup::done()),
    };
    made.process.set_skipped(loaded.skipped_names());
    made.reloaded = matches!(view, View::Endpoints).then_some(version);
    Ok(made)
}

/// The endpoint of this name.
fn named<'c>(
    config: &'c dyn Configuration,
    name: &str,
) -> Result<&'c configuration::Endpoint, StartError> {
    let endpoints = &config.settings().endpoints;
    let found = endpoints.iter().find(|endpoint| endpoint.name == name);
    found.ok_or_else(|| StartError::NoEndpoint {
        name: name.to_owned(),
        known: endpoints.iter().map(|one| one.name.clone()).collect(),
    })
}

/// A server for each endpoint of a configuration.
fn made_of_endpoints(version: &Version, loader: &Loader) -> Made {
    let Version {
        config,
        loaded,
        remotes,
        ..
    } = version;
    let settings = config.settings();
    let process = Process::start(&settings.tasks);
    let endpoints = settings.endpoints.iter().map(|endpoint| {
        let host = loader.finish(config.host_of(endpoint, loaded, remotes));
        let options = endpoint.options.clone();
        let server = Server::new(&process, host, options, Startup::done());
        let hook = config.servlet_of_hook(endpoint, loaded);
        let hooks = endpoint.options.hooks.clone();
        server.0.access.replace_hooks(hooks, hook);
        Endpoint {
            server,
            transports: vec![endpoint.transport.clone()],
            configured: Some(endpoint.clone()),
        }
    });
    Made {
        endpoints: endpoints.collect(),
        listeners: settings.listeners.clone(),
        process,
        reloaded: None,
    }
}

impl OneEndpoint {
    fn made(self, host: Arc<Host>, startup: Startup) -> Made {
        let Self {
            transports: Transports { http, tls, stdio },
            options,
            ..
        } = self;
        let (mut listeners, mut transports) = (Vec::new(), Vec::new());
        if let Some((address, options)) = http {
            let listener = String::new();
            listeners.push(Listener {
                name: listener.clone(),
                address,
                tls,
            });
            let options = Box::new(options);
            transports.push(EndpointTransport::Http { listener, options });
        }
        if stdio {
            transports.push(EndpointTransport::Stdio);
        }
        let process = Process::start(&options.tasks);
        let server = Server::new(&process, host, options, startup);
        Made {
            process,
            endpoints: Arc::new([Endpoint {
                server,
                transports,
                configured: None,
            }]),
            listeners,
            reloaded: None,
        }
    }
}
