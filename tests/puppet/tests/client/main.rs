//! Tests of the client against servers that play scripts.

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
