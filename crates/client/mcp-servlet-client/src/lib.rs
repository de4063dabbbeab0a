//! Connects to any MCP server: a command, a URL, or a pair of streams.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let address = puppet::Puppet::new("plain").http().await;
//! # let url = format!("http://{address}/mcp");
//! use mcp_servlet_client::Session;
//!
//! let session = Session::connect(&url.parse()?).await?;
//! let lists = session.lists().await?;
//! session.close().await;
//! # assert_eq!(lists.tools.map(|tools| tools.len()), Some(1));
//! # Ok(())
//! # }
//! ```
//!
//! A [`Target`] is the server, [`Options`] are how to connect, and a [`Session`] is the connection. [`OAuth`] logs in to servers
//! that require it. Everything that a server sends stays as it wrote it: entries of [`Lists`], [`CallResult::raw`], and members that no version of MCP has.
//! Both generations of the protocol work: the handshake up to 2025-11-25, and requests without a session since 2026-07-28.
//! Clients that `servlet gen client` generates call through a session, and [`Session::check`] finds out whether the server has
//! changed since.
//! [`Limits`] bound the size of messages and lists, and [`Timeouts`] how long a server may take.

mod answers;
mod asking;
mod bearer;
mod caller;
mod content;
mod error;
mod events;
mod incoming;
mod limits;
mod message;
mod oauth;
mod on_stderr;
mod options;
mod pool;
mod progress;
mod quote;
mod retry;
mod server;
mod session;
mod tap;
mod target;
mod task;
mod transport;
mod typed;

pub use answers::{Answers, Decline, Elicitation, Input, Offers, Refusal, Relayed, Root};
pub use caller::{CallWith, CheckError, Drift};
pub use content::{
    Annotations, CallResult, Content, PromptMessage, PromptResult, ReadResult, ResourceContents,
    ResourceData,
};
pub use error::{Error, ErrorKind};
pub use events::{Event, Events};
pub use limits::{Limits, Timeouts};
pub use mcp_catalog::{Catalog, ListProblem, Lists, ServerText, code as problem_code};
pub use oauth::{LoggedIn, LoggedOut, OAuth};
pub use options::{Era, Options};
pub use pool::{Lease, Pool};
pub use progress::Progress;
pub use retry::Retry;
pub use server::Server;
pub use session::{CallOptions, Completion, List, Page, Pong, Session};
pub use target::{Command, Http, HttpTransport, Target, TargetError, Tls, TlsVersion};
pub use tokio_util::sync::CancellationToken;
pub use transport::child::processes_ended;
pub use typed::TypedCallError;

/// The member of `_meta` that asks for log messages. Servers since 2026-07-28 send none without it.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
