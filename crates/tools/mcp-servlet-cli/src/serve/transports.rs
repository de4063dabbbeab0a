//! The transports of a server.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use mcp_servlet_server::{
    HttpOptions, Listening, Plan, Service, TlsOptions, parse_host_header, parse_origin,
    split_address, split_authority,
};

use crate::{
    clients,
    credentials::hidden,
    failure::{Failure, Kind},
    limits::Secret,
    terminal::note,
};

// Where clients connect. Without --http they do it over standard input and output.
// Not a doc comment: clap would use it as the description of the command.
#[derive(Args, Debug)]
#[command(next_help_heading = "Transports")]
pub(crate) struct Transports {
    /// Serve MCP over HTTP, on the path /mcp of this address, such as 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS", value_parser = Secret(address))]
    http: Option<String>,

    /// Serve on standard input and output, which is the default without --http
    #[arg(long)]
    stdio: bool,

    /// With --http: a name that clients may call this server by, instead of localhost; may be repeated
    #[arg(long, value_name = "NAME", requires = "http", value_parser = parse_host_header)]
    http_name: Vec<String>,

    #[arg(
        long,
        value_name = "ORIGIN",
        requires = "http",
        value_parser = parse_origin,
        help = "With --http: an origin whose web pages may connect, such as https://app.example:443, instead of those \
                on localhost; may be repeated"
    )]
    http_origin: Vec<String>,

    /// With --http: serve HTTPS with this certificate, in PEM, followed by those that lead to its root
    #[arg(long, value_name = "FILE", requires = "http", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The key of that certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Serve /metrics for Prometheus, /health and /ready on a separate address
    #[arg(long, value_name = "ADDRESS", value_parser = Secret(address))]
    operations: Option<String>,

    /// With --operations: serve HTTPS there with this certificate, in PEM, followed by those that lead to its root
    #[arg(
        long,
        value_name = "FILE",
        requires = "operations",
        requires = "operations_key"
    )]
    operations_cert: Option<PathBuf>,

    /// The key of that certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "operations_cert")]
    operations_key: Option<PathBuf>,
}

impl Transports {
    /// The first option that says where clients connect.
    pub(super) fn endpoint_option(&self) -> Option<&'static str> {
        let given = [
            (self.http.is_some(), "--http"),
            (self.stdio, "--stdio"),
            (!self.http_name.is_empty(), "--http-name"),
            (!self.http_origin.is_empty(), "--http-origin"),
            (self.tls_cert.is_some(), "--tls-cert"),
        ];
        let (_, option) = given.into_iter().find(|(is_given, _)| *is_given)?;
        Some(option)
    }

    /// Adds to a plan where clients connect. `options` apply to HTTP.
    pub(crate) fn apply(&self, plan: &mut Plan, options: HttpOptions) {
        let http = self.http.clone();
        plan.transports.http = http.map(|address| (address, self.options(options)));
        plan.transports.tls = self.tls();
        plan.transports.stdio = self.stdio || self.http.is_none();
        plan.operations.clone_from(&self.operations);
        let files = self
            .operations_cert
            .clone()
            .zip(self.operations_key.clone());
        plan.operations_tls = files.map(|(cert, key)| TlsOptions::new(cert, key));
    }

    fn tls(&self) -> Option<TlsOptions> {
        let files = self.tls_cert.clone().zip(self.tls_key.clone());
        files.map(|(cert, key)| TlsOptions::new(cert, key))
    }

    /// Prints the URLs of a service.
    pub(crate) fn announce(&self, service: &Service) -> Result<(), Failure> {
        for listening in service.listeners() {
            self.announce_listener(listening)?;
        }
        if let Some(address) = service.operations_address() {
            warn_if_public(address);
            let scheme = match self.operations_cert {
                Some(_) => "https",
                None => "http",
            };
            note(format_args!("metrics on {scheme}://{address}/metrics"));
        }
        Ok(())
    }

    fn announce_listener(&self, listening: &Listening) -> Result<(), Failure> {
        let Listening {
            address, scheme, ..
        } = listening;
        if !listening.authenticates {
            warn_if_public(*address);
        }
        for (name, path) in &listening.paths {
            match &**name {
                "" => note(format_args!(
                    "listening on {}",
                    self.url_at(address.port())?
                )),
                name => note(format_args!(
                    "endpoint {name}: listening on {scheme}://{address}{path}"
                )),
            }
        }
        Ok(())
    }

    /// The URL of the server at this port.
    fn url_at(&self, port: u16) -> Result<String, Failure> {
        let host = self
            .http
            .as_deref()
            .and_then(|address| address.rsplit_once(':'))
            .map_or("localhost", |(host, _)| host);
        let http = Some(format!("{host}:{port}"));
        let there = Self {
            http,
            http_name: self.http_name.clone(),
            http_origin: Vec::new(),
            tls_cert: self.tls_cert.clone(),
            tls_key: self.tls_key.clone(),
            stdio: false,
            operations: None,
            operations_cert: None,
            operations_key: None,
        };
        Ok(there.url()?.unwrap_or_default())
    }

    /// The URL of the server, if it serves HTTP.
    pub(crate) fn url(&self) -> Result<Option<String>, Failure> {
        let Some(address) = &self.http else {
            return Ok(None);
        };
        let Some((host, Some(port))) = split_authority(address) else {
            let message = format!("`{address}` has no port that clients could use");
            return Err(Failure::new(Kind::Usage, message));
        };
        // These addresses listen on all interfaces; clients on this machine use `localhost`.
        let host = match host {
            "0.0.0.0" | "[::]" => "localhost",
            host => host,
        };
        let authority = match self.http_name.first() {
            Some(name) if matches!(split_authority(name), Some((_, Some(_)))) => name.clone(),
            Some(name) => format!("{name}:{port}"),
            None => format!("{host}:{port}"),
        };
        let scheme = if self.tls_cert.is_some() {
            "https"
        } else {
            "http"
        };
        Ok(Some(format!("{scheme}://{authority}/mcp")))
    }

    /// The options for a server over standard input and output.
    pub(crate) fn arguments(&self) -> Result<Vec<String>, Failure> {
        let path = |path: &Option<PathBuf>| path.as_deref().map(clients::absolute).transpose();
        let options = [
            ("--operations", self.operations.clone()),
            ("--operations-cert", path(&self.operations_cert)?),
            ("--operations-key", path(&self.operations_key)?),
        ];
        let given = options
            .into_iter()
            .filter_map(|(option, value)| Some([option.to_owned(), value?]));
        Ok(given.flatten().collect())
    }

    fn options(&self, mut options: HttpOptions) -> HttpOptions {
        if !self.http_name.is_empty() {
            options.hosts.clone_from(&self.http_name);
        } else if let Some(host) = self.http.as_deref().and_then(host) {
            // Clients may use the host that the server listens on. No website can have an address
            // of this machine as its name.
            options.hosts.push(host.to_owned());
        }
        if !self.http_origin.is_empty() {
            options.origins.clone_from(&self.http_origin);
        }
        options
    }
}

/// Checks the address of a listener, as in a configuration.
fn address(text: &str) -> Result<String, String> {
    match split_address(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!(
            "expected a host and a port such as 127.0.0.1:8080, found `{}`",
            hidden(text)
        )),
    }
}

/// The host of a listen address. None if it listens on all addresses.
fn host(address: &str) -> Option<&str> {
    let (host, _) = address.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!["0.0.0.0", "::", ""].contains(&host)).then_some(host)
}

/// Warns about an address that other machines can reach.
fn warn_if_public(local: SocketAddr) {
    if !local.ip().is_loopback() {
        tracing::warn!(%local, "other machines can connect without authentication");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_a_reachable_url() {
        let url = |http: &str, name: Option<&str>| {
            let transports = Transports {
                http: Some(http.to_owned()),
                stdio: false,
                http_name: name.map(str::to_owned).into_iter().collect(),
                http_origin: Vec::new(),
                tls_cert: None,
                tls_key: None,
                operations: None,
                operations_cert: None,
                operations_key: None,
            };
            transports.url().ok().flatten()
        };
        for (http, name, expected) in [
            ("127.0.0.1:80", None, Some("http://127.0.0.1:80/mcp")),
            ("[::]:8080", None, Some("http://localhost:8080/mcp")),
            (
                "0.0.0.0:1",
                Some("mcp.example"),
                Some("http://mcp.example:1/mcp"),
            ),
            (
                "0.0.0.0:1",
                Some("mcp.example:80"),
                Some("http://mcp.example:80/mcp"),
            ),
            ("0.0.0.0:1", Some("[::1]"), Some("http://[::1]:1/mcp")),
            ("127.0.0.1:0", None, None),
            ("localhost:99999", None, None),
            (":8080", None, None),
            ("nowhere", None, None),
        ] {
            assert_eq!(url(http, name).as_deref(), expected, "{http}");
        }
    }
}
