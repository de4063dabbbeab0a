//! The addresses that a service listens on.

use std::{io, net::SocketAddr, sync::Arc};

use tokio::net::TcpListener;

use super::Endpoint;
use crate::{
    configuration::{EndpointTransport, Listener},
    http::{HttpOptions, Tls, TlsOptions, listen},
    server::Server,
};

/// An address that a service listens on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listening {
    /// The address, with the port that the system chose if it was 0.
    pub address: SocketAddr,
    /// The scheme of its URLs: `https` with TLS, or `http`.
    pub scheme: &'static str,
    /// Whether every request is authenticated: each client needs a certificate, or each endpoint has `auth`.
    pub authenticates: bool,
    /// The names of its endpoints and their paths. The name is empty without endpoints in a configuration.
    pub paths: Vec<(String, String)>,
}

/// Why a service does not listen on an address.
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

/// A listener that has its port, and its endpoints.
pub(super) struct Bound {
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    endpoints: Vec<(Server, HttpOptions)>,
    pub(super) listening: Listening,
}

/// Binds the listeners that have endpoints.
pub(super) async fn bind_all(
    listeners: &[Listener],
    endpoints: &[Endpoint],
) -> Result<Vec<Bound>, BindError> {
    let mut bound = Vec::new();
    for listener in listeners {
        let endpoints = at_listener(&listener.name, endpoints);
        if !endpoints.is_empty() {
            bound.push(bind_listener(listener, endpoints).await?);
        }
    }
    Ok(bound)
}

/// Binds an address that belongs to no listener of a configuration.
pub(super) async fn bind(address: &str) -> Result<(TcpListener, SocketAddr), BindError> {
    let bound = async {
        let listener = TcpListener::bind(address).await?;
        let bound = listener.local_addr()?;
        Ok((listener, bound))
    };
    bound.await.map_err(|source| BindError {
        name: None,
        address: address.to_owned(),
        source,
    })
}

async fn bind_listener(
    Listener { name, address, tls }: &Listener,
    endpoints: Vec<(Server, HttpOptions)>,
) -> Result<Bound, BindError> {
    let named = |error| BindError {
        name: Some(name.clone()).filter(|name| !name.is_empty()),
        ..error
    };
    let tls = load_tls((name, address), tls.as_ref()).map_err(named)?;
    let (listener, address) = bind(address).await.map_err(named)?;
    let paths = endpoints.iter().map(|(server, options)| {
        let name = server.name().unwrap_or_default().to_owned();
        (name, options.path.clone())
    });
    let needs_certificate = tls.as_ref().is_some_and(|tls| tls.authenticates());
    let has_callers = endpoints.iter().all(|(_, options)| options.auth.is_some());
    let listening = Listening {
        address,
        scheme: if tls.is_some() { "https" } else { "http" },
        authenticates: needs_certificate || has_callers,
        paths: paths.collect(),
    };
    Ok(Bound {
        listener,
        tls,
        endpoints,
        listening,
    })
}

/// The TLS of a listener with this name and address.
pub(super) fn load_tls(
    (name, address): (&str, &str),
    options: Option<&TlsOptions>,
) -> Result<Option<Arc<Tls>>, BindError> {
    let tls = options.map(|options| Tls::load(name, options)).transpose();
    tls.map_err(|problem| BindError {
        name: None,
        address: address.to_owned(),
        source: io::Error::other(problem),
    })
}

/// The endpoints of a listener.
fn at_listener(name: &str, endpoints: &[Endpoint]) -> Vec<(Server, HttpOptions)> {
    let options = |one: &EndpointTransport| match one {
        EndpointTransport::Http { listener, options } if listener == name => {
            Some(HttpOptions::clone(options))
        }
        _ => None,
    };
    let at = endpoints.iter().flat_map(|one| {
        let transports = one.transports.iter().filter_map(options);
        transports.map(|options| (one.server.clone(), options))
    });
    at.collect()
}

impl Bound {
    /// Serves the endpoints of this listener until the service is stopped.
    pub(super) async fn serve(self) {
        if let Some((server, _)) = self.endpoints.first().cloned() {
            listen(server, (self.listener, self.tls), self.endpoints).await;
        }
    }
}
