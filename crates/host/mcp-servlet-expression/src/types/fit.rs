//! Whether the values of one type have another one.

use mcp_servlet_schema::escape_pointer;

use super::{Kinds, ObjectType, Others, Type};

/// Whether the values of a type are accepted where another type is expected.
#[derive(Clone, Debug, PartialEq)]
pub enum Fit {
    /// Every value is accepted, as far as the types tell.
    Fits,
    /// A value may be accepted or not.
    Unproved,
    /// No value is accepted.
    Misfit(Misfit),
}

/// Why no value of a type is accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// The JSON pointer of the part that is not accepted; empty for the whole value.
    pub pointer: String,
    /// What is wrong with the part.
    pub reason: Reason,
}

/// Why a part of a value is not accepted.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// It has another type.
    Type {
        /// The type that it has.
        found: Type,
        /// The type that is expected.
        wanted: Type,
    },
    /// It is required, and the value does not have it.
    Missing,
    /// The object that is expected has no such member.
    Unexpected,
}

impl Type {
    /// Whether the values of this type are accepted where values of the type `into` are expected.
    ///
    /// A value that is null or absent counts as left out, unless `into` has null. Only kinds and members are compared: what other
    /// keywords of a schema say, such as `enum` or `pattern`, must be checked in each call.
    pub fn fit(&self, into: &Self) -> Fit {
        let ignored = match into.kinds() {
            Some(kinds) => Kinds::NULL.without(kinds),
            None => Kinds::NULL,
        };
        self.part_fits(into, ignored.with(Kinds::ABSENT), &mut String::new())
    }

    /// `at` is the JSON pointer of this part. Values of the kinds `ignored` do not count.
    fn part_fits(&self, into: &Self, ignored: Kinds, at: &mut String) -> Fit {
        let Some(expected) = into.kinds() else {
            return Fit::Fits;
        };
        let Some(kinds) = self.kinds() else {
            return Fit::Unproved;
        };
        let kinds = kinds.without(ignored);
        let (accepted, refused) = (kinds.and(expected), kinds.without(expected));
        let mut parts = Vec::new();
        if let (Some(items), Some(expected)) = (self.optional_items(), into.optional_items()) {
            // The list may be empty.
            parts.push(match items.part_fits(expected, Kinds::ABSENT, at) {
                Fit::Misfit(_) => Fit::Unproved,
                other => other,
            });
        }
        if let (Some(object), Some(expected)) = (self.members_of_object(), into.members_of_object())
        {
            parts.push(object.fit(expected, at));
        }
        let others = accepted.without(Kinds::LIST.with(Kinds::OBJECT));
        let is_misfit = |fit: &Fit| matches!(fit, Fit::Misfit(_));
        if !refused.has_any() && parts.iter().all(|fit| *fit == Fit::Fits) {
            return Fit::Fits;
        }
        if others.has_any() || !parts.iter().all(is_misfit) {
            return Fit::Unproved;
        }
        match parts.pop() {
            Some(misfit) if !refused.has_any() => misfit,
            _ => Fit::Misfit(Misfit {
                pointer: at.clone(),
                reason: Reason::Type {
                    found: self.clone(),
                    wanted: into.clone(),
                },
            }),
        }
    }
}

impl ObjectType {
    fn fit(&self, into: &Self, at: &mut String) -> Fit {
        let mut all = Fit::Fits;
        let expected = into.members.iter().map(|(name, _)| name);
        let own = self.members.iter().map(|(name, _)| name);
        let others = own.filter(|name| into.member(name).is_none());
        for name in expected.chain(others) {
            let length = at.len();
            *at += "/";
            *at += &escape_pointer(name);
            let fit = self.member_fits(name, into, at);
            at.truncate(length);
            match fit {
                Fit::Misfit(_) => return fit,
                Fit::Unproved => all = Fit::Unproved,
                Fit::Fits => {}
            }
        }
        all
    }

    fn member_fits(&self, name: &str, into: &Self, at: &mut String) -> Fit {
        let misfit = |at: &String, reason| {
            Fit::Misfit(Misfit {
                pointer: at.clone(),
                reason,
            })
        };
        match (self.member(name), into.member(name)) {
            (Some(own), Some(expected)) => {
                let fit = own.value.part_fits(&expected.value, Kinds::ABSENT, at);
                let is_there = own.is_required || !expected.is_required;
                match fit {
                    Fit::Fits if is_there => Fit::Fits,
                    Fit::Misfit(_) if own.is_required => fit,
                    _ => Fit::Unproved,
                }
            }
            (None, Some(expected)) => match self.others {
                Others::None if expected.is_required => misfit(at, Reason::Missing),
                Others::None => Fit::Fits,
                Others::Unnamed | Others::Any => Fit::Unproved,
            },
            (Some(own), None) => match into.others {
                Others::None if own.is_required => misfit(at, Reason::Unexpected),
                Others::None => Fit::Unproved,
                Others::Unnamed | Others::Any => Fit::Fits,
            },
            (None, None) => Fit::Fits,
        }
    }
}
