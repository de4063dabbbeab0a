//! A limit that may be inherited.

mod text;

pub use text::ParseLimitError;

/// A limit of a tool or a servlet, or the limit that it inherits: a tool inherits from its servlet,
/// a servlet from the defaults.
///
/// As text and in configurations, durations are written `500ms`, `30s`, `2m` or `1h`, sizes `512KiB`, `64MiB` or `1GiB`, and
/// no limit is `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit<T> {
    /// The inherited limit.
    #[default]
    Inherit,
    /// No limit.
    Unlimited,
    /// This limit.
    At(T),
}

impl<T> Limit<T> {
    /// This limit, or `parent` if it is inherited.
    #[must_use]
    pub fn or(self, parent: Self) -> Self {
        match self {
            Self::Inherit => parent,
            limit => limit,
        }
    }

    /// The limit; `None` means no limit. [`Limit::Inherit`] is `None`, too: call [`Limits::inherit`](crate::Limits::inherit) first.
    pub fn value(self) -> Option<T> {
        self.resolve(None)
    }

    /// The limit that applies, where `None` means no limit. `parent` is the one to inherit.
    pub fn resolve(self, parent: Option<T>) -> Option<T> {
        match self {
            Self::Inherit => parent,
            Self::Unlimited => None,
            Self::At(limit) => Some(limit),
        }
    }

    /// Converts the value of the limit.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Limit<U> {
        match self {
            Self::Inherit => Limit::Inherit,
            Self::Unlimited => Limit::Unlimited,
            Self::At(limit) => Limit::At(convert(limit)),
        }
    }
}

impl<T> From<T> for Limit<T> {
    fn from(limit: T) -> Self {
        Self::At(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_limit_that_is_not_set_is_inherited() {
        for (limit, expected) in [
            (Limit::Inherit, Some(1)),
            (Limit::Unlimited, None),
            (Limit::At(2), Some(2)),
        ] {
            assert_eq!(limit.resolve(Some(1)), expected);
            assert_eq!(limit.or(Limit::At(1)).value(), expected);
        }
    }
}
