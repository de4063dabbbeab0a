//! Serves a [`Host`] over MCP: all protocol versions from 2024-11-05 to 2026-07-28, over stdio and
//! streamable HTTP.

pub mod config;
mod era;
mod handler;
mod http;
mod message;
mod panics;
mod params;
mod passthrough;
mod server;
mod signals;
mod stdio;
pub mod watch;

pub use http::{HttpOptions, http, operations};
pub use server::{ServeOptions, Server, TaskOptions};
pub use signals::asked_to_end;
pub use stdio::{ServeError, lines, stdio};
