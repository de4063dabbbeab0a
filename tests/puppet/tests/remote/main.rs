//! Other MCP servers as members of a host.

mod gateway;
mod life;
mod lists;
mod outage;
mod relay;
mod support;
