//! The types of the values that a schema accepts.

use std::{collections::BTreeSet, ptr};

use mcp_servlet_schema::{JsonObject, referenced};
use serde_json::{Number, Value};

use super::{Kinds, Known, MAX_JOINS, Member, ObjectType, Others, Type};

/// How many levels of a schema are looked at. References count, as schemas can refer to themselves.
const MAX_DEPTH: usize = 8;

/// How many parts of a schema are looked at.
const MAX_PARTS: usize = 1000;

/// Keywords that may describe members other than those in `properties`.
const OPEN: [&str; 11] = [
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "patternProperties",
    "dependencies",
    "dependentSchemas",
    "unevaluatedProperties",
];

/// Keywords that say something about values of one kind.
const STRUCTURE: [&str; 4] = ["properties", "required", "additionalProperties", "items"];

impl Type {
    /// The type of the values that a part of a schema accepts. References resolve within `root`.
    ///
    /// It reads `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, `anyOf`, `oneOf` and
    /// `$ref`, up to eight levels deep. Other keywords are ignored, so the type may accept more values than the schema.
    pub fn of_schema(root: &Value, part: &Value) -> Self {
        let mut walk = Walk::new(root);
        walk.part(part, MAX_DEPTH)
    }

    /// The type of a value.
    pub fn of_value(value: &Value) -> Self {
        let mut walk = Walk::new(&Value::Null);
        walk.value(value, MAX_DEPTH)
    }
}

struct Walk<'s> {
    root: &'s Value,
    /// How many parts may still be looked at.
    parts: usize,
    /// How many parts of types may still be joined.
    joins: usize,
}

impl<'s> Walk<'s> {
    fn new(root: &'s Value) -> Self {
        Self {
            root,
            parts: MAX_PARTS,
            joins: MAX_JOINS,
        }
    }

    /// The type of a part. `depth` is how many levels are left.
    fn part(&mut self, part: &'s Value, depth: usize) -> Type {
        let Value::Object(keywords) = part else {
            return match part {
                Value::Bool(false) => Type::never(),
                _ => Type::ANY,
            };
        };
        let (Some(parts), Some(depth)) = (self.parts.checked_sub(1), depth.checked_sub(1)) else {
            return Type::ANY;
        };
        self.parts = parts;
        // References in a part with its own URI begin elsewhere.
        if keywords.contains_key("$id") && !ptr::eq(part, self.root) {
            return Type::ANY;
        }
        if let Some(reference) = keywords.get("$ref") {
            return self.reference(reference, keywords, depth);
        }
        if let Some(value) = keywords.get("const") {
            return self.value(value, depth);
        }
        if let Some(values) = list(keywords, "enum") {
            let values = values.iter();
            return self.one_of(values, |walk, value| walk.value(value, depth));
        }
        if let Some(kinds) = keywords.get("type") {
            return self.of_kinds(kinds_of(kinds), keywords, depth);
        }
        let variants = |key| Some((key, list(keywords, key)?));
        if let Some((key, variants)) = variants("anyOf").or_else(|| variants("oneOf")) {
            let joined = self.one_of(variants.iter(), |walk, part| walk.part(part, depth));
            return joined.opened_by(keywords, key);
        }
        let has_structure = STRUCTURE.iter().any(|key| keywords.contains_key(*key));
        self.of_kinds(has_structure.then_some(Kinds::JSON), keywords, depth)
    }

    fn reference(&mut self, to: &Value, keywords: &JsonObject, depth: usize) -> Type {
        let target = to
            .as_str()
            .and_then(|to| referenced(self.root, to))
            .map_or(Type::ANY, |target| self.part(target, depth));
        target.opened_by(keywords, "$ref")
    }

    fn one_of<T>(
        &mut self,
        parts: impl Iterator<Item = T>,
        mut of: impl FnMut(&mut Self, T) -> Type,
    ) -> Type {
        let mut joined = Type::never();
        for part in parts {
            let part = of(self, part);
            joined = joined.join(&part, &mut self.joins);
        }
        joined
    }

    fn of_kinds(&mut self, kinds: Option<Kinds>, keywords: &'s JsonObject, depth: usize) -> Type {
        let Some(kinds) = kinds else {
            return Type::ANY;
        };
        let items = kinds.has(Kinds::LIST).then(|| self.items(keywords, depth));
        let object = kinds
            .has(Kinds::OBJECT)
            .then(|| self.object(keywords, depth));
        Type(Some(Known {
            kinds,
            items: items.map(Into::into),
            object: object.map(Into::into),
        }))
    }

    fn items(&mut self, keywords: &'s JsonObject, depth: usize) -> Type {
        match keywords.get("items") {
            // The first items have schemas of their own.
            Some(items) if !keywords.contains_key("prefixItems") => self.part(items, depth),
            _ => Type::ANY,
        }
    }

    fn object(&mut self, keywords: &'s JsonObject, depth: usize) -> ObjectType {
        let properties = keywords.get("properties").and_then(Value::as_object);
        let required: BTreeSet<_> = list(keywords, "required")
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut object = ObjectType::new(Vec::new(), others(keywords));
        let named = properties
            .into_iter()
            .flatten()
            .map(|(name, part)| (name.as_str(), Some(part)));
        let is_named = |name: &&str| properties.is_some_and(|all| all.contains_key(*name));
        let unnamed = required.iter().copied().filter(|name| !is_named(name));
        for (name, part) in named.chain(unnamed.map(|name| (name, None))) {
            if self.parts == 0 || object.members.len() == MAX_PARTS {
                object.others = Others::Any;
                break;
            }
            let member = Member {
                value: part.map_or(Type::ANY, |part| self.part(part, depth)),
                is_required: required.contains(name),
            };
            object.members.push((name.to_owned(), member));
        }
        object
    }

    /// The type of one value.
    fn value(&mut self, value: &'s Value, depth: usize) -> Type {
        let (Some(parts), Some(depth)) = (self.parts.checked_sub(1), depth.checked_sub(1)) else {
            return Type::ANY;
        };
        self.parts = parts;
        match value {
            Value::Null => Type::null(),
            Value::Bool(_) => Type::boolean(),
            Value::Number(number) if is_whole(number) => Type::integer(),
            Value::Number(_) => Type::number(),
            Value::String(_) => Type::string(),
            Value::Array(items) => {
                Type::list(self.one_of(items.iter(), |walk, item| walk.value(item, depth)))
            }
            Value::Object(members) => {
                let most = self.parts;
                let others = if members.len() > most {
                    Others::Any
                } else {
                    Others::None
                };
                let first = members.iter().take(most).map(|(name, value)| {
                    let value = self.value(value, depth);
                    let is_required = true;
                    (name.clone(), Member { value, is_required })
                });
                Type::of_object(ObjectType::new(first.collect(), others))
            }
        }
    }
}

impl Type {
    /// The type that one of the keywords gives, while others next to it may name more members.
    fn opened_by(mut self, keywords: &JsonObject, read: &str) -> Self {
        let mut others = OPEN.iter().filter(|key| **key != read);
        let is_opened =
            keywords.contains_key("properties") || others.any(|key| keywords.contains_key(*key));
        let object = self.0.as_mut().and_then(|known| known.object.as_mut());
        if let Some(object) = object.filter(|object| is_opened && object.others == Others::Unnamed)
        {
            *object = ObjectType::new(object.members.clone(), Others::Any).into();
        }
        self
    }
}

/// The kinds that the keyword `type` names.
fn kinds_of(names: &Value) -> Option<Kinds> {
    match names {
        Value::String(name) => Kinds::of_name(name),
        Value::Array(names) => names.iter().try_fold(Kinds::default(), |kinds, name| {
            Some(kinds.with(Kinds::of_name(name.as_str()?)?))
        }),
        _ => None,
    }
}

fn others(keywords: &JsonObject) -> Others {
    let has = |key: &str| keywords.contains_key(key);
    match keywords.get("additionalProperties") {
        Some(Value::Bool(false)) if !has("patternProperties") => Others::None,
        None if has("properties") && !OPEN.into_iter().any(has) => Others::Unnamed,
        _ => Others::Any,
    }
}

fn list<'s>(keywords: &'s JsonObject, key: &str) -> Option<&'s Vec<Value>> {
    keywords.get(key)?.as_array()
}

/// As in JSON Schema, 1.0 is a whole number.
fn is_whole(number: &Number) -> bool {
    let is_float = !number.is_i64() && !number.is_u64();
    !is_float || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}
