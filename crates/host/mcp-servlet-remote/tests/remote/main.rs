//! Other MCP servers as members of a host.

#![allow(
    clippy::disallowed_methods,
    reason = "tasks of a test end with its runtime"
)]

mod life;
mod lists;
mod outage;
mod relay;
#[allow(dead_code, reason = "tests of configurations use the rest")]
mod support;
mod tasks;
