//! Wasm exports and imports have the names of the schema, whatever their names in Rust.

use std::collections::BTreeSet;

use e2e::fixture;

use super::host::Host;
use crate::support::module;

fn host() -> Host {
    Host::new()
        .with("fn", (false, true), |_| b"7".to_vec())
        .with("mock", (false, false), |_| Vec::new())
        .with("alloc", (false, false), |_| Vec::new())
        .with("crate", (true, false), |_| Vec::new())
}

#[test]
fn exports_and_imports_have_the_names_of_the_schema() {
    let module = module(&fixture("names"));
    let exports = module.exports.iter().filter(|export| export.function);
    let exports: BTreeSet<_> = exports.map(|export| &*export.name).collect();
    let expected = [
        "type",
        "self",
        "Type",
        "price$",
        "fooBar",
        "foo_bar",
        "getURLFor",
    ];
    assert_eq!(exports, expected.into());
    let imports = module
        .imports
        .iter()
        .filter(|import| import.module == "extism:host/user");
    let imports: BTreeSet<_> = imports.map(|import| &*import.name).collect();
    assert_eq!(imports, ["fn", "mock", "alloc", "crate"].into());
}

#[test]
fn keywords_and_similar_names_are_exported() {
    let mut plugin = host().load(&fixture("names"));
    assert_eq!(plugin.call("type", b"").as_deref(), Ok(&b""[..]));
    assert_eq!(plugin.call("self", br#""x""#).as_deref(), Ok(&b""[..]));
    assert_eq!(plugin.call("price$", b"").as_deref(), Ok(&b"7"[..]));
    assert_eq!(plugin.call("foo_bar", b"").as_deref(), Ok(&b""[..]));
    for name in ["Type", "fooBar", "getURLFor"] {
        let error = format!("export `{name}` is not implemented");
        assert_eq!(plugin.call(name, b""), Err(error));
    }
    let call = |name: &str, input: &str| (name.to_owned(), input.as_bytes().to_vec());
    let crate_input = r#"{"a":"x"}"#;
    let expected = [
        call("mock", ""),
        call("alloc", ""),
        call("crate", crate_input),
        call("fn", ""),
    ];
    assert_eq!(plugin.calls(), expected);
}

/// The smallest plugin imports only what reads a payload, writes one, and reports an error.
#[test]
fn the_smallest_plugin_is_small() {
    let path = fixture("shout");
    let mut plugin = Host::new().load(&path);
    assert_eq!(
        plugin.call("shout", "hé".as_bytes()).as_deref(),
        Ok("hé!".as_bytes())
    );
    let module = module(&path);
    let imports: BTreeSet<_> = module.imports.iter().map(|import| &*import.name).collect();
    let base = [
        "alloc",
        "error_set",
        "input_length",
        "input_load_u64",
        "input_load_u8",
        "output_set",
        "store_u64",
        "store_u8",
    ];
    assert_eq!(imports, base.into());
    let size = std::fs::metadata(&path).expect("a file").len();
    assert!(size <= 20_000, "it has {size} bytes");
}
