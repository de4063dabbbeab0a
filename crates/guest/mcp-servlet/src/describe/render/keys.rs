//! The keys of a map: JSON writes each as a string, whatever its type is elsewhere.

use super::json::Text;
use crate::schema::{Kind, Node};

impl<const N: usize> Text<N> {
    /// The schema of the keys, unless any string is valid or JSON Schema cannot express it.
    pub(super) const fn keys(&mut self, keys: &Node) {
        let known = matches!(
            keys.kind,
            Kind::Boolean | Kind::Integer { .. } | Kind::Character | Kind::Enum { .. }
        );
        if !known {
            return;
        }
        self.key("propertyNames");
        self.byte(b'{');
        match keys.kind {
            Kind::Boolean => self.values(&["true", "false"], false),
            Kind::Integer { min: Some(0..), .. } => self.text("pattern", "^(0|[1-9][0-9]*)$"),
            Kind::Integer { .. } => self.text("pattern", "^-?(0|[1-9][0-9]*)$"),
            Kind::Character => {
                self.json("minLength", "1");
                self.json("maxLength", "1");
            }
            Kind::Enum { values, .. } => self.values(values, false),
            _ => {}
        }
        self.byte(b'}');
    }

    /// Appends a valid key of the map; `false` if none is known.
    pub(super) const fn key_example(&mut self, keys: &Node) -> bool {
        match keys.kind {
            Kind::String {
                format,
                parsed: false,
            } if format.is_empty() && keys.example.is_empty() => {
                self.string("key");
                true
            }
            Kind::String { .. } | Kind::Character | Kind::Enum { .. } => self.example(keys),
            Kind::Boolean | Kind::Integer { .. } | Kind::Number => {
                self.byte(b'"');
                let known = self.example(keys);
                self.byte(b'"');
                known
            }
            _ => false,
        }
    }
}
