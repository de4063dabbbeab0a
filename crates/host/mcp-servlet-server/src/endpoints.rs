//! Several endpoints over the same servlets.

mod reload;

use std::{io, net::SocketAddr, sync::Arc};

use futures_util::future::join_all;
use mcp_servlet_host::{Host, Loaded, Mount};
use mcp_servlet_runtime::chain;
use tokio::net::TcpListener;

use crate::{
    config::{Config, Endpoint, EndpointTransport, Listener},
    http::{HttpOptions, listen},
    server::Server,
    stdio::{ServeError, stdio},
};

/// The endpoints of a configuration. They share their servlets, which are loaded once.
///
/// ```
/// use mcp_servlet_server::{Endpoints, config::Config};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("servlet.toml");
/// # std::fs::write(&path, "[endpoint.pipe]\nkind = \"stdio\"\n")?;
/// let config = Config::read(&path)?;
/// let loaded = config.load(None)?;
/// let endpoints = Endpoints::new(&config, &loaded, &[]).expect("the file has an endpoint");
/// assert_eq!(endpoints.hosts().count(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Endpoints {
    all: Vec<(Endpoint, Server)>,
    listeners: Vec<Listener>,
}

/// A listener that has its port, and its endpoints.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    endpoints: Vec<(Server, HttpOptions)>,
}

/// Why a listener does not listen.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on `{address}`: `[listener.{name}]`")]
pub struct BindError {
    /// The name of the listener.
    pub name: String,
    /// Its address.
    pub address: String,
    /// The error of the operating system.
    pub source: io::Error,
}

impl Endpoints {
    /// Makes a server for each endpoint of a configuration. `None` if it has none. `remotes` are those of the
    /// configuration, from [`Remotes::update`](crate::Remotes::update).
    pub fn new(config: &Config, loaded: &Loaded, remotes: &[Mount]) -> Option<Self> {
        let mut all: Vec<(Endpoint, Server)> = Vec::new();
        for endpoint in &config.endpoints {
            let host = Arc::new(config.host_of(endpoint, loaded, remotes));
            let options = endpoint.options.clone();
            let server = match all.first() {
                Some((_, first)) => first.endpoint(host, options),
                None => Server::new(host, options),
            };
            all.push((endpoint.clone(), server));
        }
        if let Some((_, server)) = all.first() {
            server.set_skipped(loaded.skipped_names());
        }
        (!all.is_empty()).then(|| Self {
            all,
            listeners: config.listeners.clone(),
        })
    }

    /// The server of the first endpoint. Stopping it stops all of them, and its metrics are those of
    /// all.
    ///
    /// # Panics
    /// Never: there is at least one endpoint.
    pub fn server(&self) -> &Server {
        let (_, server) = self.all.first().expect("`new` made at least one");
        server
    }

    /// The server of the endpoint with this name.
    pub fn server_of(&self, endpoint: &str) -> Option<&Server> {
        let mut all = self.all.iter();
        let (_, server) = all.find(|(one, _)| one.name == endpoint)?;
        Some(server)
    }

    /// What each endpoint serves, by its name.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, Arc<Host>)> {
        let all = self.all.iter();
        all.map(|(endpoint, server)| (&*endpoint.name, server.host()))
    }

    /// Binds the listeners that have endpoints.
    ///
    /// # Errors
    /// [`BindError`] for the first one whose address is not free.
    pub async fn bind(&self) -> Result<Vec<Bound>, BindError> {
        let mut bound = Vec::new();
        for Listener { name, address } in &self.listeners {
            let endpoints = self.endpoints_of(name);
            if endpoints.is_empty() {
                continue;
            }
            let listener = TcpListener::bind(address).await;
            let listener = listener.map_err(|source| BindError {
                name: name.clone(),
                address: address.clone(),
                source,
            })?;
            bound.push(Bound {
                listener,
                endpoints,
            });
        }
        Ok(bound)
    }

    fn endpoints_of(&self, name: &str) -> Vec<(Server, HttpOptions)> {
        let endpoints = self.all.iter();
        let endpoints = endpoints.filter_map(|(endpoint, server)| match &endpoint.transport {
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
            let mut pipes = self.all.iter();
            let pipe = pipes.find(|(endpoint, _)| endpoint.transport == EndpointTransport::Stdio);
            let ended = match pipe {
                Some((_, server)) => stdio(server).await,
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

    /// Serves the endpoints of this listener until the server is stopped.
    pub async fn serve(self) {
        if let Some((server, _)) = self.endpoints.first().cloned() {
            listen(&server, self.listener, self.endpoints).await;
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
