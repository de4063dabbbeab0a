//! How clients reach the server, and when it ends.

use clap::Args;
use mcp_servlet_host::serve::{self, HttpOptions, Server};
use tokio::net::TcpListener;

use crate::failure::{Failure, Kind, chain};

/// Where clients connect. Without --http they do it over standard input and output.
#[derive(Args, Debug)]
#[command(next_help_heading = "Transports")]
pub(crate) struct Transports {
    /// Serve MCP over HTTP, on the path /mcp of this address, such as 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,

    /// With --http: serve on standard input and output as well
    #[arg(long, requires = "http")]
    stdio: bool,

    /// With --http: a name that clients may call this server by, instead of localhost; may be repeated
    #[arg(long, value_name = "NAME", requires = "http")]
    http_name: Vec<String>,

    #[arg(
        long,
        value_name = "ORIGIN",
        requires = "http",
        help = "With --http: an origin whose web pages may connect, such as https://app.example:443, instead of those \
                on localhost; may be repeated"
    )]
    http_origin: Vec<String>,

    /// Serve /metrics for Prometheus, and /health, on an address of their own
    #[arg(long, value_name = "ADDRESS")]
    operations: Option<String>,
}

impl Transports {
    /// Serves until the client on standard input leaves, or the process is asked to end. `limits` are for HTTP.
    pub(crate) async fn run(self, server: Server, limits: HttpOptions) -> Result<(), Failure> {
        let only_stdio = self.http.is_none();
        let http = listen(self.http.as_deref()).await?;
        let operations = listen(self.operations.as_deref()).await?;
        let options = self.options(limits);
        let stdio = async {
            if self.stdio || only_stdio {
                serve::stdio(&server)
                    .await
                    .map_err(|error| Failure::new(Kind::Usage, chain(&error)))?;
            }
            if only_stdio {
                server.stop();
            }
            Ok(())
        };
        let http = async {
            if let Some(listener) = http {
                serve::http(&server, listener, options).await;
            }
            Ok(())
        };
        let operations = async {
            if let Some(listener) = operations {
                serve::operations(&server, listener).await;
            }
            Ok(())
        };
        let signals = async {
            match server.unless_stopping(serve::asked_to_end()).await {
                Some(asked) => asked?,
                None => return Ok(()),
            }
            tracing::info!("stopping");
            server.stop();
            Ok::<_, Failure>(())
        };
        tokio::try_join!(stdio, http, operations, signals)?;
        Ok(())
    }

    /// Where clients find the server, if not over standard input and output.
    pub(crate) fn url(&self) -> Result<Option<String>, Failure> {
        let Some(address) = &self.http else {
            return Ok(None);
        };
        let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
        if port.parse::<u16>().is_ok_and(|port| port == 0) || port.is_empty() {
            let message =
                format!("clients need an address with a port, which `{address}` does not have");
            return Err(Failure::new(Kind::Usage, message));
        }
        // From everywhere, this machine is reached by its name.
        let host = match host {
            "0.0.0.0" | "[::]" => "localhost",
            host => host,
        };
        let authority = match self.http_name.first() {
            Some(name) if name.contains(':') => name.clone(),
            Some(name) => format!("{name}:{port}"),
            None => format!("{host}:{port}"),
        };
        Ok(Some(format!("http://{authority}/mcp")))
    }

    /// The options for a server over standard input and output.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let operations = self.operations.iter();
        operations
            .flat_map(|address| ["--operations".to_owned(), address.clone()])
            .collect()
    }

    fn options(&self, mut options: HttpOptions) -> HttpOptions {
        if !self.http_name.is_empty() {
            options.hosts.clone_from(&self.http_name);
        } else if let Some(host) = self.http.as_deref().and_then(host) {
            // By the name at which it listens, clients find it. No website has an address of this machine for a name.
            options.hosts.push(host.to_owned());
        }
        if !self.http_origin.is_empty() {
            options.origins.clone_from(&self.http_origin);
        }
        options
    }
}

/// The one name or address that stands in an address to listen on; none if it is all of them.
fn host(address: &str) -> Option<&str> {
    let (host, _) = address.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!["0.0.0.0", "::", ""].contains(&host)).then_some(host)
}

/// Opens an address, and says which one it is: with port 0 the system chooses one.
async fn listen(address: Option<&str>) -> Result<Option<TcpListener>, Failure> {
    let Some(address) = address else {
        return Ok(None);
    };
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::new(
            Kind::Usage,
            format!("cannot listen on `{address}`: {error}"),
        )
    })?;
    let local = listener.local_addr()?;
    eprintln!("listening on http://{local}");
    if !local.ip().is_loopback() {
        tracing::warn!(%local, "other machines can connect, and nobody is asked who they are");
    }
    Ok(Some(listener))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_an_address_that_leads_here() {
        let url = |http: &str, name: Option<&str>| {
            let transports = Transports {
                http: Some(http.to_owned()),
                stdio: false,
                http_name: name.map(str::to_owned).into_iter().collect(),
                http_origin: Vec::new(),
                operations: None,
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
            ("127.0.0.1:0", None, None),
            ("nowhere", None, None),
        ] {
            assert_eq!(url(http, name).as_deref(), expected, "{http}");
        }
    }
}
