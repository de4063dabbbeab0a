//! The cost of each feature in bytes and in wasm instructions, and the table in `docs/sizes.md`.

use e2e::{fixture, root};
use extism::{Manifest, Plugin, PluginBuilder, Wasm};

use crate::sizes::{close, grouped};

/// A feature and the fixture that uses it.
struct Feature {
    /// Its name in the docs.
    name: &'static str,
    fixture: &'static str,
    /// A tool and the arguments of a call that needs no network.
    call: Option<(&'static str, &'static str)>,
}

const fn feature(
    name: &'static str,
    fixture: &'static str,
    call: Option<(&'static str, &'static str)>,
) -> Feature {
    Feature {
        name,
        fixture,
        call,
    }
}

const ADA: &str = r#"{"text":"Ada Lovelace"}"#;
const PLACE: &str = r#"{"place":{"east":3,"north":4}}"#;

const FEATURES: [Feature; 10] = [
    feature("no tool at all", "empty", None),
    feature("a string in and out", "text", Some(("repeat", ADA))),
    feature("a struct in and out", "structs", Some(("turn", PLACE))),
    feature(
        "a float in and out",
        "float",
        Some(("halve", r#"{"number":1.5}"#)),
    ),
    feature("a configuration value", "config", Some(("who", "{}"))),
    feature("variables", "vars", Some(("swap", ADA))),
    feature("a line of the log", "log", Some(("note", ADA))),
    feature("a text in parts", "parts", Some(("repeat", ADA))),
    feature("HTTP", "http", None),
    feature("text of any charset", "charset", None),
];

/// More instructions than any call here runs.
const FUEL: u64 = 1_000_000_000;

/// The instructions of a call: those of the servlet, and of Extism's kernel.
fn instructions(plugin: &mut Plugin, export: &str, input: &str) -> u64 {
    let answer = plugin.call::<_, &str>(export, input);
    let answer = answer.unwrap_or_else(|error| panic!("{export} of {input}: {error:?}"));
    assert!(!answer.contains("isError"), "{export} of {input}: {answer}");
    plugin.fuel_consumed().expect("Extism meters it")
}

/// The size in bytes, and the instructions of `describe` in a fresh instance and of the second call.
fn measured(name: &str, call: Option<(&str, &str)>) -> Vec<u64> {
    let wasm = std::fs::read(fixture(name)).expect("cargo built it");
    let bytes = wasm.len() as u64;
    let builder = PluginBuilder::new(Manifest::new([Wasm::data(wasm)])).with_fuel_limit(FUEL);
    let mut plugin = builder.build().expect("an Extism plugin");
    let mut figures = vec![bytes, instructions(&mut plugin, "describe", "")];
    if let Some((tool, arguments)) = call {
        let request = format!(r#"{{"params":{{"name":"{tool}","arguments":{arguments}}}}}"#);
        instructions(&mut plugin, "call", &request);
        figures.push(instructions(&mut plugin, "call", &request));
    }
    figures
}

/// `./x bless` writes the figures.
#[test]
fn the_table_of_features_is_right_within_a_percent() {
    let path = root().join("docs/sizes.md");
    let docs = std::fs::read_to_string(&path).expect("the docs are text");
    let mut right = docs.clone();
    let mut wrong = String::new();
    for feature in FEATURES {
        let start = format!("| {} |", feature.name);
        let row = docs.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("docs/sizes.md has no row for {}", feature.name));
        let written: Vec<_> = row.split(" | ").skip(1).collect();
        let figures = measured(feature.fixture, feature.call);
        if written.len() != 3 || !written.iter().zip(figures.iter().copied()).all(close) {
            let mut cells: Vec<_> = figures.into_iter().map(grouped).collect();
            cells.resize(3, "–".to_owned());
            let correct = format!("{start} {} |", cells.join(" | "));
            wrong.extend(["\nnot ", row, "\nbut ", &correct]);
            right = right.replace(row, &correct);
        }
    }
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(path, right).expect("the docs are writable");
    } else {
        assert!(
            wrong.is_empty(),
            "figures in docs/sizes.md, see `./x bless`:{wrong}"
        );
    }
}
