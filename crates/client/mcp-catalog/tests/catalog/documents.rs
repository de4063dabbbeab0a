//! What `docs/catalog.md` says is true.

use std::{collections::BTreeSet, env, fs, path::Path};

use mcp_catalog::code;

use crate::support::catalog_of;

const PAGE: &str = include_str!("../../../../../docs/catalog.md");

#[test]
fn every_code_has_a_section() {
    let (_, sections) = PAGE.split_once("## Diagnostics\n").unwrap();
    let sections = sections
        .lines()
        .filter_map(|line| line.strip_prefix("### "));
    let sections: BTreeSet<_> = sections.collect();
    assert_eq!(sections, BTreeSet::from(code::ALL));
}

/// The text between two others.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, text) = text.split_once(start).expect("the start");
    text.split_once(end).expect("the end").0
}

#[test]
fn the_page_shows_the_catalog_of_its_example() {
    let lists = between(PAGE, "r#\"", "\"#");
    let text = serde_json::to_string_pretty(&catalog_of(lists)).unwrap();
    let (_, json) = PAGE.split_once("## JSON\n").unwrap();
    let shown = between(json, "```json\n", "\n```");
    if env::var_os("UPDATE_GOLDENS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/catalog.md");
        let fenced = |json: &str| format!("```json\n{json}\n```");
        fs::write(path, PAGE.replacen(&fenced(shown), &fenced(&text), 1)).unwrap();
    } else {
        assert_eq!(shown, text);
    }
}
