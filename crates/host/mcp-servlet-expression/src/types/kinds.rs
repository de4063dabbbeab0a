//! Sets of kinds of values.

/// A set of kinds of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    /// An optional value of an expression that is not there.
    pub(crate) const ABSENT: Self = Self(1);
    pub(crate) const NULL: Self = Self(1 << 1);
    pub(crate) const BOOLEAN: Self = Self(1 << 2);
    pub(crate) const INTEGER: Self = Self(1 << 3);
    /// Numbers that are not whole.
    const FRACTION: Self = Self(1 << 4);
    pub(crate) const NUMBER: Self = Self::INTEGER.with(Self::FRACTION);
    pub(crate) const STRING: Self = Self(1 << 5);
    pub(crate) const LIST: Self = Self(1 << 6);
    pub(crate) const OBJECT: Self = Self(1 << 7);
    /// All values of JSON.
    pub(crate) const JSON: Self = Self(!Self::ABSENT.0);
    /// Numbers, booleans and strings.
    pub(crate) const SCALAR: Self = Self::BOOLEAN.with(Self::NUMBER).with(Self::STRING);

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The kinds that both have.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether it has at least one of these.
    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn has_any(self) -> bool {
        self.0 != 0
    }

    /// The kind that a schema calls by this name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "array" => Self::LIST,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "null" => Self::NULL,
            "number" => Self::NUMBER,
            "object" => Self::OBJECT,
            "string" => Self::STRING,
            _ => return None,
        })
    }

    /// The names that schemas have for these kinds, in the order of the alphabet.
    pub(crate) fn names(self) -> Vec<&'static str> {
        let number = if self.has(Self::FRACTION) {
            (Self::FRACTION, "number")
        } else {
            (Self::INTEGER, "integer")
        };
        let mut names: Vec<_> = [
            (Self::LIST, "array"),
            (Self::BOOLEAN, "boolean"),
            number,
            (Self::NULL, "null"),
            (Self::OBJECT, "object"),
            (Self::STRING, "string"),
        ]
        .into_iter()
        .filter(|(kind, _)| self.has(*kind))
        .map(|(_, name)| name)
        .collect();
        names.sort_unstable();
        names
    }
}
