//! The descriptions of servlets, as the host gets them from the wasm.
//!
//! The whole descriptions are under `descriptions`; `./x bless` rewrites them.

use std::fs;

use e2e::root;
use serde_json::{Value, json};

use crate::support::{EXAMPLES, example};

fn described(name: &str) -> Value {
    serde_json::from_str(example(name).description()).expect("a description is JSON")
}

#[test]
fn examples_describe_themselves_as_reviewed() {
    for name in EXAMPLES {
        let path = root().join(format!("tests/e2e/descriptions/{name}.json"));
        let found = format!("{:#}\n", described(name));
        if std::env::var_os("UPDATE_GOLDENS").is_some() {
            fs::write(&path, &found).expect("descriptions are writable");
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(found, expected, "{}: see `./x bless`", path.display());
    }
}

#[test]
fn tools_are_listed_in_the_order_of_the_source() {
    for name in EXAMPLES {
        let path = root().join(format!("examples/{name}/src/lib.rs"));
        let source = fs::read_to_string(path).expect("the source of an example");
        let list = source.split("tools: [").nth(1).expect("a list of tools");
        let list = list.split(']').next().expect("an end of the list");
        let expected: Vec<_> = list.split(',').map(str::trim).collect();
        let tools = example(name).tools();
        let found: Vec<_> = tools.iter().map(mcp_servlet_host::Tool::name).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn one_tool_is_described_in_both_historic_shapes() {
    let description = described("greet");
    let tool = &description["tools"][0];
    for key in ["name", "description", "inputSchema"] {
        assert!(!tool[key].is_null(), "{key}");
        assert_eq!(description[key], tool[key], "{key}");
    }
}

#[test]
fn several_tools_are_described_as_a_list() {
    for name in ["calculator", "catalogue"] {
        let description = described(name);
        assert!(description["tools"].is_array(), "{name}");
        for key in ["name", "description", "inputSchema"] {
            assert_eq!(description.get(key), None, "{name}: {key}");
        }
    }
}

#[test]
fn servlets_are_named_after_their_package() {
    for name in EXAMPLES {
        let expected = json!({ "name": name, "version": env!("CARGO_PKG_VERSION") });
        assert_eq!(described(name)["serverInfo"], expected);
    }
}
