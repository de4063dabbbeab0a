//! Tests of servlets as wasm: imports, sizes, descriptions, results and failures.

mod asks;
mod author_lines;
mod both_ways;
mod calls;
mod check;
mod client;
mod compose;
mod costs;
mod describe;
mod dev;
mod documents;
mod everything;
mod excerpts;
mod exports;
mod faults;
mod features;
mod foreign;
mod fuzz;
mod hyper_mcp;
mod installable;
mod limits;
mod load;
mod logs;
mod needs;
mod pipe;
mod platform;
mod plugins;
mod projects;
mod requests;
mod sizes;
mod streams;
mod support;
mod targets;
#[path = "../../crates/host/mcp-servlet-host/tests/support/mod.rs"]
mod wat;
mod wire;
