//! Clients that speak MCP by hand, for tests that look at single messages, headers and statuses.
//!
//! | to write or read | there is |
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
//! Everything that waits panics after a minute. What a client cannot send or read is a panic too, except in functions with `try`.

mod http;
pub mod message;
mod pipe;
mod process;
mod sse;

pub use crate::http::{Answer, Http, rest};
pub use crate::pipe::Pipe;
pub use crate::process::Process;
pub use crate::sse::Sse;
