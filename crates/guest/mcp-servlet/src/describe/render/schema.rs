//! Renders schemas.

use super::json::Text;
use super::{Side, sides};
use crate::schema::kind::Place;
use crate::schema::text::has_member;
use crate::schema::words::Words;
use crate::schema::{Kind, Limits, Node, Object, Property};

impl<const N: usize> Text<N> {
    /// The schema of all arguments; strict clients require `properties` in it.
    pub(super) const fn arguments(&mut self, node: &Node) {
        if let Kind::Generated(generate) = node.kind {
            self.byte(b'{');
            self.gap(generate, Place::Arguments, node.description, "");
            self.byte(b'}');
            return;
        }
        self.byte(b'{');
        self.members(node, node.description, false, Side::Input);
        let has_properties = match node.kind {
            Kind::Object(_) => true,
            Kind::Raw(json) => has_member(json, "properties"),
            _ => false,
        };
        self.json("properties", if has_properties { "" } else { "{}" });
        self.byte(b'}');
    }

    /// One schema. `description` comes before the type's own. In a list or a map, `None` is `null` on both sides.
    pub(super) const fn node(
        &mut self,
        node: &Node,
        description: &str,
        nullable: bool,
        side: Side,
    ) {
        let description = if description.is_empty() {
            node.description
        } else {
            description
        };
        self.byte(b'{');
        if nullable && node.kind.has_own_type() {
            self.or_null(node, description, side);
        } else {
            self.members(node, description, nullable, side);
            self.examples(node.example);
        }
        self.byte(b'}');
    }

    /// The schema or `null`.
    const fn or_null(&mut self, node: &Node, description: &str, side: Side) {
        self.key("anyOf");
        self.byte(b'[');
        self.node(node, description, false, side);
        self.separate();
        self.byte(b'{');
        self.text("type", "null");
        self.byte(b'}');
        self.byte(b']');
    }

    const fn members(&mut self, node: &Node, description: &str, nullable: bool, side: Side) {
        if let Kind::Generated(generate) = node.kind {
            self.separate();
            self.gap(generate, side.place(), description, "");
            return;
        }
        if let Kind::Raw(json) = node.kind {
            if !has_member(json, "description") {
                self.text("description", description);
            }
            self.members_of(json);
            return;
        }
        self.kind_type(&node.kind, nullable);
        if let Kind::Enum { notes, .. } = node.kind {
            self.description_with_notes(description, notes.trim_ascii());
        } else {
            self.text("description", description);
        }
        self.keywords(&node.kind, nullable, side);
    }

    /// The keywords of a kind, after its type and its description.
    const fn keywords(&mut self, kind: &Kind, nullable: bool, side: Side) {
        match *kind {
            Kind::Any
            | Kind::Null
            | Kind::Boolean
            | Kind::Number
            | Kind::Raw(_)
            | Kind::Generated(_) => {}
            Kind::Integer { min, max } => {
                self.integer("minimum", min);
                self.integer("maximum", max);
            }
            Kind::String { format, .. } => self.text("format", format),
            Kind::Character => {
                self.json("minLength", "1");
                self.json("maxLength", "1");
            }
            Kind::Enum { values, .. } => self.values(values, nullable),
            Kind::Array {
                items,
                nullable,
                unique,
                count,
            } => {
                self.key("items");
                self.node(items, "", nullable, side);
                self.json("uniqueItems", if unique { "true" } else { "" });
                self.count("minItems", count);
                self.count("maxItems", count);
            }
            Kind::Map {
                keys,
                values,
                nullable,
            } => {
                self.keys(keys);
                self.key("additionalProperties");
                self.node(values, "", nullable, side);
            }
            Kind::Object(ref object) => self.object(object, side),
            Kind::AnyOf { variants, .. } => self.variants(variants, side),
        }
    }

    const fn count(&mut self, name: &str, count: Option<usize>) {
        if let Some(count) = count {
            self.key(name);
            self.digits(count as u64);
        }
    }

    const fn description_with_notes(&mut self, description: &str, notes: &str) {
        if description.is_empty() || notes.is_empty() {
            self.text(
                "description",
                if notes.is_empty() { description } else { notes },
            );
            return;
        }
        self.key("description");
        self.byte(b'"');
        self.inside_of_string(description);
        self.inside_of_string("\n");
        self.inside_of_string(notes);
        self.byte(b'"');
    }

    const fn kind_type(&mut self, kind: &Kind, nullable: bool) {
        let name = kind.type_name();
        if name.is_empty() {
            return;
        }
        let nullable = nullable && !matches!(kind, Kind::Null);
        self.key("type");
        if nullable {
            self.byte(b'[');
        }
        self.string(name);
        if nullable {
            self.separate();
            self.string("null");
            self.byte(b']');
        }
    }

    pub(super) const fn values(&mut self, values: &[&str], nullable: bool) {
        self.key("enum");
        self.byte(b'[');
        self.each_string(values);
        if nullable {
            self.raw(",null");
        }
        self.byte(b']');
    }

    const fn variants(&mut self, variants: &[Node], side: Side) {
        self.key("anyOf");
        self.byte(b'[');
        let mut at = 0;
        while at < variants.len() {
            self.separate();
            self.node(&variants[at], "", false, side);
            at += 1;
        }
        self.byte(b']');
    }

    const fn object(&mut self, object: &Object, side: Side) {
        self.key("properties");
        self.byte(b'{');
        self.properties(object, side);
        self.byte(b'}');
        if sides::requires_any(object, side) {
            self.key("required");
            self.byte(b'[');
            self.required(object, side);
            self.byte(b']');
        }
        self.rest(object, side);
    }

    const fn properties(&mut self, object: &Object, side: Side) {
        let mut at = 0;
        while at < object.properties.len() {
            if object.properties[at].is_on(side) {
                self.property(&object.properties[at], side);
            }
            at += 1;
        }
        at = 0;
        while at < object.flattened.len() {
            // Only objects have properties here. `rest` writes the values of a map, and any JSON adds nothing.
            if let Kind::Object(ref inner) = object.flattened[at].kind {
                self.properties(inner, side);
            }
            at += 1;
        }
    }

    const fn property(&mut self, property: &Property, side: Side) {
        self.key(property.name);
        self.byte(b'{');
        let node = property.bounded();
        let own = if property.description.is_empty() {
            node.description
        } else {
            property.description
        };
        if own.is_empty() && matches!(side, Side::Input) {
            let split = Words::split(property.name);
            let words = split.or(property.name);
            if let Kind::Generated(generate) = node.kind {
                self.gap(generate, side.place(), "", words);
            } else {
                self.members(&node, words, false, side);
            }
        } else {
            self.property_members(&node, own, property.nullable, side);
        }
        self.limits(property.limits);
        if matches!(side, Side::Input) {
            self.json("default", property.default);
        }
        self.json("writeOnly", if property.secret { "true" } else { "" });
        self.examples(if property.example.is_empty() {
            property.type_example()
        } else {
            property.example
        });
        self.byte(b'}');
    }

    const fn limits(&mut self, limits: &Limits) {
        let keywords = limits.keywords();
        let mut at = 0;
        while at < keywords.len() {
            self.json(keywords[at].0, keywords[at].1);
            at += 1;
        }
        self.text("pattern", limits.pattern);
    }

    const fn examples(&mut self, example: &str) {
        if !example.is_empty() {
            self.key("examples");
            self.byte(b'[');
            self.raw(example);
            self.byte(b']');
        }
    }

    const fn property_members(&mut self, node: &Node, own: &str, nullable: bool, side: Side) {
        let nullable = nullable && matches!(side, Side::Output);
        if nullable && node.kind.has_own_type() {
            self.or_null(node, own, side);
        } else {
            self.members(node, own, nullable, side);
        }
    }

    const fn required(&mut self, object: &Object, side: Side) {
        if object.partial {
            return;
        }
        let mut at = 0;
        while at < object.properties.len() {
            if object.properties[at].is_needed(side) {
                self.separate();
                self.string(object.properties[at].name);
            }
            at += 1;
        }
        at = 0;
        while at < object.flattened.len() {
            if let Kind::Object(ref inner) = object.flattened[at].kind {
                self.required(inner, side);
            }
            at += 1;
        }
    }

    /// The schema of properties that are not listed by name.
    const fn rest(&mut self, object: &Object, side: Side) {
        if let Some((values, nullable)) = flattened_map(object) {
            self.key("additionalProperties");
            self.node(values, "", nullable, side);
        } else if object.closed {
            self.json("additionalProperties", "false");
        }
        if object.wrapper {
            self.json("x-fastmcp-wrap-result", "true");
        }
    }
}

/// The values of the map that is flattened into the object, at any depth.
const fn flattened_map(object: &Object) -> Option<(&'static Node, bool)> {
    let mut at = 0;
    while at < object.flattened.len() {
        let found = match object.flattened[at].kind {
            Kind::Map {
                values, nullable, ..
            } => Some((values, nullable)),
            Kind::Object(ref inner) => flattened_map(inner),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        at += 1;
    }
    None
}
