//! From items to text.

use syn::Item;

/// Prints items under a header, with a blank line between any two of them.
pub(crate) fn format(header: &str, items: Vec<Item>) -> String {
    join(header, items.into_iter().map(item))
}

/// Joins printed items under a header in the same way.
pub(crate) fn join(header: &str, items: impl IntoIterator<Item = String>) -> String {
    let mut text = String::new();
    for line in header.lines() {
        text.extend(["// ", line, "\n"]);
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

/// Prints an item that has items in it, with a blank line between any two of these.
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
