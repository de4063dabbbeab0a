//! Walks through a JSON Schema. What has no Rust type becomes any JSON, with a warning.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::forms::{self, Form};
use super::lower::{Lowering, Root, both};
use super::merge::merged;
use super::names::{member, ty, variant};
use crate::document::Scalar;
use crate::ir::{Field, Item, Kind, Names, Struct, Type, TypeDef, TypeId};
use crate::names::{Taken, type_source};

/// The deepest nesting of schemas. A stack of 2 MiB is enough for it.
const MAX_SCHEMA_DEPTH: usize = 40;
/// The most schemas in one root.
const MAX_SCHEMAS: usize = 10_000;
/// The longest text by which two schemas are found to be equal.
const MAX_COMPARED_BYTES: usize = 1 << 16;

/// Keywords that decide which values are valid, and that no Rust type expresses. Bounds, patterns and formats are not among
/// them: they only limit the values of a type, and nearly every schema has some.
pub(super) const LEFT_OUT: [&str; 12] = [
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "patternProperties",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

pub(super) const ANY: Item = Item {
    ty: Type::Any,
    nullable: true,
};

/// The members of a schema.
pub(super) type Members = Map<String, Value>;

/// The name of a type that a schema gets if it needs one.
#[derive(Clone, Debug)]
pub(super) enum Name {
    /// That of the root.
    Root(String),
    /// That of the type around it, and of the property.
    Inline(String),
    /// That of the definition, or if other types have it, the longer one.
    Definition(String, String),
}

impl Name {
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Root(path) | Self::Inline(path) | Self::Definition(path, _) => path,
        }
    }

    /// The name of a part.
    pub(super) fn part(&self, part: &str) -> Self {
        Self::Inline(format!("{}{part}", self.path()))
    }
}

/// A walk through the schema of a root.
pub(super) struct Walk<'l> {
    lowering: &'l mut Lowering,
    item: &'l str,
    root: &'l Value,
    root_pointer: &'static str,
    /// The name of the root. Equal inline schemas of one root share a type.
    scope: &'l str,
    /// The name of the root's type, until that is defined.
    claimed: Option<String>,
    depth: usize,
    nodes: usize,
    /// The references that have been followed since the last named type, to find cycles.
    open: Vec<String>,
}

impl<'l> Walk<'l> {
    pub(super) fn new(lowering: &'l mut Lowering, root: &'l Root<'_>) -> Self {
        Self {
            lowering,
            item: &root.item,
            root: root.schema,
            root_pointer: root.pointer,
            scope: &root.name,
            claimed: Some(root.name.clone()),
            depth: 0,
            nodes: 0,
            open: Vec::new(),
        }
    }

    fn warn(&mut self, at: &str, message: impl Into<String>) {
        self.lowering.warn(self.item, at.to_owned(), message.into());
    }

    /// Any JSON, because there is no type.
    pub(super) fn any(&mut self, at: &str, reason: &str) -> Item {
        self.warn(at, format!("is any JSON in Rust: {reason}"));
        ANY
    }

    /// The type of a schema.
    pub(super) fn item(&mut self, schema: &Value, at: &str, name: &Name) -> Item {
        self.nodes += 1;
        if self.depth >= MAX_SCHEMA_DEPTH {
            return self.any(at, "it is nested too deep");
        }
        if self.nodes > MAX_SCHEMAS {
            return self.any(at, "the schema is too large");
        }
        self.depth += 1;
        let item = match schema {
            Value::Object(members) => self.members(members, at, name),
            Value::Bool(_) => ANY,
            _ => self.any(at, "it is not a schema"),
        };
        self.depth -= 1;
        item
    }

    fn members(&mut self, members: &Members, at: &str, name: &Name) -> Item {
        self.warn_of_left_out(members, at);
        if let Some(reference) = members.get("$ref") {
            return self.reference(reference, at, name);
        }
        if let Some(all) = members.get("allOf") {
            for (index, part) in all.as_array().into_iter().flatten().enumerate() {
                if let Value::Object(part) = part {
                    self.warn_of_left_out(part, &format!("{at}/allOf/{index}"));
                }
            }
            let at_all = format!("{at}/allOf");
            return match merged(members, self.root) {
                Some(whole) => self.item(&whole.into(), at, name),
                None => self.any(&at_all, "its schemas cannot be merged into one"),
            };
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(found)) = members.get(keyword) else {
                continue;
            };
            let at = format!("{at}/{keyword}");
            if forms::are_rules(found) {
                self.warn(&at, "has no Rust type and is left out");
            } else if members.contains_key("properties") {
                return self.any(&at, "there are properties next to it");
            } else {
                let forms = found.iter().enumerate().map(|(index, schema)| {
                    Form::new(schema.clone(), format!("{at}/{index}"), self.root)
                });
                return self.forms(forms.collect(), members, &at, name);
            }
        }
        if let Some(values) = forms::values(members) {
            return self.values(&values, members, at, name);
        }
        let types = forms::types(members);
        if types.len() > 1 {
            let one = |ty: &str| {
                let mut members = members.clone();
                members.insert("type".to_owned(), ty.into());
                Form::new(members.into(), at.to_owned(), self.root)
            };
            let forms = types.iter().map(|ty| one(ty)).collect();
            return self.forms(forms, members, at, name);
        }
        let ty = match types.first().copied() {
            Some("string") => Type::Scalar(Scalar::String),
            Some("boolean") => Type::Scalar(Scalar::Boolean),
            Some("number") => Type::Scalar(Scalar::Double),
            Some("integer") => Type::Scalar(Scalar::Integer(width(members))),
            Some("array") => self.list(members, at, name),
            Some("object") => self.object(members, at, name, None),
            Some("null") | None => return ANY,
            Some(_) => return self.any(at, "JSON Schema has no such type"),
        };
        Item {
            ty,
            nullable: false,
        }
    }

    pub(super) fn warn_of_left_out(&mut self, members: &Members, at: &str) {
        for keyword in LEFT_OUT {
            let means_nothing = match keyword {
                // Without `if`, which has the warning.
                "then" | "else" => true,
                // Names are strings anyway; zod writes this for each map.
                "propertyNames" => members.get(keyword) == Some(&json!({ "type": "string" })),
                _ => false,
            };
            if members.contains_key(keyword) && !means_nothing {
                self.warn(
                    &format!("{at}/{keyword}"),
                    "has no Rust type and is left out",
                );
            }
        }
    }

    /// The type of what a reference refers to.
    fn reference(&mut self, reference: &Value, at: &str, name: &Name) -> Item {
        let at_reference = format!("{at}/$ref");
        let Some(pointer) = forms::local(reference) else {
            return self.any(&at_reference, "it does not refer to a part of this schema");
        };
        let root = self.root;
        let Some(target) = root.pointer(pointer) else {
            return self.any(&at_reference, "it refers to nothing");
        };
        if self.open.iter().any(|open| open == pointer) {
            return self.any(&at_reference, "it refers to itself");
        }
        let name = match pointer.rsplit_once('/') {
            Some(("/$defs" | "/definitions", definition)) => {
                let short = ty(&definition.replace("~1", "/").replace("~0", "~"));
                let long = format!("{}{short}", self.scope);
                Name::Definition(short, long)
            }
            Some(_) => name.clone(),
            None => Name::Root(self.scope.to_owned()),
        };
        self.open.push(pointer.to_owned());
        let at = format!("{}{pointer}", self.root_pointer);
        let item = self.item(target, &at, &name);
        self.open.pop();
        item
    }

    /// The type of a schema that lists its values.
    fn values(&mut self, values: &[&Value], members: &Members, at: &str, name: &Name) -> Item {
        let nullable = values.iter().any(|value| value.is_null());
        let values: Vec<_> = values.iter().filter(|value| !value.is_null()).collect();
        let texts: Option<Vec<&str>> = values.iter().map(|value| value.as_str()).collect();
        let all = |is: fn(&Value) -> bool| values.iter().all(|value| is(value));
        let ty = if values.is_empty() {
            return if nullable {
                ANY
            } else {
                self.any(at, "it allows no value")
            };
        } else if let Some(texts) = texts {
            self.enumerated(&texts, members, at, name)
        } else if all(Value::is_boolean) {
            Type::Scalar(Scalar::Boolean)
        } else if all(|value| value.is_i64() || value.is_u64()) {
            Type::Scalar(Scalar::Integer(width(members)))
        } else if all(Value::is_number) {
            Type::Scalar(Scalar::Double)
        } else {
            return self.any(at, "its values are of several types");
        };
        Item { ty, nullable }
    }

    /// An enum of strings, or a string if two of them would have one name.
    pub(super) fn enumerated(
        &mut self,
        texts: &[&str],
        members: &Members,
        at: &str,
        name: &Name,
    ) -> Type {
        let mut variants: Vec<Names> = Vec::new();
        for text in texts {
            if variants.iter().any(|variant| variant.wire == *text) {
                continue;
            }
            let rust = variant(text);
            let has_no_letters = rust == "X" && !text.eq_ignore_ascii_case("x");
            if has_no_letters || variants.iter().any(|variant| variant.rust == rust) {
                self.warn(
                    at,
                    format!("is a string in Rust: its value `{text}` has no name of its own"),
                );
                return Type::Scalar(Scalar::String);
            }
            variants.push(Names {
                wire: (*text).to_owned(),
                rust,
            });
        }
        self.define(members, at, name, None, |_, _| Kind::Enum(variants))
    }

    fn list(&mut self, members: &Members, at: &str, name: &Name) -> Type {
        let tuple = ["prefixItems", "items"]
            .into_iter()
            .find(|key| members.get(*key).is_some_and(Value::is_array));
        let item = if let Some(key) = tuple {
            self.warn(
                &format!("{at}/{key}"),
                "has no Rust type: the items are any JSON",
            );
            ANY
        } else if let Some(items) = members.get("items") {
            self.item(items, &format!("{at}/items"), &name.part("Item"))
        } else {
            ANY
        };
        Type::List(Box::new(item))
    }

    /// The type of an object: a struct, or a map if it has no properties. `tag` is the property that a union around it has.
    pub(super) fn object(
        &mut self,
        members: &Members,
        at: &str,
        name: &Name,
        tag: Option<&str>,
    ) -> Type {
        let empty = Map::new();
        let properties = match members.get("properties") {
            Some(Value::Object(properties)) => properties,
            _ => &empty,
        };
        let required: BTreeSet<&str> = members
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .filter(|name| Some(*name) != tag)
            .collect();
        let extra = match members.get("additionalProperties") {
            None | Some(Value::Bool(false)) => None,
            Some(extra) => Some(extra),
        };
        let has_fields = !properties.is_empty() || !required.is_empty();
        if !has_fields && tag.is_none() {
            return match extra {
                Some(extra) => {
                    let at = format!("{at}/additionalProperties");
                    let values = self.item(extra, &at, &name.part("Value"));
                    if values.ty == Type::Any {
                        Type::FreeForm
                    } else {
                        Type::Map(Box::new(values))
                    }
                }
                None => Type::FreeForm,
            };
        }
        self.define(members, at, name, tag, |walk, name| {
            let fields = walk.fields(properties, &required, tag, at, name);
            let extra = extra.map(|extra| {
                let at = format!("{at}/additionalProperties");
                let values = walk.item(extra, &at, &name.part("Value"));
                let mut taken = Taken::default();
                for field in &fields {
                    taken.take(&field.name.rust);
                }
                (taken.take_member("extra"), values)
            });
            Kind::Struct(Struct { fields, extra })
        })
    }

    /// The fields of the properties, and of the required properties that have no schema.
    fn fields(
        &mut self,
        properties: &Members,
        required: &BTreeSet<&str>,
        tag: Option<&str>,
        at: &str,
        name: &Name,
    ) -> Vec<Field> {
        let mut taken = Taken::default();
        let mut fields = Vec::new();
        let unlisted = required
            .iter()
            .filter(|name| !properties.contains_key(**name));
        let any = Value::Bool(true);
        let all = properties
            .iter()
            .map(|(name, schema)| (name.as_str(), schema));
        for (property, schema) in all.chain(unlisted.map(|name| (*name, &any))) {
            // A property whose schema is `false` is never there.
            if Some(property) == tag || *schema == Value::Bool(false) {
                continue;
            }
            let escaped = property.replace('~', "~0").replace('/', "~1");
            let at = format!("{at}/properties/{escaped}");
            let value = self.item(schema, &at, &name.part(&ty(property)));
            fields.push(Field {
                name: Names {
                    wire: property.to_owned(),
                    rust: taken.take_member(&member(property)),
                },
                docs: text(schema.get("description")),
                required: required.contains(property),
                value,
            });
        }
        fields
    }

    /// Defines the type of a schema, or finds the one that an equal schema has.
    pub(super) fn define(
        &mut self,
        members: &Members,
        at: &str,
        name: &Name,
        tag: Option<&str>,
        kind: impl FnOnce(&mut Self, &Name) -> Kind,
    ) -> Type {
        let key = self.key(members, at, name, tag);
        if let Some(id) = self.lowering.known.get(&key) {
            return Type::Named(*id);
        }
        let id = TypeId(self.lowering.types.len());
        self.lowering.known.insert(key, id);
        self.lowering.types.push(None);
        self.lowering.order.push(id);
        let taken = &mut self.lowering.taken;
        let path = match name {
            Name::Root(name) => self.claimed.take().unwrap_or_else(|| taken.take(name)),
            Name::Definition(short, long) if taken.has(short) => taken.take(long),
            Name::Definition(name, _) | Name::Inline(name) => taken.take(name),
        };
        let open = std::mem::take(&mut self.open);
        let rust = type_source(&path);
        let kind = kind(self, &Name::Inline(path));
        self.open = open;
        self.lowering.types[id.0] = Some(TypeDef {
            name: both(rust),
            docs: text(members.get("description")),
            kind,
        });
        Type::Named(id)
    }

    /// By what an equal schema is found: a definition by its name and everything that it refers to, in the whole client; any
    /// other schema by its text, in this root.
    fn key(&self, members: &Members, at: &str, name: &Name, tag: Option<&str>) -> String {
        let tag = tag.unwrap_or_default();
        let (place, text) = if let Name::Definition(name, _) = name {
            let text = forms::closure(members, self.root, MAX_COMPARED_BYTES);
            (format!("definition {name}"), text)
        } else {
            let text = Value::from(members.clone()).to_string();
            let is_short = text.len() <= MAX_COMPARED_BYTES;
            (format!("in {}", self.scope), is_short.then_some(text))
        };
        match text {
            Some(text) => format!("{place} {tag:?} {text}"),
            None => format!("in {} {tag:?} at {at}", self.scope),
        }
    }
}

/// The Rust type of an integer.
fn width(members: &Members) -> &'static str {
    let known = [
        ("uint8", "u8"),
        ("int8", "i8"),
        ("uint16", "u16"),
        ("int16", "i16"),
        ("uint32", "u32"),
        ("int32", "i32"),
        ("uint64", "u64"),
        ("int64", "i64"),
    ];
    let format = members.get("format").and_then(Value::as_str);
    let known = known.iter().find(|(name, _)| Some(*name) == format);
    let minimum = members.get("minimum").and_then(Value::as_f64);
    match known {
        Some((_, width)) => width,
        None if minimum.is_some_and(|minimum| minimum >= 0.0) => "u64",
        None => "i64",
    }
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}
