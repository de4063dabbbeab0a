//! Loaded servlets that all tests share, and helpers for results.

use std::path::Path;
use std::sync::OnceLock;

use e2e::{Profile, fixture, wasm};
use mcp_servlet_call::JsonObject;
use mcp_servlet_host::{CallToolResult, Content, Servlet};
use mcp_servlet_runtime::{LoadOptions, Module};
use serde_json::Value;

/// The examples; each has its own expectations in every module.
pub(crate) const EXAMPLES: [&str; 3] = ["greet", "calculator", "catalogue"];

/// An example in the host, without configuration.
pub(crate) fn example(name: &str) -> &'static Servlet {
    static LOADED: [OnceLock<Servlet>; 3] = [const { OnceLock::new() }; 3];
    let at = EXAMPLES.iter().position(|example| *example == name);
    let slot = &LOADED[at.expect("an example")];
    slot.get_or_init(|| load(&wasm(name, Profile::Servlet), &LoadOptions::default()))
}

/// A new instance of the misbehaving servlet.
pub(crate) fn probe(options: &LoadOptions) -> Servlet {
    load(&fixture("probe"), options)
}

/// # Panics
///
/// If the host refuses the servlet, with its reason.
pub(crate) fn load(path: &Path, options: &LoadOptions) -> Servlet {
    Servlet::load(path, options).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()))
}

pub(crate) fn module(path: &Path) -> Module {
    let wasm = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Module::read(&wasm).expect("cargo writes WebAssembly")
}

/// Takes the arguments out of `json!({…})`.
pub(crate) fn object(arguments: &Value) -> &JsonObject {
    arguments.as_object().expect("arguments are an object")
}

/// The text of a result with one block.
pub(crate) fn text(result: &CallToolResult) -> &str {
    let content: Vec<_> = result.content().collect();
    let [Content::Text { text, .. }] = content[..] else {
        panic!("one text, not {content:?}");
    };
    text
}
