//! Other MCP servers as members of a host and of a server.

#![allow(
    clippy::disallowed_methods,
    reason = "tasks of a test end with its runtime"
)]

mod asks;
#[allow(dead_code, reason = "tests of the client use the rest")]
#[path = "../client/authority.rs"]
mod authority;
mod callees;
#[path = "../../../../crates/host/mcp-servlet-config/tests/endpoints/client.rs"]
mod client;
mod denied;
mod gateway;
mod life;
mod lists;
#[allow(dead_code, reason = "tests of servlets use the rest")]
#[path = "../../../../crates/host/mcp-servlet-config/tests/endpoints/log.rs"]
mod log;
mod members;
mod outage;
mod relay;
mod reload;
mod search;
#[path = "../../../../crates/host/mcp-servlet-host/tests/support/mod.rs"]
mod servlets;
mod sessions;
mod settings;
#[allow(dead_code, reason = "tests of servlets use the rest")]
#[path = "../../../../crates/host/mcp-servlet-config/tests/endpoints/site.rs"]
mod site;
mod steps;
mod support;
mod three;
mod unanswered;
mod updates;
mod virtual_tools;
