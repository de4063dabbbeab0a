//! MCP as clients see it: over a pipe and over HTTP.

#![allow(
    clippy::disallowed_methods,
    reason = "tasks of a test end with its runtime"
)]

mod arguments;
mod asks;
mod attached;
mod cancel;
mod client;
mod edges;
mod ends;
mod http;
mod log;
mod names;
mod operations;
mod panics;
mod pipe;
mod startup;
#[path = "../../../mcp-servlet-host/tests/support/mod.rs"]
mod support;
mod tasks;
mod users;
