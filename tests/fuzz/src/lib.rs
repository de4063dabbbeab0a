//! Properties that hold for any bytes, reader by reader: no panics, no hangs, and well-formed answers.
//!
//! `./x fuzz` runs these under libFuzzer. A test runs them on the files of `corpus`, which include
//! all inputs that once failed.

mod calls;
mod catalog;
mod config;
mod describe;
mod http;
mod json;
mod line;
mod schema;
mod server;
mod shape;
mod state;
mod uri;

/// A reader and the name of its folder in `corpus`.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 11] = [
    ("json", json::run),
    ("schema", schema::run),
    ("describe", describe::run),
    ("uri", uri::run),
    ("config", config::run),
    ("http", http::run),
    ("line", line::run),
    ("catalog", catalog::run),
    ("calls", calls::run),
    ("shape", shape::run),
    ("state", state::run),
];

/// The reader of this name.
pub fn target(name: &str) -> Option<fn(&[u8])> {
    let mut targets = TARGETS.iter();
    targets
        .find(|target| target.0 == name)
        .map(|target| target.1)
}
