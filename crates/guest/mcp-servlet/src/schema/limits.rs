//! Limits that a property has in addition to its type.

use super::{Kind, Node, Property, text};

/// The limits of a value, in addition to its type. Each number is JSON text; an empty string means that there is no limit.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The least number.
    pub min: &'static str,
    /// The greatest number.
    pub max: &'static str,
    /// The least number of characters.
    pub min_length: &'static str,
    /// The greatest number of characters.
    pub max_length: &'static str,
    /// A regular expression, as in JSON Schema.
    pub pattern: &'static str,
    /// The least number of items.
    pub min_items: &'static str,
    /// The greatest number of items.
    pub max_items: &'static str,
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self {
        min: "",
        max: "",
        min_length: "",
        max_length: "",
        pattern: "",
        min_items: "",
        max_items: "",
    };

    /// The limits that are numbers, with their keywords in JSON Schema.
    pub(crate) const fn keywords(&self) -> [(&'static str, &'static str); 6] {
        [
            ("minimum", self.min),
            ("maximum", self.max),
            ("minLength", self.min_length),
            ("maxLength", self.max_length),
            ("minItems", self.min_items),
            ("maxItems", self.max_items),
        ]
    }

    const fn has_numbers(&self) -> bool {
        !self.min.is_empty() || !self.max.is_empty()
    }

    const fn has_lengths(&self) -> bool {
        !self.min_length.is_empty() || !self.max_length.is_empty() || !self.pattern.is_empty()
    }

    const fn has_items(&self) -> bool {
        !self.min_items.is_empty() || !self.max_items.is_empty()
    }

    /// Whether a value, as JSON, is within the limits. Patterns and fractions are ignored, and a list is only within them
    /// if its length has no limits.
    pub(crate) const fn allow(&self, json: &str) -> bool {
        match json.as_bytes() {
            [b'"', ..] => within(self.min_length, text::characters(json), self.max_length),
            [b'[', ..] => !self.has_items(),
            _ => match text::integer(json) {
                Some(number) => within(self.min, number, self.max),
                None => true,
            },
        }
    }
}

const fn within(min: &str, number: i128, max: &str) -> bool {
    let is_below = !min.is_empty() && matches!(text::integer(min), Some(min) if number < min);
    let is_above = !max.is_empty() && matches!(text::integer(max), Some(max) if number > max);
    !is_below && !is_above
}

impl Property {
    /// The same property with limits. A limit that does not apply to the type stops the build.
    #[must_use]
    #[track_caller]
    pub const fn with_limits(self, limits: &'static Limits) -> Self {
        let keywords = limits.keywords();
        let mut at = 0;
        while at < keywords.len() {
            text::check_number(keywords[at].1);
            at += 1;
        }
        let numbers = matches!(self.node.kind, Kind::Integer { .. } | Kind::Number);
        let takes = !numbers
            || (self.node.accepts_literal(limits.min) && self.node.accepts_literal(limits.max));
        assert!(
            numbers || !limits.has_numbers(),
            "`min` and `max` only apply to numbers"
        );
        assert!(takes, "`min` and `max` must be values of the type");
        let limited = self.with_checked_limits(limits);
        limited.check_lengths();
        limited
    }

    /// The same as [`with_limits`](Self::with_limits), without checks: the macros check these limits in a separate
    /// constant, so that a wrong limit causes one error.
    #[doc(hidden)]
    #[must_use]
    pub const fn with_checked_limits(self, limits: &'static Limits) -> Self {
        Self { limits, ..self }
    }

    /// Stops the build if a limit other than `min` and `max` does not apply to the type.
    #[track_caller]
    pub(crate) const fn check_lengths(&self) {
        let limits = self.limits;
        assert!(
            !limits.has_lengths() || matches!(self.node.kind, Kind::String { .. }),
            "`min_length`, `max_length` and `pattern` only apply to strings"
        );
        assert!(
            !limits.has_items() || matches!(self.node.kind, Kind::Array { count: None, .. }),
            "`min_items` and `max_items` only apply to lists and sets"
        );
        // A set has fewer items than the list that it is read from, if some are equal.
        assert!(
            !matches!(self.node.kind, Kind::Array { unique: true, .. })
                || matches!(limits.min_items.as_bytes(), b"" | b"1"),
            "`min_items` of a set can be at most 1\nhelp: count the items in the function"
        );
    }

    /// The same property. Stops the build if its type has limits inside.
    #[doc(hidden)]
    #[must_use]
    #[track_caller]
    pub const fn unlimited(self) -> Self {
        let _ = self.node.unlimited();
        self
    }

    /// The example of the type, unless the limits of the property may refuse it.
    pub(crate) const fn type_example(&self) -> &'static str {
        let example = self.node.example;
        if self.limits.pattern.is_empty() && self.limits.allow(example) {
            example
        } else {
            ""
        }
    }

    /// Whether a value of the right type can break a limit that the function does not check. The function checks `min`
    /// and `max` of its arguments itself.
    const fn is_limited(&self, is_argument: bool) -> bool {
        self.in_input
            && (self.limits.has_lengths()
                || self.limits.has_items()
                || (self.limits.has_numbers() && !is_argument)
                || self.node.is_limited())
    }
}

impl Node {
    /// Whether arguments of the right types can break a limit that the function does not check. A function checks `min`
    /// and `max` itself, unless it takes all arguments as one value.
    pub(crate) const fn limits_arguments(&self, are_whole: bool) -> bool {
        if are_whole {
            self.is_limited()
        } else {
            self.has_limited_property(true)
        }
    }

    /// The same schema. Stops the build if it has limits.
    #[doc(hidden)]
    #[must_use]
    #[track_caller]
    pub const fn unlimited(self) -> Self {
        assert!(
            !self.is_limited(),
            "limits cannot be checked under an alias, because the schema does not list it\nhelp: remove the alias, or check the value in the function"
        );
        self
    }

    /// The same schema. Stops the build if a value that breaks the limits of one variant could be read as another one.
    #[doc(hidden)]
    #[must_use]
    #[track_caller]
    pub const fn distinct(self) -> Self {
        if let Kind::AnyOf { variants, .. } = self.kind {
            let mut at = 0;
            while at < variants.len() {
                let mut other = 0;
                while other < variants.len() {
                    assert!(
                        other == at
                            || !variants[at].is_limited()
                            || !variants[at].overlaps(&variants[other]),
                        "limits cannot be checked here: a value that breaks them could be read as another variant\nhelp: use a tag without `#[serde(other)]`, or check the value in the function"
                    );
                    other += 1;
                }
                at += 1;
            }
        }
        self
    }

    /// Whether both accept lists, or both accept objects. Other values cannot have limits inside.
    const fn overlaps(&self, other: &Node) -> bool {
        let (lists, objects) = self.accepts();
        let (other_lists, other_objects) = other.accepts();
        lists && other_lists || objects && other_objects
    }

    /// Whether a value of the right type can break a limit inside.
    pub(crate) const fn is_limited(&self) -> bool {
        match self.kind {
            Kind::Array { items, .. } => items.is_limited(),
            Kind::Map { values, .. } => values.is_limited(),
            Kind::Object(_) => self.has_limited_property(false),
            Kind::AnyOf { variants, .. } => {
                let mut at = 0;
                while at < variants.len() {
                    if variants[at].is_limited() {
                        return true;
                    }
                    at += 1;
                }
                false
            }
            _ => false,
        }
    }

    /// The same for an object. `are_arguments`: its properties are the arguments of a function.
    const fn has_limited_property(&self, are_arguments: bool) -> bool {
        let Kind::Object(ref object) = self.kind else {
            return false;
        };
        let mut at = 0;
        while at < object.properties.len() {
            if object.properties[at].is_limited(are_arguments) {
                return true;
            }
            at += 1;
        }
        at = 0;
        while at < object.flattened.len() {
            if object.flattened[at].is_limited() {
                return true;
            }
            at += 1;
        }
        false
    }
}
