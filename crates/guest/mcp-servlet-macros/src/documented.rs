//! Checks that the docs of each macro, which are in `mcp-servlet`, name all of its options.

use std::collections::BTreeSet;

use crate::attributes::Key;
use crate::completion::Completion;
use crate::function::arg;
use crate::function::attribute::FunctionAttribute;
use crate::prompt::Prompt;
use crate::resource::Kind;
use crate::tool::Tool;
use crate::{derive, from_text};

/// This file re-exports and documents the macros.
const LIB: &str = include_str!("../../mcp-servlet/src/lib.rs");

/// The names in the code spans of the docs of a macro, such as `min` and `max` of `#[arg(min = …, max = …)]`.
fn documented(name: &str) -> BTreeSet<&'static str> {
    let (before, _) = LIB
        .split_once(&*format!("\npub use mcp_servlet_macros::{name};\n"))
        .unwrap();
    let docs = before.rsplit("\n\n").next().unwrap();
    let text = docs.split("/// ```").step_by(2);
    let code = text.flat_map(|text| text.split('`').skip(1).step_by(2));
    let options = code.map(|code| match code.strip_prefix("#[") {
        Some(attribute) => attribute.split_once('(').map_or("", |(_, options)| options),
        None => code,
    });
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    let names = options.flat_map(|options| options.split(", "));
    names
        .map(|name| name.split(|character| !is_name(character)).next().unwrap())
        .collect()
}

fn assert_documented<T>(name: &str, keys: &[Key<T>]) {
    let documented = documented(name);
    let listed = keys.iter().filter(|key| key.is_listed);
    let missing: Vec<_> = listed
        .map(|key| key.name)
        .filter(|key| !documented.contains(key))
        .collect();
    assert!(missing.is_empty(), "the docs of `{name}` lack {missing:?}");
}

#[test]
fn every_option_is_documented() {
    assert_documented("tool", &Tool.keys());
    assert_documented("tool", arg::KEYS);
    assert_documented("resource", &Kind::Fixed.keys());
    let shared: BTreeSet<_> = Kind::Fixed.keys().iter().map(|key| key.name).collect();
    let mut own = Kind::Template.keys();
    own.retain(|key| key.name == "uri_template" || !shared.contains(key.name));
    assert_documented("resource_template", &own);
    assert_documented("prompt", &Prompt.keys());
    assert_documented("completion", &Completion.keys());
    assert_documented("Schema", derive::TYPE_KEYS);
    assert_documented("Schema", derive::FIELD_KEYS);
    assert_documented("FromText", from_text::KEYS);
    assert_documented("test", crate::test::KEYS);
}
