//! Serves other MCP servers as members of a [`Host`](mcp_servlet_host::Host).
//!
//! A [`RemoteServer`] connects in the background and stays connected. A server that is down, slow or wrong affects nothing
//! but its own tools.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let address = puppet::Puppet::new("plain").http().await;
//! # let url = format!("http://{address}/mcp");
//! use mcp_servlet_host::{Host, Mount, Prefix};
//! use mcp_servlet_remote::{RemoteOptions, RemoteServer};
//!
//! let remote = RemoteServer::start("plain", url.parse()?, RemoteOptions::default());
//! remote.ready().await?;
//! let host = Host::compose(vec![Mount {
//!     member: remote.member(),
//!     prefix: Prefix::Never,
//!     filter: Default::default(),
//! }]);
//! assert_eq!(host.tools().count(), 1);
//! remote.close().await;
//! # Ok(())
//! # }
//! ```

mod answer;
mod connection;
mod failure;
mod lists;
mod options;
mod parked;
mod relay;
mod request;
mod running;
mod server;
mod sessions;
mod shared;
mod state;
mod supervised;
mod supervisor;
mod task;
mod timetable;
mod watched;

pub use mcp_servlet_client as client;

pub use options::{RemoteLimits, RemoteOptions, Retries, Sessions, Start, ToolTexts, WhenDown};
pub use server::RemoteServer;
pub use state::{NotReady, State};
