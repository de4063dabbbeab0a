//! Prints items as Rust source.

use syn::Item;

use crate::options::Options;
use crate::types::docs::is_visible;

/// Attributes that keep rustfmt, lints and clippy away from a file.
pub(crate) const OWN_FILE: &str = r#"
#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    unused_imports,
    unused_macros,
    clippy::all,
    clippy::pedantic,
    reason = "names and descriptions are those of the schema, and a crate may leave a part of it unused",
)]
"#;

/// Prints items below a header, with a blank line between them.
pub(crate) fn format(options: &Options, items: Vec<Item>) -> String {
    join(options, OWN_FILE, items.into_iter().map(item))
}

/// Joins printed items below a header in the same way. `attributes` are those of a file of its own.
pub(crate) fn join(
    options: &Options,
    attributes: &str,
    items: impl IntoIterator<Item = String>,
) -> String {
    let mut text = String::new();
    for line in options.header.lines() {
        let line: String = line.chars().filter(|c| is_visible(*c)).collect();
        text.extend(["// ", &line, "\n"]);
    }
    if options.own_file {
        text += attributes;
    }
    for item in items {
        text.push('\n');
        text += &item;
    }
    text
}

/// Prints an item.
pub(crate) fn item(item: Item) -> String {
    prettyplease::unparse(&syn::File {
        shebang: None,
        frontmatter: None,
        attrs: Vec::new(),
        items: vec![item],
    })
}

/// Prints an item that contains items, with a blank line between them.
pub(crate) fn block(item: Item) -> String {
    let mut text = String::new();
    let mut before = "";
    let printed = self::item(item);
    for line in printed.lines() {
        let before_trimmed = before.trim_start();
        let is_use_or_macro =
            before_trimmed.starts_with("use ") || before_trimmed.starts_with("::");
        let ends = before_trimmed == "}" || (is_use_or_macro && before.ends_with(';'));
        let goes_on = line.trim_start() != "}" && indent(line) == indent(before);
        if ends && goes_on {
            text.push('\n');
        }
        text.extend([line, "\n"]);
        before = line;
    }
    text
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
