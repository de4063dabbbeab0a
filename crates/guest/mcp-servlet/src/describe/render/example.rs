//! Arguments that match a schema, as an example for the model, in `const` evaluation.

use super::Side;
use super::json::Text;
use crate::schema::text::{first_item, has_member, has_text, value_of};
use crate::schema::{Kind, Node, Object, Property};

impl<const N: usize> Text<N> {
    /// Appends a value that matches the schema. Returns `false` if no such value is known; the appended text is then invalid.
    pub(super) const fn example(&mut self, node: &Node) -> bool {
        if !node.example.is_empty() {
            self.raw(node.example);
            return true;
        }
        match node.kind {
            Kind::Any | Kind::Boolean => self.raw("true"),
            Kind::Null => self.raw("null"),
            Kind::Integer { min, max } => match (min, max) {
                (Some(min), _) if min > 1 => self.number(min),
                (_, Some(max)) if max < 1 => self.number(max),
                _ => self.raw("1"),
            },
            Kind::Number => self.raw("1.5"),
            Kind::String { format, parsed } => match text(format) {
                Some(json) => self.raw(json),
                None if parsed || !format.is_empty() => return false,
                None => self.raw(TEXT),
            },
            Kind::Character => self.string("x"),
            Kind::Enum { values, .. } => match values {
                [first, ..] => self.string(first),
                [] => return false,
            },
            Kind::Array { items, count, .. } => return self.array_example(items, count),
            Kind::Map { keys, values, .. } => {
                self.byte(b'{');
                let known = self.key_example(keys);
                self.byte(b':');
                let known = self.example(values) && known;
                self.byte(b'}');
                return known;
            }
            Kind::Object(ref object) => return self.object_example(object, true),
            Kind::AnyOf { variants, .. } => match variants {
                [first, ..] => return self.example(first),
                [] => return false,
            },
            Kind::Raw(json) => return self.raw_example(json),
            // The schema is only known when the servlet describes itself.
            Kind::Generated(_) => return false,
        }
        true
    }

    const fn array_example(&mut self, items: &Node, count: Option<usize>) -> bool {
        let count = match count {
            Some(count) => count,
            None => 1,
        };
        let (mut at, mut known) = (0, true);
        self.byte(b'[');
        while at < count {
            self.separate();
            known = self.example(items) && known;
            at += 1;
        }
        self.byte(b']');
        known
    }

    /// Arguments of a tool, with a value for each property.
    pub(super) const fn arguments_example(&mut self, node: &Node) -> bool {
        match node.kind {
            Kind::Object(ref object) => self.object_example(object, false),
            _ => self.example(node),
        }
    }

    const fn object_example(&mut self, object: &Object, needed: bool) -> bool {
        self.byte(b'{');
        let known = self.members_example(object, needed, object.partial);
        self.byte(b'}');
        known
    }

    const fn members_example(&mut self, object: &Object, needed: bool, partial: bool) -> bool {
        let (mut at, mut known) = (0, true);
        while at < object.properties.len() {
            let property = &object.properties[at];
            let wanted = !needed || (property.is_required() && !partial);
            if property.is_on(Side::Input) && wanted {
                self.key(property.name);
                known = self.property_example(property) && known;
            }
            at += 1;
        }
        at = 0;
        while at < object.flattened.len() {
            if let Kind::Object(ref inner) = object.flattened[at].kind {
                known = self.members_example(inner, needed, partial || inner.partial) && known;
            }
            at += 1;
        }
        known
    }

    const fn property_example(&mut self, property: &Property) -> bool {
        let limits = property.limits;
        let literals = [
            property.example,
            property.default,
            limits.min,
            limits.max,
            property.type_example(),
        ];
        let mut at = 0;
        while at < literals.len() {
            if !literals[at].is_empty() && limits.allow(literals[at]) {
                self.raw(literals[at]);
                return true;
            }
            at += 1;
        }
        if !property.node.example.is_empty() {
            return false;
        }
        match property.node.kind {
            Kind::String { format, .. } => {
                let json = match text(format) {
                    Some(json) => json,
                    None => TEXT,
                };
                limits.pattern.is_empty() && limits.allow(json) && self.example(property.node)
            }
            Kind::Array { .. } if !matches!(limits.min_items.as_bytes(), b"" | b"1") => false,
            _ => self.example(property.node),
        }
    }

    /// The example that a handwritten schema contains.
    const fn raw_example(&mut self, json: &str) -> bool {
        let lists = ["examples", "enum"];
        let mut at = 0;
        while at < lists.len() {
            if let Some(first) = first_item(json, lists[at]) {
                self.raw(first);
                return true;
            }
            at += 1;
        }
        let value = match value_of(json, "default") {
            Some(default) => default,
            None => match value_of(json, "const") {
                Some(constant) => constant,
                None => return self.raw_type_example(json),
            },
        };
        self.raw(value);
        true
    }

    const fn raw_type_example(&mut self, json: &str) -> bool {
        let bounded = [
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "pattern",
            "format",
            "minItems",
            "required",
            "minProperties",
            "not",
            "allOf",
            "anyOf",
            "oneOf",
            "$ref",
            "if",
        ];
        let mut at = 0;
        while at < bounded.len() {
            if has_member(json, bounded[at]) {
                return false;
            }
            at += 1;
        }
        let types = [
            ("string", "\"text\""),
            ("integer", "1"),
            ("number", "1.5"),
            ("boolean", "true"),
            ("null", "null"),
            ("array", "[]"),
            ("object", "{}"),
        ];
        at = 0;
        while at < types.len() {
            let (name, example) = types[at];
            if has_text(json, "type", name) {
                self.raw(example);
                return true;
            }
            at += 1;
        }
        false
    }

    const fn number(&mut self, value: i64) {
        if value < 0 {
            self.byte(b'-');
        }
        self.digits(value.unsigned_abs());
    }
}

/// An example of a string without a format, as JSON.
const TEXT: &str = "\"text\"";

/// An example of a string in a format of JSON Schema, as JSON.
const fn text(format: &str) -> Option<&'static str> {
    Some(match format.as_bytes() {
        b"date-time" => "\"2026-01-31T12:00:00Z\"",
        b"date" => "\"2026-01-31\"",
        b"time" => "\"12:00:00Z\"",
        b"email" => "\"ada@example.com\"",
        b"uri" | b"uri-reference" => "\"https://example.com/\"",
        b"uuid" => "\"123e4567-e89b-12d3-a456-426614174000\"",
        b"ipv4" => "\"192.0.2.1\"",
        b"ipv6" => "\"2001:db8::1\"",
        b"hostname" => "\"example.com\"",
        b"duration" => "\"PT1H\"",
        _ => return None,
    })
}
