//! Addresses of listeners, and URLs of endpoints.

use std::net::SocketAddr;

use mcp_servlet_server::{
    Endpoint, EndpointTransport, HttpOptions, HttpTransport, Listener, split_address,
    split_authority,
};

/// Whether only programs on this machine can connect.
pub(super) fn is_local(address: &str) -> bool {
    match address.parse::<SocketAddr>() {
        Ok(address) => address.ip().is_loopback(),
        Err(_) => split_address(address).is_none_or(|(host, _)| host == "localhost"),
    }
}

/// The URL of the first endpoint over streamable HTTP. None if there is none, or if clients start
/// the server.
pub(crate) fn url(endpoints: &[Endpoint], listeners: &[Listener]) -> Option<String> {
    let is_streamable = |one: &HttpTransport| matches!(one, HttpTransport::Streamable { .. });
    first_url(endpoints, listeners, is_streamable)
}

/// The URL of the first endpoint over HTTP+SSE. None if there is none, or if clients start the
/// server.
pub(crate) fn sse_url(endpoints: &[Endpoint], listeners: &[Listener]) -> Option<String> {
    let is_sse = |one: &HttpTransport| matches!(one, HttpTransport::Sse { .. });
    first_url(endpoints, listeners, is_sse)
}

fn first_url(
    endpoints: &[Endpoint],
    listeners: &[Listener],
    has_kind: fn(&HttpTransport) -> bool,
) -> Option<String> {
    let is_stdio = |one: &Endpoint| one.transport == EndpointTransport::Stdio;
    if endpoints.iter().any(is_stdio) {
        return None;
    }
    endpoints
        .iter()
        .find_map(|endpoint| match &endpoint.transport {
            EndpointTransport::Http { listener, options } if has_kind(&options.transport) => {
                let listener = listeners.iter().find(|one| one.name == *listener)?;
                url_at(listener, options)
            }
            _ => None,
        })
}

/// The URL of an endpoint at its listener, with the first of its names.
fn url_at(listener: &Listener, options: &HttpOptions) -> Option<String> {
    let (_, port) = split_address(&listener.address)?;
    let name = options.hosts.first();
    let authority = match name.map(|name| (name, split_authority(name))) {
        Some((name, Some((_, Some(_))))) => name.clone(),
        Some((name, _)) => format!("{name}:{port}"),
        None => listener.address.clone(),
    };
    let scheme = if listener.tls.is_some() {
        "https"
    } else {
        "http"
    };
    Some(format!("{scheme}://{authority}{}", options.path))
}
