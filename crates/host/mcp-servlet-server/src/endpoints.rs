//! Several endpoints over the same servlets.

mod reload;

use std::{io, net::SocketAddr, sync::Arc};

use futures_util::future::join_all;
use mcp_servlet_host::{Host, Loaded, Mount};
use mcp_servlet_runtime::chain;
use tokio::net::TcpListener;

use crate::{
    config::{Config, Endpoint, EndpointTransport, Listener},
    http::{HttpOptions, Tls, TlsOptions, listen_with},
    server::{ServeOptions, Server},
    stdio::{ServeError, stdio},
};

/// What clients connect to: the endpoints of a configuration, or one without a name. They share their servlets, which are loaded
/// once.
///
/// ```
/// use mcp_servlet_server::{Endpoints, Transports, config::Config};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("servlet.toml");
/// # std::fs::write(&path, "[endpoint.pipe]\nkind = \"stdio\"\n")?;
/// let config = Config::read(&path)?;
/// let loaded = config.load(None)?;
/// let endpoints = Endpoints::new(&config, &loaded, &[], Transports::default());
/// assert_eq!(endpoints.hosts().count(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Endpoints {
    all: Vec<Served>,
    listeners: Vec<Listener>,
}

/// A server, and where its clients connect.
#[derive(Debug)]
struct Served {
    server: Server,
    transports: Vec<EndpointTransport>,
    /// The endpoint of the configuration. `None` if it has none.
    endpoint: Option<Endpoint>,
}

/// Where clients connect to a server without endpoints in its configuration.
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

/// A listener that has its port, and its endpoints.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    endpoints: Vec<(Server, HttpOptions)>,
}

/// Why a listener does not listen.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on `{address}`{}", self.section())]
pub struct BindError {
    /// The name of the listener, if it is one of the configuration.
    pub name: Option<String>,
    /// Its address.
    pub address: String,
    /// The error of the operating system.
    pub source: io::Error,
}

impl BindError {
    fn section(&self) -> String {
        let name = self.name.as_ref();
        name.map_or_else(String::new, |name| format!(": `[listener.{name}]`"))
    }
}

impl Endpoints {
    /// Makes a server for each endpoint of a configuration, or one with these transports if it has none. `remotes` are those of
    /// the configuration, from [`Remotes::update`](crate::Remotes::update).
    pub fn new(
        config: &Config,
        loaded: &Loaded,
        remotes: &[Mount],
        transports: Transports,
    ) -> Self {
        let mut all: Vec<Served> = Vec::new();
        for endpoint in &config.endpoints {
            let host = Arc::new(config.host_of(endpoint, loaded, remotes));
            let options = endpoint.options.clone();
            let server = match all.first() {
                Some(first) => first.server.endpoint(host, options),
                None => Server::new(host, options),
            };
            all.push(Served {
                server,
                transports: vec![endpoint.transport.clone()],
                endpoint: Some(endpoint.clone()),
            });
        }
        let endpoints = if all.is_empty() {
            let options = ServeOptions {
                tasks: config.tasks.clone(),
                ..ServeOptions::default()
            };
            let host = config.host_of_all(loaded, remotes);
            Self::of(Server::new(Arc::new(host), options), transports)
        } else {
            let listeners = config.listeners.clone();
            Self { all, listeners }
        };
        endpoints.server().set_skipped(loaded.skipped_names());
        endpoints
    }

    /// One endpoint without a name.
    pub fn of(server: Server, transports: Transports) -> Self {
        let mut listeners = Vec::new();
        let mut all = Vec::new();
        if let Some((address, options)) = transports.http {
            let listener = String::new();
            listeners.push(Listener {
                name: listener.clone(),
                address,
                tls: transports.tls,
            });
            let options = Box::new(options);
            all.push(EndpointTransport::Http { listener, options });
        }
        if transports.stdio {
            all.push(EndpointTransport::Stdio);
        }
        let only = Served {
            server,
            transports: all,
            endpoint: None,
        };
        Self {
            all: vec![only],
            listeners,
        }
    }

    /// The server of the first endpoint. Stopping it stops all of them, and its metrics are those of
    /// all.
    ///
    /// # Panics
    /// Never: there is at least one endpoint.
    pub fn server(&self) -> &Server {
        let first = self.all.first();
        &first.expect("there is at least one endpoint").server
    }

    /// The server of the endpoint with this name.
    pub fn server_of(&self, endpoint: &str) -> Option<&Server> {
        let mut all = self.all.iter();
        let found = all.find(|one| one.server.endpoint_name() == Some(endpoint))?;
        Some(&found.server)
    }

    /// What each endpoint serves, by its name.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, Arc<Host>)> {
        let all = self.all.iter();
        all.map(|one| {
            let name = one.server.endpoint_name().unwrap_or_default();
            (name, one.server.host())
        })
    }

    /// Binds the listeners that have endpoints.
    ///
    /// # Errors
    /// [`BindError`] for the first one whose address is not free, or whose files of TLS cannot be used.
    pub async fn bind(&self) -> Result<Vec<Bound>, BindError> {
        let mut bound = Vec::new();
        for Listener { name, address, tls } in &self.listeners {
            let endpoints = self.endpoints_of(name);
            if endpoints.is_empty() {
                continue;
            }
            let error = |source| BindError {
                name: Some(name.clone()).filter(|name| !name.is_empty()),
                address: address.clone(),
                source,
            };
            let tls = tls.as_ref().map(Tls::load).transpose();
            let tls = tls.map_err(|problem| error(io::Error::other(problem)))?;
            let listener = TcpListener::bind(address).await.map_err(error)?;
            bound.push(Bound {
                listener,
                tls,
                endpoints,
            });
        }
        Ok(bound)
    }

    /// All transports, each with its server.
    fn transports(&self) -> impl Iterator<Item = (&Server, &EndpointTransport)> {
        let all = self.all.iter();
        all.flat_map(|one| {
            one.transports
                .iter()
                .map(|transport| (&one.server, transport))
        })
    }

    fn endpoints_of(&self, name: &str) -> Vec<(Server, HttpOptions)> {
        let endpoints = self.transports();
        let endpoints = endpoints.filter_map(|(server, transport)| match transport {
            EndpointTransport::Http { listener, options } if listener == name => {
                Some((server.clone(), HttpOptions::clone(options)))
            }
            _ => None,
        });
        endpoints.collect()
    }

    /// Serves until the server is stopped. If the only endpoint is standard input and output, it is
    /// stopped when the client disconnects.
    ///
    /// # Errors
    /// [`ServeError`], if the only endpoint is standard input and output.
    pub async fn serve(&self, bound: Vec<Bound>) -> Result<(), ServeError> {
        let is_only_stdio = bound.is_empty();
        let pipe = async {
            let mut all = self.transports();
            let ended = match all.find(|(_, one)| **one == EndpointTransport::Stdio) {
                Some((server, _)) => stdio(server).await,
                None => return Ok(()),
            };
            match ended {
                ended if is_only_stdio => {
                    self.server().stop();
                    ended
                }
                Ok(()) => Ok(()),
                // Clients over HTTP are still served.
                Err(error) => {
                    tracing::error!("standard input: {}", chain(&error));
                    Ok(())
                }
            }
        };
        let listening = join_all(bound.into_iter().map(Bound::serve));
        let (ended, _) = tokio::join!(pipe, listening);
        ended
    }
}

impl Bound {
    /// The address, with the port that the system chose if it was 0.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The scheme of its URLs: `https` with TLS, or `http`.
    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// Whether each client needs a certificate.
    pub fn authenticates(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.authenticates())
    }

    /// Serves the endpoints of this listener until the server is stopped.
    pub async fn serve(self) {
        if let Some((server, _)) = self.endpoints.first().cloned() {
            listen_with(&server, (self.listener, self.tls), self.endpoints).await;
        }
    }

    /// The paths that clients connect to, with the names of their endpoints.
    pub fn paths(&self) -> impl Iterator<Item = (&str, &str)> {
        self.endpoints.iter().map(|(server, options)| {
            let name = server.endpoint_name().unwrap_or_default();
            (name, &*options.path)
        })
    }
}
