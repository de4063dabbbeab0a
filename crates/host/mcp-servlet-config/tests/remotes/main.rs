//! Other MCP servers as members, as clients of each transport see them.

#![allow(
    clippy::disallowed_methods,
    reason = "tasks of a test end with its runtime"
)]

mod asks;
#[allow(dead_code, reason = "tests of the client use the rest")]
#[path = "../../../../client/mcp-servlet-client/tests/client/authority.rs"]
mod authority;
mod callees;
#[path = "../endpoints/client.rs"]
mod client;
mod denied;
mod first_attempt;
mod gateway;
#[allow(dead_code, reason = "tests of servlets use the rest")]
#[path = "../endpoints/log.rs"]
mod log;
mod members;
mod reload;
mod search;
#[path = "../../../mcp-servlet-host/tests/support/mod.rs"]
mod servlets;
mod sessions;
mod settings;
#[allow(dead_code, reason = "tests of servlets use the rest")]
#[path = "../endpoints/site.rs"]
mod site;
mod steps;
#[allow(dead_code, reason = "tests of remotes use the rest")]
#[path = "../../../mcp-servlet-remote/tests/remote/support.rs"]
mod support;
mod three;
mod unanswered;
mod updates;
mod virtual_tools;
