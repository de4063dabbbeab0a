//! Serves a [`Host`](mcp_servlet_host::Host) over MCP: all protocol versions from 2024-11-05 to
//! 2026-07-28, over stdio, streamable HTTP and HTTP+SSE.
//!
//! A [`Server`] answers the requests of all its clients. [`stdio`] and [`http()`] are its transports,
//! and [`config`] reads `servlet.toml`.
//!
//! ```
//! use mcp_servlet_host::{Host, Servlet, runtime::LoadOptions};
//! use mcp_servlet_server::{ServeOptions, Server, stdio};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let wasm = wat::parse_file("../mcp-servlet-host/tests/greet.wat")?;
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(&folder)?;
//! # std::fs::write("greet.wasm", wasm)?;
//! let greet = Servlet::load("greet.wasm", &LoadOptions::default())?;
//! let host = Host::new(vec![greet]);
//! stdio(&Server::new(host.into(), ServeOptions::default())).await?;
//! # Ok(())
//! # }
//! ```

mod access;
mod circle;
pub mod config;
mod endpoints;
mod era;
mod exchange;
mod handler;
mod http;
mod message;
mod own_id;
mod panics;
mod params;
mod passthrough;
mod permissions;
mod response_headers;
mod server;
mod session_id;
mod signals;
mod stdio;
pub mod watch;

pub use circle::circle_of_calls;
pub use config::Remotes;
pub use endpoints::{BindError, Bound, Endpoints, Transports};
pub use http::{
    ClientCertificates, HttpOptions, HttpTransport, ResponseForm, TlsError, TlsFile, TlsOptions,
    http, listen, operations, parse_host_header, parse_origin, split_authority,
};
pub use mcp_servlet_access::{
    AuthOptions, Caller, CertificateName, CertificateOptions, IntrospectionOptions, Jwks,
    JwtOptions, KeyOptions, KeySource, Secret, Sha256, new_key, rules,
};
pub use mcp_servlet_remote::NotReady;
pub use response_headers::ResponseHeaders;
pub use server::{ServeOptions, Server, TaskOptions};
pub use signals::ShutdownSignals;
pub use stdio::{ServeError, serve_stream, stdio};
