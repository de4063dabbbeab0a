//! MCP clients without a library for the protocol, for tests that check single messages, headers and statuses.
//!
//! | what a test writes or reads | item |
//! |---|---|
//! | a message | [`message`] |
//! | requests and responses over HTTP, in a session or without one | [`Http`], [`Answer`] |
//! | messages over HTTP+SSE | [`Sse`] |
//! | lines of a server in this process | [`Pipe`] |
//! | lines of a server in a process of its own, and its log | [`Process`] |
//!
//! ```no_run
//! use serde_json::json;
//! use wire::{Http, message};
//!
//! let http = Http::new("http://127.0.0.1:8080/mcp").with("authorization", "Bearer token");
//! let listed = http.ask("tools/list", json!({})); // since 2026-07-28
//! assert_eq!((listed.status(), listed.header("retry-after")), (200, None));
//! let session = http.open(); // of 2025-11-25
//! assert_eq!(session.ask("ping", json!({})).message()["result"], json!({}));
//! assert_eq!(session.post(&message::cancelled(1)).status(), 202);
//! ```
//!
//! Functions panic if they have waited for a minute, or for the time that [`Process::patient`] sets. They also panic if sending or
//! reading fails. The functions of [`Http`] and [`Answer`] that begin with `try_` return these errors instead.

mod http;
pub mod message;
mod pipe;
mod process;
mod sse;

pub use crate::http::{Answer, Http, rest};
pub use crate::pipe::Pipe;
pub use crate::process::Process;
pub use crate::sse::Sse;
