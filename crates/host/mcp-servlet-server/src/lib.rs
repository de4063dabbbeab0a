//! Serves a [`Host`](mcp_servlet_host::Host) over MCP: all protocol versions from 2024-11-05 to
//! 2026-07-28, over stdio, streamable HTTP and HTTP+SSE.
//!
//! A [`Plan`] says what is served, and a [`Service`] serves it: it owns the servlets, remotes, listeners and tasks. The crate
//! `mcp-servlet-config` reads `servlet.toml`, which is one [`Configuration`] of a plan.
//!
//! ```
//! use mcp_servlet_host::{Host, Servlet, runtime::LoadOptions};
//! use mcp_servlet_server::{Plan, Service};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let wasm = wat::parse_file("../mcp-servlet-host/tests/greet.wat")?;
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(&folder)?;
//! # std::fs::write("greet.wasm", wasm)?;
//! let greet = Servlet::load("greet.wasm", &LoadOptions::default())?;
//! let mut plan = Plan::from_host(Host::new(vec![greet]));
//! plan.transports.stdio = true;
//! Service::start(plan).await?.run().await?;
//! # Ok(())
//! # }
//! ```

mod access;
mod configuration;
mod era;
mod exchange;
mod handler;
mod hooks;
mod http;
mod message;
mod own_id;
mod panics;
mod params;
mod passthrough;
mod permissions;
mod plan;
mod records;
mod remotes;
mod response_headers;
pub mod rule_items;
mod server;
mod service;
mod session_id;
mod signals;
mod stdio;
mod store;
pub mod watch;

pub use configuration::{
    Configuration, ConfigurationError, Endpoint, EndpointTransport, Listener, Settings,
};
pub use hooks::{OnSession, Reject, SessionHooks};
pub use http::{
    ClientCertificates, HEALTH_PATH, HttpOptions, HttpTransport, READY_PATH, ResponseForm,
    SessionStorage, TlsError, TlsFile, TlsOptions, parse_host_header, parse_origin, split_address,
    split_authority,
};
pub use mcp_servlet_access::{
    AuthOptions, Caller, CertificateName, CertificateOptions, IntrospectionOptions, Jwks,
    JwtOptions, KeyOptions, KeySource, Secret, SessionCondition, Sha256, audit, new_key, quota,
    rules,
};
pub use mcp_servlet_remote::NotReady;
pub use plan::{Plan, Transports};
pub use records::{RecordOptions, RecordsError, TraceOptions, TraceTrust};
pub use remotes::{RemoteEntry, Remotes};
pub use response_headers::{ResponseHeaders, header_name};
pub use server::{ServeOptions, Server, StateKeys, TaskOptions};
pub use service::{BindError, Listening, Service, Severity, StartError, Warning};
pub use signals::ShutdownSignals;
pub use stdio::ServeError;
pub use store::StoreOptions;
