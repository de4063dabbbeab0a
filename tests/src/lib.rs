//! Shared by the end-to-end tests and the demo: servlets built for wasm, and an MCP client.

mod build;
mod client;

pub use self::build::{
    ALL, LARGE, Profile, cargo, fixture, hyper_mcp, hyper_mcp_fixture, no_tools_fixture, plugin,
    root, servlet, servlet_command, servlet_strict, strict_fixture, target, wasm,
};
pub use self::client::{Client, Era};
