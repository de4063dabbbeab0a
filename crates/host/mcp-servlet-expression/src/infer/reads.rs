//! The types of what paths lead to.

use std::ops::Range;

use super::{Access, Wrong};
use crate::{
    Mistake,
    path::{Path, PathStep},
    scope::is_argument,
    types::{Kinds, Others, Type},
};

/// The names that an expression can read, and what is wrong with how it reads them.
pub(super) struct Reads<'a> {
    /// The types of names, the innermost ones last.
    pub(super) variables: Vec<(&'a str, Type)>,
    pub(super) wrong: Vec<Wrong>,
}

impl<'a> Reads<'a> {
    pub(super) fn new(scope: &[(&'a str, Type)]) -> Self {
        Self {
            variables: scope.to_vec(),
            wrong: Vec::new(),
        }
    }

    /// Adds a problem with a part. Its type is then not known, so that it does not lead to others.
    pub(super) fn wrong(
        &mut self,
        range: Range<usize>,
        message: String,
        access: Option<Access>,
    ) -> Type {
        let mistake = Mistake { range, message };
        self.wrong.push(Wrong { mistake, access });
        Type::ANY
    }

    /// What a path leads to, if the expression is nothing else. An argument that is missing is then an absent value.
    pub(super) fn only(&mut self, path: &Path) -> Type {
        self.walk(path, true)
    }

    /// What a path within an expression leads to.
    pub(super) fn path(&mut self, path: &Path) -> Type {
        self.walk(path, false)
    }

    fn walk(&mut self, path: &Path, is_whole: bool) -> Type {
        let mut variables = self.variables.iter().rev();
        let Some((_, found)) = variables.find(|(name, _)| *name == path.root) else {
            return Type::ANY;
        };
        let mut found = found.clone();
        let mut range = path.range.clone();
        // A member of an optional value is optional too.
        let mut may_be_absent = false;
        for (number, step) in path.steps.iter().enumerate() {
            may_be_absent |= step.is_optional() || found.may_be_absent();
            let may_be_absent = may_be_absent || is_whole && is_argument(path, number);
            let before = || Path {
                steps: path.steps[..number].to_vec(),
                ..path.clone()
            };
            found = match step {
                PathStep::Member {
                    name, range: at, ..
                } => {
                    range = at.clone();
                    let path = || Some(before());
                    self.member(&found, name, range.clone(), path, may_be_absent)
                }
                PathStep::Item { .. } => {
                    if found.is_never(Kinds::LIST) && !may_be_absent {
                        let message = format!("`{}` is {found}, not a list", before());
                        return self.wrong(range, message, None);
                    }
                    item(&found, may_be_absent)
                }
            };
            // In an expression, this is an optional value even if it is always there.
            if step.is_optional() && !is_whole {
                found = found.or_absent();
            }
        }
        found
    }

    /// A member of a value with this type. `path` leads to the value. With `may_be_absent`, a member that the value does not have
    /// is an absent value; otherwise the expression fails.
    pub(super) fn member(
        &mut self,
        value: &Type,
        name: &str,
        range: Range<usize>,
        path: impl FnOnce() -> Option<Path>,
        may_be_absent: bool,
    ) -> Type {
        let Some(kinds) = value.kinds() else {
            return Type::ANY;
        };
        let others = kinds.without(Kinds::OBJECT.with(Kinds::ABSENT));
        let is_absent = kinds.has(Kinds::ABSENT) || may_be_absent && others.has_any();
        let object = value.members_of_object();
        let why = object.and_then(|object| object.why_uncertain(name));
        if let Some(why) = why.filter(|_| !may_be_absent) {
            return self.uncertain(&why, name, range, path());
        }
        let found = match object {
            None if others.has_any() && !may_be_absent => {
                return self.no_member(value, name, range, path());
            }
            None => Type::never(),
            Some(object) => match object.member(name) {
                // An optional value of an optional value is not modelled.
                Some(member) if may_be_absent && member.value.may_be_absent() => Type::ANY,
                Some(member) if may_be_absent && !member.is_required => {
                    member.value.clone().or_absent()
                }
                Some(member) => member.value.clone(),
                None if object.others == Others::Any => Type::ANY,
                None => return self.no_member(value, name, range, path()),
            },
        };
        if is_absent { found.or_absent() } else { found }
    }

    /// Reports a member that may be absent, and is read without `?`.
    fn uncertain(
        &mut self,
        why: &str,
        name: &str,
        range: Range<usize>,
        path: Option<Path>,
    ) -> Type {
        let optional = PathStep::Member {
            name: name.to_owned(),
            is_optional: true,
            range: range.clone(),
        };
        let example = match path {
            Some(path) => path.with(optional).to_string(),
            None => format!(".?{name}"),
        };
        self.wrong(range, format!("{why}: write `{example}`"), None)
    }

    fn no_member(
        &mut self,
        found: &Type,
        name: &str,
        range: Range<usize>,
        path: Option<Path>,
    ) -> Type {
        let value = match &path {
            Some(path) => format!("`{path}`"),
            None => "this value".to_owned(),
        };
        let known: Vec<_> = found.members().map(|name| format!("`{name}`")).collect();
        let message = match known.as_slice() {
            [] if found.members_of_object().is_none() => {
                format!("{value} is {found}, and has no `{name}`")
            }
            [] => format!("{value} has no `{name}`"),
            [one] => format!("{value} has no `{name}`; it has {one}"),
            [rest @ .., last] => {
                let rest = rest.join(", ");
                format!("{value} has no `{name}`; it has {rest} and {last}")
            }
        };
        let access = Access {
            path,
            found: found.clone(),
            member: name.to_owned(),
        };
        self.wrong(range, message, Some(access))
    }
}

/// An item of a value with this type.
pub(super) fn item(value: &Type, may_be_absent: bool) -> Type {
    let Some(items) = value.optional_items() else {
        return Type::ANY;
    };
    match may_be_absent {
        // An optional value of an optional value is not modelled.
        true if items.may_be_absent() => Type::ANY,
        true => items.clone().or_absent(),
        false => items.clone(),
    }
}
