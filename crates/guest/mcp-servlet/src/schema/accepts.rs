//! What a schema accepts, for checks at compile time.

use super::{Kind, Node, Object, text};

impl Node {
    /// Whether it accepts strings only.
    pub(crate) const fn is_text(&self) -> bool {
        match self.kind {
            Kind::String { .. } | Kind::Character | Kind::Enum { .. } => true,
            Kind::Raw(json) => text::has_text(json, "type", "string"),
            Kind::AnyOf {
                variants,
                object: false,
            } => {
                let mut at = 0;
                while at < variants.len() {
                    if !variants[at].is_text() {
                        return false;
                    }
                    at += 1;
                }
                true
            }
            _ => false,
        }
    }

    /// Whether a string may be a valid value; `json` is the string as JSON.
    pub(crate) const fn accepts_string(&self, json: &str) -> bool {
        match self.kind {
            Kind::Any | Kind::String { .. } | Kind::Raw(_) | Kind::Generated(_) => true,
            Kind::Character => text::is_character(json),
            Kind::AnyOf { object, .. } => !object,
            Kind::Enum { values, .. } => text::is_among(json, values),
            _ => false,
        }
    }

    /// Whether a literal in the source, as JSON, may be a value of this type.
    pub(crate) const fn accepts_literal(&self, json: &str) -> bool {
        let anything = matches!(
            self.kind,
            Kind::Any | Kind::AnyOf { .. } | Kind::Raw(_) | Kind::Generated(_)
        );
        match json.as_bytes() {
            [b'"', ..] => self.accepts_string(json),
            [b't' | b'f', ..] => anything || matches!(self.kind, Kind::Boolean),
            [b'-' | b'0'..=b'9', ..] => match self.kind {
                Kind::Integer { min, max } => is_integer(json, min, max),
                Kind::Number => true,
                _ => anything,
            },
            _ => true,
        }
    }

    /// Whether it is neither a list nor an object.
    pub(crate) const fn is_plain(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Array { .. }
                | Kind::Map { .. }
                | Kind::Object(_)
                | Kind::Null
                | Kind::Generated(_)
        )
    }

    /// What a value must be, for error messages.
    pub(crate) const fn expected(&self) -> &'static str {
        match self.kind {
            Kind::Null => "`null`",
            Kind::Boolean => "`true` or `false`",
            Kind::Integer { .. } => "a whole number in the range of its type, without quotes",
            Kind::Number => "a number without quotes",
            Kind::String { .. } => "a string",
            Kind::Character => "one character",
            Kind::Enum { .. } => "the name of a variant, as serde writes it",
            Kind::Array { .. } => "a list, which `#[arg(default = …)]` takes as an expression",
            Kind::Map { .. } | Kind::Object(_) | Kind::AnyOf { .. } => {
                "an object, which `#[arg(default = …)]` takes as an expression"
            }
            Kind::Any | Kind::Raw(_) | Kind::Generated(_) => "JSON",
        }
    }

    /// Whether it may accept lists, and whether it may accept objects.
    pub(crate) const fn accepts(&self) -> (bool, bool) {
        match self.kind {
            Kind::Array { .. } => (true, false),
            _ if self.is_object() => (false, true),
            Kind::Any | Kind::AnyOf { .. } | Kind::Raw(_) | Kind::Generated(_) => (true, true),
            _ => (false, false),
        }
    }

    /// Whether it may accept objects only; a generated schema is only known when the servlet describes itself.
    pub(crate) const fn may_be_object(&self) -> bool {
        self.is_object() || self.is_generated()
    }

    /// Whether it is generated when the servlet describes itself.
    pub(crate) const fn is_generated(&self) -> bool {
        matches!(self.kind, Kind::Generated(_))
    }

    /// Whether it accepts objects only, as the arguments of a tool must.
    pub(crate) const fn is_object(&self) -> bool {
        match self.kind {
            Kind::Object(_) | Kind::Map { .. } => true,
            Kind::Raw(json) => text::has_text(json, "type", "object"),
            Kind::AnyOf { object, .. } => object,
            _ => false,
        }
    }
}

impl Object {
    /// Whether the type reads the properties that the schema names, and no others.
    pub(crate) const fn is_complete(&self) -> bool {
        let mut at = 0;
        while at < self.flattened.len() {
            match self.flattened[at].kind {
                Kind::Object(ref inner) if inner.is_complete() => at += 1,
                _ => return false,
            }
        }
        self.complete || self.closed
    }
}

/// Whether a JSON number is an integer within the bounds. Without a bound, the range of `i64` and `u64` applies.
const fn is_integer(json: &str, min: Option<i64>, max: Option<i64>) -> bool {
    let Some(number) = text::integer(json) else {
        return false;
    };
    let (least, most) = match (min, max) {
        (Some(min), Some(max)) => (min as i128, max as i128),
        (Some(min @ 0..), None) => (min as i128, u64::MAX as i128),
        (Some(min), None) => (min as i128, i64::MAX as i128),
        (None, Some(max)) => (i64::MIN as i128, max as i128),
        (None, None) => (i64::MIN as i128, i64::MAX as i128),
    };
    least <= number && number <= most
}
