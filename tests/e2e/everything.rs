//! `examples/everything`: everything that a server can offer in MCP, in the host and for clients of both protocol
//! eras.

mod content;
mod features;
mod listed;
mod notices;
mod questions;
mod rounds;

use std::path::PathBuf;
use std::sync::OnceLock;

use e2e::{Profile, wasm};
use mcp_servlet_host::{Listed, Servlet, Tool};
use mcp_servlet_runtime::LoadOptions;
use serde_json::{Value, json};
use wire::Process;

use crate::pipe::{legacy, modern};
use crate::support::load;

/// The files with the tests of each kind.
const TESTS: [&str; 6] = [
    include_str!("everything/content.rs"),
    include_str!("everything/features.rs"),
    include_str!("everything/listed.rs"),
    include_str!("everything/notices.rs"),
    include_str!("everything/questions.rs"),
    include_str!("everything/rounds.rs"),
];

fn path() -> PathBuf {
    wasm("everything", Profile::Servlet)
}

fn servlet() -> &'static Servlet {
    static LOADED: OnceLock<Servlet> = OnceLock::new();
    LOADED.get_or_init(|| load(&path(), &LoadOptions::default()))
}

/// The capabilities of a client that can do everything.
fn able() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

/// A client of each era with these capabilities.
fn clients(capabilities: &Value) -> [Process; 2] {
    [
        legacy(&path(), capabilities.clone(), &[]),
        modern(&path(), capabilities.clone()),
    ]
}

#[test]
fn every_entry_has_a_test() {
    let servlet = servlet();
    let listed = [
        servlet.resources(),
        servlet.resource_templates(),
        servlet.prompts(),
    ];
    let keys = listed.into_iter().flatten().map(Listed::key);
    let names = servlet.tools().iter().map(Tool::name).chain(keys);
    let untested = |name: &&str| {
        let name = format!("\"{name}\"");
        !TESTS.iter().any(|tests| tests.contains(&name))
    };
    assert_eq!(names.filter(untested).collect::<Vec<_>>(), [""; 0]);
}
