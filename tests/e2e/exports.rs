//! Exports and imports of servlets: hosts find the exports that they call, and a servlet imports nothing that it does
//! not use.

use std::collections::BTreeSet;
use std::path::Path;

use e2e::{Profile, fixture, hyper_mcp, wasm};

use crate::support::{EXAMPLES, module};

/// The imports of a call: to read the request, and to write the result or an error.
const BASE: [&str; 8] = [
    "alloc",
    "error_set",
    "input_length",
    "input_load_u64",
    "input_load_u8",
    "output_set",
    "store_u64",
    "store_u8",
];
/// The imports that read a response of the host.
const READING: [&str; 4] = ["free", "length", "load_u64", "load_u8"];
/// The functions of hyper-mcp, first those that the examples use.
const HYPER_MCP: [&str; 12] = [
    "create_elicitation",
    "create_message",
    "list_roots",
    "notify_logging_message",
    "notify_progress",
    "get_access_token",
    "get_keyring_secret",
    "notify_prompt_list_changed",
    "notify_resource_list_changed",
    "notify_resource_updated",
    "notify_tool_list_changed",
    "notify_url_elicitation_completed",
];
/// The exports of hyper-mcp's ABI, without the one that it never calls.
const HYPER_MCP_EXPORTS: [&str; 8] = [
    "call_tool",
    "complete",
    "get_prompt",
    "list_prompts",
    "list_resource_templates",
    "list_resources",
    "list_tools",
    "read_resource",
];
const HTTP: [&str; 3] = ["http_headers", "http_request", "http_status_code"];

fn sorted_exports(path: &Path) -> Vec<String> {
    let exports = module(path).exports.into_iter();
    let functions = exports.filter(|export| export.function);
    let mut names: Vec<_> = functions.map(|export| export.name).collect();
    names.sort();
    names
}

/// The imported functions. Names from modules other than Extism's begin with the module.
pub(crate) fn imports(path: &Path) -> BTreeSet<String> {
    let imports = module(path).imports.into_iter();
    imports
        .map(|import| match &*import.module {
            "extism:host/env" => import.name,
            _ => import.to_string(),
        })
        .collect()
}

fn assert_imports(path: &Path, beyond_base: &[&[&str]]) {
    let expected = beyond_base.iter().copied().flatten().chain(&BASE);
    let expected: BTreeSet<_> = expected.map(|name| (*name).to_owned()).collect();
    assert_eq!(imports(path), expected, "{}", path.display());
}

#[test]
fn examples_export_what_hosts_call_and_nothing_else() {
    for example in EXAMPLES {
        for profile in [Profile::Release, Profile::Servlet] {
            let path = wasm(example, profile);
            assert_eq!(
                sorted_exports(&path),
                ["call", "describe"],
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn examples_import_what_their_source_uses_and_nothing_else() {
    for profile in [Profile::Release, Profile::Servlet] {
        assert_imports(&wasm("greet", profile), &[]);
        assert_imports(&wasm("calculator", profile), &[]);
        assert_imports(&wasm("catalogue", profile), &[&["config_get"], &READING]);
    }
}

#[test]
fn hyper_mcp_abi_imports_only_functions_of_hyper_mcp() {
    // Only these: the other examples are large, and import no more than these.
    for example in [
        "calculator",
        "catalogue",
        "everything",
        "fetch",
        "greet",
        "kv-notes",
    ] {
        let path = hyper_mcp(example);
        for import in module(&path).imports {
            let known = match &*import.module {
                // Extism's functions, and WASI, which hyper-mcp always links.
                "extism:host/env" | "wasi_snapshot_preview1" => true,
                "extism:host/user" => HYPER_MCP.contains(&&*import.name),
                _ => false,
            };
            assert!(known, "{example} imports {import}");
        }
        for name in sorted_exports(&path) {
            assert!(
                !["describe", "call"].contains(&&*name),
                "{example} has `{name}`"
            );
        }
    }
}

#[test]
fn hyper_mcp_abi_imports_and_exports_only_what_the_source_uses() {
    for example in ["greet", "calculator"] {
        assert_imports(&hyper_mcp(example), &[]);
        assert_eq!(
            sorted_exports(&hyper_mcp(example)),
            ["call_tool", "list_tools"]
        );
    }
    assert_imports(&hyper_mcp("catalogue"), &[&["config_get"], &READING]);
    for example in ["kv-notes", "everything"] {
        assert_eq!(sorted_exports(&hyper_mcp(example)), HYPER_MCP_EXPORTS);
    }
    let asks: Vec<_> = HYPER_MCP[..5]
        .iter()
        .map(|name| format!("extism:host/user::{name}"))
        .collect();
    let asks: Vec<_> = asks.iter().map(String::as_str).collect();
    assert_imports(&hyper_mcp("everything"), &[&asks, &READING]);
}

#[test]
fn arguments_and_results_take_no_import_beyond_those_of_every_call() {
    for name in ["text", "float", "structs"] {
        assert_imports(&fixture(name), &[]);
    }
}

#[test]
fn a_configuration_value_takes_the_import_that_reads_it() {
    assert_imports(&fixture("config"), &[&["config_get"], &READING]);
}

#[test]
fn variables_take_an_import_to_read_and_one_to_set() {
    assert_imports(&fixture("vars"), &[&["var_get", "var_set"], &READING]);
    assert_imports(&fixture("set_var"), &[&["var_set"]]);
}

#[test]
fn a_log_line_takes_the_import_of_its_level_alone() {
    assert_imports(&fixture("log"), &[&["log_info"]]);
}

#[test]
fn time_and_randomness_take_one_function_of_wasi_each() {
    let (clock, random) = ("clock_time_get", "random_get");
    for (name, function) in [("clock", clock), ("random", random)] {
        let import = format!("wasi_snapshot_preview1::{function}");
        assert_imports(&fixture(name), &[&[&import]]);
    }
}

#[test]
fn only_a_servlet_that_sends_requests_imports_http() {
    assert_imports(&fixture("http"), &[&HTTP, &READING]);
    // It asks the host whether it takes several requests at once.
    assert_imports(&fixture("http_all"), &[&HTTP, &["config_get"], &READING]);
}

#[test]
fn a_typed_configuration_takes_no_more_than_a_value() {
    assert_imports(&fixture("settings"), &[&["config_get"], &READING]);
}

#[test]
fn the_caller_takes_the_question_whether_the_host_has_set_it() {
    assert_imports(&fixture("caller"), &[&["config_get"], &READING]);
}

#[test]
fn reading_the_request_needs_no_import() {
    for name in ["client", "elicit", "sample"] {
        assert_imports(&fixture(name), &[]);
    }
    assert_imports(&fixture("once"), &[&["var_set"]]);
}

#[test]
fn telling_the_client_takes_one_function_of_hyper_mcp_each() {
    for (name, function) in [
        ("progress", "notify_progress"),
        ("client_log", "notify_logging_message"),
    ] {
        let import = format!("extism:host/user::{function}");
        assert_imports(&fixture(name), &[&[&import]]);
    }
}
