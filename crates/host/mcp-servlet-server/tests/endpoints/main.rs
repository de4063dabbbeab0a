//! Endpoints of a configuration, as clients of each transport see them.

mod attributes;
mod bundles;
mod config;
mod documented;
mod http;
mod lists;
mod reload;
mod resources;
mod site;
mod sse;
#[path = "../../../mcp-servlet-host/tests/support/mod.rs"]
mod support;
mod time;
