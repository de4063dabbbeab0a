//! Tests of the client against servers that play scripts.

mod calls;
mod errors;
mod events;
mod http;
mod input;
mod lists;
mod login;
mod oauth;
mod pool;
mod processes;
mod requests;
mod sse;
mod support;
mod tls;
mod typed;
