//! Members of objects in the document.

use serde_json::Value;

use crate::catalog::Item;

/// The members that have a value.
pub(super) fn present<const COUNT: usize>(
    members: [(&'static str, Option<Value>); COUNT],
) -> impl Iterator<Item = (String, Value)> {
    let present = |(name, value): (&str, Option<Value>)| Some((name.to_owned(), value?));
    members.into_iter().filter_map(present)
}

pub(super) fn text(text: Option<&str>) -> Option<Value> {
    text.map(Value::from)
}

/// The members of an item that OpenAPI has no place for.
pub(super) fn extensions(item: &Item) -> impl Iterator<Item = (String, Value)> {
    let extra = Some(&item.extra).filter(|extra| !extra.is_empty());
    present([
        ("x-mcp-icons", item.meta.icons.clone().map(Value::from)),
        (
            "x-mcp-annotations",
            item.meta.annotations.clone().map(Value::from),
        ),
        ("x-mcp-meta", item.meta.meta.clone().map(Value::from)),
        ("x-mcp-extra", extra.cloned().map(Value::from)),
    ])
}
