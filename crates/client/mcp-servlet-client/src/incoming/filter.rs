//! Mends the members of an object, in one pass over its text.

use std::fmt;

use mcp_servlet_common::shape::{Object, Shape};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::Mended;

/// The text of a value of this shape, with what is null or an empty array where MCP has something else mended. None if there
/// is nothing to mend: then the text stays as the server wrote it.
pub(super) fn mend(text: &str, shape: &Shape, mended: &mut Mended) -> Option<String> {
    if is_plain(text, shape) {
        return None;
    }
    let mut out = Out {
        text: String::with_capacity(text.len()),
        path: Vec::new(),
        mended: Mended::default(),
    };
    let mut json = serde_json::Deserializer::from_str(text);
    let filter = Filter::new(shape, &mut out);
    // Text that nests too deep is not changed.
    if filter.deserialize(&mut json).is_err() || out.mended.is_empty() {
        return None;
    }
    mended.append(out.mended);
    Some(out.text)
}

/// Whether there is certainly nothing to mend: what most servers send is not read once more.
fn is_plain(text: &str, shape: &Shape) -> bool {
    let (Shape::Object(object) | Shape::Capability(object)) = shape else {
        return false;
    };
    let begins_with = |name: &str| {
        text.strip_prefix("{\"")
            .and_then(|rest| rest.strip_prefix(name))
            .and_then(|rest| rest.strip_prefix("\":"))
            .is_some_and(|rest| rest.trim_start().starts_with('['))
    };
    let has_lists = match object.lists {
        [] => true,
        [(name, _)] => begins_with(name),
        _ => false,
    };
    let has_scalar = object.nested.iter().any(|(name, shape)| {
        let is_checked = matches!(
            shape,
            Shape::Milliseconds | Shape::CacheScope | Shape::Cursor
        );
        is_checked && text.contains(name)
    });
    let odd = ["null", "[]", "{}"];
    has_lists && !has_scalar && !odd.iter().any(|odd| text.contains(odd))
}

/// What has been written, and where the filter is.
struct Out {
    text: String,
    path: Vec<&'static str>,
    mended: Mended,
}

impl Out {
    fn note(&mut self, what: &'static str) {
        let at = self.path.join("/");
        self.mended.add(what, &at);
    }
}

/// How a value was written.
#[derive(Clone, Copy, PartialEq)]
enum Written {
    Kept,
    /// It is null.
    Null,
    /// It means that there is nothing.
    Nothing,
}

/// Writes a value of a shape.
struct Filter<'s, 'o> {
    shape: &'s Shape,
    /// Whether it is an item of a list. An empty array there is a wrong entry rather than an empty object.
    is_item: bool,
    out: &'o mut Out,
}

impl<'s, 'o> Filter<'s, 'o> {
    fn new(shape: &'s Shape, out: &'o mut Out) -> Self {
        Self {
            shape,
            is_item: false,
            out,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Filter<'_, '_> {
    type Value = Written;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Written, D::Error> {
        let is_wanted: fn(&str) -> bool = match self.shape {
            Shape::Object(_)
            | Shape::List(_)
            | Shape::OneOrMore(_)
            | Shape::Map(_)
            | Shape::Capability(_) => return json.deserialize_any(self),
            Shape::Value => |_| true,
            Shape::Milliseconds => |text| text.parse::<u64>().is_ok(),
            Shape::CacheScope => |text| matches!(text, "\"public\"" | "\"private\""),
            Shape::Cursor => |text| text.starts_with('"'),
        };
        let text = <&RawValue as serde::Deserialize>::deserialize(json)?.get();
        self.out.text.push_str(text);
        Ok(match text {
            "null" => Written::Null,
            text if is_wanted(text) => Written::Kept,
            _ => {
                self.out.note(match self.shape {
                    Shape::Cursor => "is not a string, so the list may be incomplete; left out",
                    _ => "has no value that MCP knows; left out",
                });
                Written::Nothing
            }
        })
    }
}

impl<'de> Visitor<'de> for Filter<'_, '_> {
    type Value = Written;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<Written, A::Error> {
        if let Shape::OneOrMore(one) = self.shape {
            self.shape = one;
        }
        let start = self.out.text.len();
        self.out.text.push('{');
        match self.shape {
            Shape::Object(object) | Shape::Capability(object) => members(object, map, self.out)?,
            Shape::Map(shape) => named(shape, map, self.out)?,
            _ => named(&Shape::Value, map, self.out)?,
        }
        self.out.text.push('}');
        if matches!(self.shape, Shape::List(_)) && self.out.text.len() == start + "{}".len() {
            self.out.text.truncate(start);
            self.out.text.push_str("[]");
            self.out
                .note("is `{}` where MCP has an array; taken as `[]`");
        }
        Ok(Written::Kept)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Written, A::Error> {
        let (shape, is_list) = match self.shape {
            Shape::List(shape) | Shape::OneOrMore(shape) => (*shape, true),
            // An object that must have a list is never empty.
            Shape::Object(Object { lists: [_, ..], .. }) => (&Shape::Value, true),
            _ => (&Shape::Value, false),
        };
        let start = self.out.text.len();
        self.out.text.push('[');
        self.out.path.push("*");
        loop {
            let end = self.out.text.len();
            if end > start + 1 {
                self.out.text.push(',');
            }
            let mut item = Filter::new(shape, self.out);
            item.is_item = true;
            if items.next_element_seed(item)?.is_none() {
                self.out.text.truncate(end);
                break;
            }
        }
        self.out.path.pop();
        self.out.text.push(']');
        if !is_list && !self.is_item && self.out.text.len() == start + "[]".len() {
            self.out.text.truncate(start);
            self.out.text.push_str("{}");
            self.out
                .note("is `[]` where MCP has an object; taken as `{}`");
        }
        Ok(Written::Kept)
    }

    fn visit_unit<E>(self) -> Result<Written, E> {
        self.out.text.push_str("null");
        Ok(Written::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Written, E> {
        let is_capability = matches!(self.shape, Shape::Capability(_));
        let (text, written) = match value {
            true if is_capability => ("{}", Written::Kept),
            false if is_capability => ("false", Written::Nothing),
            true => ("true", Written::Kept),
            false => ("false", Written::Kept),
        };
        self.out.text.push_str(text);
        if is_capability {
            self.out.note("is a boolean where MCP has an object");
        }
        Ok(written)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Written, E> {
        Ok(self.scalar(&value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Written, E> {
        Ok(self.scalar(&value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Written, E> {
        Ok(self.scalar(&value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Written, E> {
        Ok(self.scalar(&value))
    }
}

impl Filter<'_, '_> {
    /// Writes a value with another form than its shape. The code that reads the value reports the error.
    fn scalar(self, value: &impl serde::Serialize) -> Written {
        let text = serde_json::to_string(value).unwrap_or_default();
        self.out.text.push_str(&text);
        Written::Kept
    }
}

/// Writes the members of an object that MCP knows.
fn members<'de, A: MapAccess<'de>>(
    object: &Object,
    mut map: A,
    out: &mut Out,
) -> Result<(), A::Error> {
    let start = out.text.len();
    let mut missing: Vec<_> = object.lists.iter().collect();
    while let Some(name) = map.next_key::<String>()? {
        let end = name_of_member(&name, start, out);
        let find = |members: &'static [(&'static str, &'static Shape)]| {
            members.iter().copied().find(|(known, _)| *known == name)
        };
        let optional = object
            .optional
            .iter()
            .find(|known| **known == name)
            .map(|name| (*name, &Shape::Value))
            .or_else(|| find(object.nested));
        let list = find(object.lists);
        missing.retain(|(known, _)| *known != name);
        let Some((known, shape)) = optional.or(list).or_else(|| find(object.required)) else {
            map.next_value_seed(Filter::new(&Shape::Value, out))?;
            continue;
        };
        out.path.push(known);
        let written = map.next_value_seed(Filter::new(shape, out))?;
        match written {
            Written::Null if optional.is_some() => {
                out.text.truncate(end);
                out.note("is null; taken as absent");
            }
            Written::Null if list.is_some() => {
                out.text.truncate(out.text.len() - "null".len());
                out.text.push_str("[]");
                out.note("is null; taken as `[]`");
            }
            Written::Nothing => out.text.truncate(end),
            Written::Null | Written::Kept => {}
        }
        out.path.pop();
    }
    for (name, _) in missing {
        name_of_member(name, start, out);
        out.text.push_str("[]");
        out.path.push(name);
        out.note("is missing; taken as `[]`");
        out.path.pop();
    }
    Ok(())
}

/// Writes members with any names.
fn named<'de, A: MapAccess<'de>>(shape: &Shape, mut map: A, out: &mut Out) -> Result<(), A::Error> {
    let start = out.text.len();
    out.path.push("*");
    while let Some(name) = map.next_key::<String>()? {
        let end = name_of_member(&name, start, out);
        let written = map.next_value_seed(Filter::new(shape, out))?;
        let is_nothing = match written {
            Written::Kept => false,
            Written::Null => matches!(shape, Shape::Capability(_)),
            Written::Nothing => true,
        };
        if is_nothing {
            out.text.truncate(end);
        }
    }
    out.path.pop();
    Ok(())
}

/// Writes the name of a member. Returns where the text ended before it. `start` is the start of the first member.
fn name_of_member(name: &str, start: usize, out: &mut Out) -> usize {
    let end = out.text.len();
    if end > start {
        out.text.push(',');
    }
    let name = serde_json::to_string(name).unwrap_or_default();
    out.text.push_str(&name);
    out.text.push(':');
    end
}
