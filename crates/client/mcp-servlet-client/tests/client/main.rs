//! Tests of the client against servers that play scripts.

#![allow(
    clippy::disallowed_methods,
    reason = "tasks of a test end with its runtime"
)]

mod authority;
mod calls;
mod cancelled;
mod connections;
mod errors;
mod events;
mod expiry;
mod guide;
mod http;
mod input;
mod lists;
mod login;
mod oauth;
mod pool;
mod processes;
mod requests;
mod retry;
mod sse;
mod support;
mod tls;
mod typed;
mod typed_clients;
