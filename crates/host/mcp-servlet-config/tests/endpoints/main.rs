//! Endpoints of a configuration, as clients of each transport see them.

#![allow(
    clippy::disallowed_methods,
    reason = "tasks of a test end with its runtime"
)]

mod attributes;
mod audit;
mod bundles;
mod callees;
mod client;
mod conditions;
mod config;
mod denials;
mod documented;
mod failures;
mod hooks;
mod http;
mod imperfect;
mod inner_calls;
mod issuer;
mod issuers;
mod lists;
mod log;
mod openssl;
mod owners;
mod policies;
mod processes;
mod quotas;
mod raw;
mod reload;
mod remote_rules;
mod resources;
mod rules;
mod search;
mod shape;
mod shapes;
mod site;
mod slow;
mod sse;
mod steps;
mod store;
#[path = "../../../mcp-servlet-host/tests/support/mod.rs"]
mod support;
mod tasks;
mod time;
mod tls;
mod tokens;
mod traces;
mod virtual_calls;
mod virtual_tools;
mod wasm;
