//! Where a JSON Schema has other schemas.

use serde_json::Value;

use crate::JsonObject;

/// The schemas in the value of a keyword.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// A schema, or a list of them.
    Schemas,
    /// Schemas by name.
    Named,
    /// Schemas by name that only apply where something refers to them.
    Definitions,
}

/// The schemas in the value of this keyword, in any dialect. `None` if it has none.
pub(super) fn holds(keyword: &str) -> Option<Holds> {
    Some(match keyword {
        "additionalItems"
        | "additionalProperties"
        | "allOf"
        | "anyOf"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "items"
        | "not"
        | "oneOf"
        | "prefixItems"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Holds::Schemas,
        "dependencies" | "dependentSchemas" | "patternProperties" | "properties" => Holds::Named,
        "$defs" | "definitions" => Holds::Definitions,
        _ => return None,
    })
}

/// Visits a schema and the schemas within it, each before those within it.
///
/// # Errors
/// The first error of a visit.
pub(super) fn walk(
    schema: &mut Value,
    visit: &mut impl FnMut(&mut JsonObject) -> Result<(), String>,
) -> Result<(), String> {
    let Value::Object(schema) = schema else {
        return Ok(());
    };
    visit(schema)?;
    for (keyword, value) in schema.iter_mut() {
        match (holds(keyword), value) {
            (Some(Holds::Schemas), Value::Array(list)) => {
                list.iter_mut().try_for_each(|part| walk(part, visit))?;
            }
            (Some(Holds::Schemas), part) => walk(part, visit)?,
            (Some(_), Value::Object(named)) => {
                named.values_mut().try_for_each(|part| walk(part, visit))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The place of a schema in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It applies there.
    Applied,
    /// It only applies where something refers to it.
    Definition,
}

/// Where a JSON pointer leads; `None` if not to a schema.
pub(super) fn place(root: &Value, pointer: &str) -> Option<Place> {
    root.pointer(pointer)?;
    let mut tokens = pointer.split('/').skip(1);
    let mut value = root;
    let mut place = Place::Applied;
    while let Some(keyword) = tokens.next() {
        let kind = holds(keyword)?;
        value = value.get(keyword)?;
        place = match kind {
            Holds::Definitions => Place::Definition,
            Holds::Schemas | Holds::Named => Place::Applied,
        };
        if kind != Holds::Schemas || value.is_array() {
            value = value.pointer(&format!("/{}", tokens.next()?))?;
        }
    }
    (value.is_object() || value.is_boolean()).then_some(place)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_schemas_have_a_place() {
        let root = json!({
            "properties": { "definitions": { "items": {} }, "a/b": { "allOf": [true] } },
            "$defs": { "x": { "not": {} } },
            "x-defs": { "y": {} },
            "items": [{}],
            "dependencies": { "a": ["b"] },
            "enum": [{}],
        });
        for (pointer, expected) in [
            ("", Some(Place::Applied)),
            ("/properties/definitions", Some(Place::Applied)),
            ("/properties/definitions/items", Some(Place::Applied)),
            ("/properties/a~1b/allOf/0", Some(Place::Applied)),
            ("/$defs/x", Some(Place::Definition)),
            ("/$defs/x/not", Some(Place::Applied)),
            ("/items/0", Some(Place::Applied)),
            ("/items", None),
            ("/properties", None),
            ("/$defs", None),
            ("/x-defs/y", None),
            ("/dependencies/a", None),
            ("/enum/0", None),
            ("/properties/none", None),
        ] {
            assert_eq!(place(&root, pointer), expected, "{pointer}");
        }
    }
}
