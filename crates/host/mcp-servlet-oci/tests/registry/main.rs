//! The client against a small registry in this process, with TLS and certificates of the test.

#![allow(
    clippy::disallowed_methods,
    reason = "tasks of a test end with its runtime"
)]

mod cache;
mod login;
mod pull;
mod push;
mod signature;
mod site;
