//! What a service needs of a configuration. The crate `mcp-servlet-config` reads one from `servlet.toml`.

use std::{error::Error, fmt, path::Path, sync::Arc};

use mcp_servlet_host::{Host, Introduction, Loaded, Mount, Search, Servlet};

use crate::{
    http::{HttpOptions, TlsOptions},
    records::RecordOptions,
    remotes::RemoteEntry,
    server::{ServeOptions, StateKeys, TaskOptions},
    service::Warning,
    watch::Snapshot,
};

/// Why a configuration cannot be served.
pub type ConfigurationError = Box<dyn Error + Send + Sync>;

/// A configuration that was read and checked. A [`Service`](crate::Service) loads and serves what it names, and
/// [reads it again](Self::read_again) when one of its files changes.
pub trait Configuration: fmt::Debug + Send + Sync {
    /// Its path, for the log.
    fn path(&self) -> &Path;

    /// The files that it was read from and those that it names, as they were before they were read.
    fn files(&self) -> &Snapshot;

    /// The part of it that is plain data.
    fn settings(&self) -> &Settings;

    /// Loads its servlets. Those of `previous` that have not changed are not loaded again.
    ///
    /// # Errors
    /// A servlet without which the service does not start cannot be loaded, or does not fit the rest of the configuration.
    fn load(&self, previous: Option<&Host>) -> Result<Loaded, ConfigurationError>;

    /// Checks what can only be checked with the tools of servlets and remotes. Returns what is left out, and what is most likely a
    /// mistake.
    ///
    /// # Errors
    /// The configuration does not fit the servlets, or the remotes without which the service does not start.
    fn check_loaded(
        &self,
        loaded: &Loaded,
        remotes: &[Mount],
    ) -> Result<Vec<Warning>, ConfigurationError>;

    /// Checks the rules of endpoints with the tools that servlets had when they were loaded, and those that remotes have now.
    fn check_rules(&self, loaded: &Loaded, remotes: &[Mount]) -> Vec<Warning>;

    /// What an endpoint serves.
    fn host_of(&self, endpoint: &Endpoint, loaded: &Loaded, remotes: &[Mount]) -> Host;

    /// Everything, no matter which endpoint lists it.
    fn host_of_all(&self, loaded: &Loaded, remotes: &[Mount]) -> Host;

    /// The servlet that an endpoint asks about sessions. `None` if it asks none, or if that is not loaded.
    fn servlet_of_hook(&self, endpoint: &Endpoint, loaded: &Loaded) -> Option<Arc<Servlet>>;

    /// Reads its files again. The snapshot has the files that the outcome depends on, whether it is good or bad.
    fn read_again(&self) -> (Snapshot, Result<Arc<dyn Configuration>, ConfigurationError>);
}

/// The part of a configuration that is plain data.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Limits and allowed hosts for clients over HTTP.
    pub http: HttpOptions,
    /// When calls become tasks, and limits for tasks.
    pub tasks: TaskOptions,
    /// The keys with which state is sealed that leaves the process. `None` for a random one.
    pub state_keys: Option<StateKeys>,
    /// What is recorded of requests.
    pub records: RecordOptions,
    /// The addresses that endpoints listen on, in the order of the file.
    pub listeners: Vec<Listener>,
    /// Where clients connect, in the order of the file. If there are none, the [`Plan`](crate::Plan) decides.
    pub endpoints: Vec<Endpoint>,
    /// Other MCP servers, in the order of the file. They are members after the servlets.
    pub remotes: Vec<RemoteEntry>,
}

/// An address that endpoints listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The name in the configuration.
    pub name: String,
    /// The address and port.
    pub address: String,
    /// TLS, for HTTPS.
    pub tls: Option<TlsOptions>,
}

/// Where clients connect, and what they find there.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The name in the configuration.
    pub name: String,
    /// Where clients connect.
    pub transport: EndpointTransport,
    /// The names of its members, in order. `None` stands for all.
    pub members: Option<Vec<String>>,
    /// How its tools are listed. `None` stands for all.
    pub search: Option<Search>,
    /// How the server introduces itself here.
    pub introduction: Introduction,
    /// Options for its requests.
    pub options: ServeOptions,
}

/// Where clients of an endpoint connect.
#[derive(Clone, Debug, PartialEq)]
pub enum EndpointTransport {
    /// Standard input and output.
    Stdio,
    /// A path of a listener.
    Http {
        /// The name of the listener.
        listener: String,
        /// The path, the transport and its limits.
        options: Box<HttpOptions>,
    },
}
