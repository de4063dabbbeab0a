//! Lists of names in messages.

use std::fmt::Display;

/// Names in backticks, separated by commas.
pub fn quoted(names: impl IntoIterator<Item = impl Display>) -> String {
    let names = names.into_iter().map(|name| format!("`{name}`"));
    names.collect::<Vec<_>>().join(", ")
}
