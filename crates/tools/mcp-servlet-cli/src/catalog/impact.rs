//! What a difference between two catalogs means for clients.

use mcp_catalog::ItemKind;
use serde_json::Value;

/// The meaning of a difference. Differences that cannot be decided are breaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Impact {
    /// A client that worked may fail.
    Breaking,
    /// Models and people read something else.
    Text,
    /// Clients that worked still do.
    Compatible,
    /// Icons, sizes, versions and `_meta`.
    Note,
}

/// Which way the values of a schema go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// To the server, which may allow more.
    Input,
    /// To the client, which may get less.
    Output,
}

/// How a keyword of a schema changes the values that the schema allows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Wider,
    Narrower,
    Unknown,
}

/// A hint, its default, and the value that clients rely on.
const HINTS: [(&str, bool, bool); 3] = [
    ("readOnlyHint", false, true),
    ("destructiveHint", true, false),
    ("idempotentHint", false, true),
];

impl Impact {
    /// The word for it in JSON.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Text => "text",
            Self::Compatible => "compatible",
            Self::Note => "note",
        }
    }

    /// The impact of a value that differs, at a JSON pointer into an item, or into the server.
    pub(super) fn of(
        kind: Option<ItemKind>,
        pointer: &str,
        before: Option<&Value>,
        after: Option<&Value>,
    ) -> Self {
        let path: Vec<_> = pointer.split('/').skip(1).collect();
        match kind {
            None => of_server(&path, before),
            Some(kind) => of_item(kind, &path, before, after),
        }
    }
}

fn of_server(path: &[&str], before: Option<&Value>) -> Impact {
    match path {
        ["instructions"] => Impact::Text,
        ["info", ..] => Impact::Note,
        ["capabilities", _, ..] if before.is_none() => Impact::Compatible,
        _ => Impact::Breaking,
    }
}

fn of_item(kind: ItemKind, path: &[&str], before: Option<&Value>, after: Option<&Value>) -> Impact {
    let is_named_by_uri = matches!(kind, ItemKind::Resource | ItemKind::ResourceTemplate);
    match path {
        [] | ["detail", "output"] if before.is_none() => Impact::Compatible,
        ["title" | "description"] => Impact::Text,
        ["name"] if is_named_by_uri => Impact::Text,
        ["meta", "icons" | "_meta", ..] | ["detail", "size"] => Impact::Note,
        ["meta", "annotations"] => of_annotations(|name, value| value?.get(name), before, after),
        ["meta", "annotations", changed] => of_annotations(
            |name, value| value.filter(|_| name == *changed),
            before,
            after,
        ),
        ["detail", "input", "json", rest @ ..] => of_schema(Direction::Input, rest, before, after),
        ["detail", "output", "json", rest @ ..] => {
            of_schema(Direction::Output, rest, before, after)
        }
        _ => Impact::Breaking,
    }
}

/// The impact of changed annotations. `hint` finds the value of a hint before or after.
fn of_annotations<'a>(
    hint: impl Fn(&str, Option<&'a Value>) -> Option<&'a Value>,
    before: Option<&'a Value>,
    after: Option<&'a Value>,
) -> Impact {
    let breaks = HINTS.iter().any(|(name, default, relied_on)| {
        let value = |whole| hint(name, whole).and_then(Value::as_bool);
        let (before, after) = (value(before), value(after));
        before.unwrap_or(*default) == *relied_on && after.unwrap_or(*default) != *relied_on
    });
    if breaks {
        Impact::Breaking
    } else {
        Impact::Text
    }
}

fn of_schema(
    direction: Direction,
    path: &[&str],
    before: Option<&Value>,
    after: Option<&Value>,
) -> Impact {
    match path {
        ["title" | "description" | "examples" | "default" | "$comment" | "deprecated"] => {
            Impact::Text
        }
        // `required` says whether an argument must be there.
        ["properties"] | ["properties", _] if before.is_none() => Impact::Compatible,
        ["properties", _, rest @ ..] | ["items", rest @ ..] if !rest.is_empty() => {
            of_schema(direction, rest, before, after)
        }
        [keyword] => match (direction, extent(keyword, before, after)) {
            (Direction::Input, Extent::Wider) | (Direction::Output, Extent::Narrower) => {
                Impact::Compatible
            }
            _ => Impact::Breaking,
        },
        _ => Impact::Breaking,
    }
}

fn extent(keyword: &str, before: Option<&Value>, after: Option<&Value>) -> Extent {
    match keyword {
        "type" | "enum" => listed(before, after),
        // The other way round: more names allow fewer values.
        "required" => listed(after.or(Some(&NONE)), before.or(Some(&NONE))),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            bound(before, after, |before, after| after < before)
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            bound(before, after, |before, after| after > before)
        }
        _ => Extent::Unknown,
    }
}

/// No names in `required`.
static NONE: Value = Value::Array(Vec::new());

/// A list of what is allowed. Without it, everything is.
fn listed(before: Option<&Value>, after: Option<&Value>) -> Extent {
    let (before, after) = match (before, after) {
        (None, _) => return Extent::Narrower,
        (_, None) => return Extent::Wider,
        (Some(before), Some(after)) => (items(before), items(after)),
    };
    let has_all = |whole: &[Value], part: &[Value]| part.iter().all(|one| whole.contains(one));
    match (has_all(after, before), has_all(before, after)) {
        (true, _) => Extent::Wider,
        (false, true) => Extent::Narrower,
        (false, false) => Extent::Unknown,
    }
}

fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        one => std::slice::from_ref(one),
    }
}

fn bound(
    before: Option<&Value>,
    after: Option<&Value>,
    is_wider: impl Fn(f64, f64) -> bool,
) -> Extent {
    match (before, after) {
        (None, _) => Extent::Narrower,
        (_, None) => Extent::Wider,
        (Some(before), Some(after)) => match (before.as_f64(), after.as_f64()) {
            (Some(before), Some(after)) if is_wider(before, after) => Extent::Wider,
            (Some(_), Some(_)) => Extent::Narrower,
            _ => Extent::Unknown,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(pointer: &str, before: Value, after: Value) -> &'static str {
        let value = |value: Value| Some(value).filter(|value| !value.is_null());
        let (before, after) = (value(before), value(after));
        let kind = Some(ItemKind::Tool);
        Impact::of(kind, pointer, before.as_ref(), after.as_ref()).code()
    }

    #[test]
    fn what_clients_rely_on_is_breaking() {
        for (pointer, before, after, expected) in [
            ("", json!(null), json!({}), "compatible"),
            ("", json!({}), json!(null), "breaking"),
            ("/description", json!("a"), json!("b"), "text"),
            ("/meta/_meta/a", json!(1), json!(2), "note"),
            ("/sha256", json!("a"), json!("b"), "breaking"),
            ("/extra/execution", json!(null), json!({}), "breaking"),
            ("/detail/output", json!(null), json!({}), "compatible"),
            ("/detail/output", json!({}), json!(null), "breaking"),
            ("/detail/input/error", json!(null), json!("x"), "breaking"),
        ] {
            assert_eq!(tool(pointer, before, after), expected, "{pointer}");
        }
    }

    #[test]
    fn hints_count_with_their_defaults() {
        for (pointer, before, after, expected) in [
            ("/readOnlyHint", json!(true), json!(null), "breaking"),
            ("/readOnlyHint", json!(null), json!(true), "text"),
            ("/destructiveHint", json!(false), json!(null), "breaking"),
            ("/destructiveHint", json!(null), json!(true), "text"),
            ("/openWorldHint", json!(true), json!(false), "text"),
            ("", json!({ "readOnlyHint": true }), json!(null), "breaking"),
            ("", json!(null), json!({ "title": "a" }), "text"),
        ] {
            let pointer = format!("/meta/annotations{pointer}");
            assert_eq!(tool(&pointer, before, after), expected, "{pointer}");
        }
    }

    /// What a change of a schema means for the arguments of a tool, and for its results.
    type Verdicts = (&'static str, &'static str);
    const ADDED: Verdicts = ("compatible", "compatible");
    const WIDER: Verdicts = ("compatible", "breaking");
    const NARROWER: Verdicts = ("breaking", "compatible");
    const OTHER: Verdicts = ("breaking", "breaking");
    const TEXT: Verdicts = ("text", "text");

    #[test]
    fn inputs_may_get_wider_and_outputs_narrower() {
        for (pointer, before, after, (input, output)) in [
            ("/properties/a", json!(null), json!({}), ADDED),
            ("/properties/a", json!({}), json!(null), OTHER),
            ("/required", json!(["a"]), json!(["a", "b"]), NARROWER),
            ("/required", json!(["a"]), json!(null), WIDER),
            ("/required", json!(null), json!(["a"]), NARROWER),
            ("/properties/a/enum", json!([1]), json!([1, 2]), WIDER),
            ("/properties/a/enum", json!([1]), json!([2]), OTHER),
            (
                "/properties/a/type",
                json!("string"),
                json!(["string", "null"]),
                WIDER,
            ),
            ("/items/minimum", json!(1), json!(2), NARROWER),
            ("/items/maximum", json!(1), json!(null), WIDER),
            ("/properties/type/title", json!("a"), json!("b"), TEXT),
            ("/properties/a/pattern", json!("a"), json!("b"), OTHER),
            ("/anyOf", json!([1]), json!([2]), OTHER),
            ("", json!({}), json!(true), OTHER),
        ] {
            for (place, expected) in [("input", input), ("output", output)] {
                let pointer = format!("/detail/{place}/json{pointer}");
                let got = tool(&pointer, before.clone(), after.clone());
                assert_eq!(got, expected, "{pointer}");
            }
        }
    }
}
