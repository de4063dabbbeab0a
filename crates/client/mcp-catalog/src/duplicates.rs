//! Objects with two members of one name. RFC 8259 leaves to each program which of them counts.

use std::{collections::HashSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::finding::{Findings, below};

/// Finds repeated names in a JSON text. `pointer` is where the text is.
pub(crate) fn find(text: &str, pointer: &mut String, found: &mut Findings) {
    // Scalars are common and have no members.
    if text.starts_with(['{', '[']) {
        let mut text = serde_json::Deserializer::from_str(text);
        // Texts that cannot be read are reported elsewhere.
        let _ = Search { pointer, found }.deserialize(&mut text);
    }
}

/// The JSON pointer of the first member whose name occurs twice in its object, in a JSON text or in the part of it before a mistake.
/// Programs differ in which of the two values counts.
///
/// ```
/// let text = r#"{ "user": { "name": "Ann", "name": "Bob" } }"#;
/// assert_eq!(mcp_catalog::repeated_member(text).as_deref(), Some("/user/name"));
/// ```
pub fn repeated_member(text: &str) -> Option<String> {
    let mut found = Findings::default();
    find(text.trim_start(), &mut String::new(), &mut found);
    found.into_first().map(|found| found.pointer)
}

/// Walks through a value without keeping it.
struct Search<'a> {
    pointer: &'a mut String,
    found: &'a mut Findings,
}

impl Search<'_> {
    fn member<T>(&mut self, name: &str, visit: impl FnOnce(Search<'_>) -> T) -> T {
        let found = &mut *self.found;
        below(self.pointer, name, |pointer| {
            visit(Search { pointer, found })
        })
    }
}

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            self.member(&name, |search| {
                if names.contains(&name) {
                    search.found.add(search.pointer, || format!("`{name}`"));
                }
                map.next_value_seed(search)
            })?;
            names.insert(name);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        for index in 0.. {
            let item = self.member(&index.to_string(), |search| items.next_element_seed(search));
            if item?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::finding::first;

    #[test]
    fn finds_repeated_names_at_every_level() {
        let found = first(
            find,
            r#"[1, {"a/b": {"c": null, "d": -1.5, "c": "e", "\u0063": true}}]"#,
        )
        .expect("a repeated name");
        assert_eq!(found.pointer, "/x/1/a~1b/c");
        assert_eq!(found.what, "`c`, and in 1 other place");
    }

    #[test]
    fn one_name_in_several_objects_is_not_repeated() {
        for text in [
            r#"[{"a": {"a": 1}}, {"a": [{"a": 1}]}]"#,
            "{}",
            "7",
            "{ not JSON",
        ] {
            assert_eq!(first(find, text), None, "{text}");
        }
    }
}
