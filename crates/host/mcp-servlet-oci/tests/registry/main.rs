//! The client against a small registry in this process, with TLS and certificates of the test.

mod cache;
mod login;
mod pull;
mod push;
mod signature;
mod site;
