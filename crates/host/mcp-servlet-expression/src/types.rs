//! The types of values, as far as they are known before a call.

mod fit;
mod kinds;
mod schema;

use std::{fmt, sync::Arc};

use serde_json::{Map, Value, json};

pub use fit::{Fit, Misfit, Reason};
pub(crate) use kinds::Kinds;

/// How many parts of two types are joined. Other parts of the result are [`Type::ANY`].
pub(crate) const MAX_JOINS: usize = 10_000;

/// What is known about a value before a call.
///
/// A type never says less than what is possible: each value that there can be has it. Most types come from a schema, see
/// [`of_schema`](Self::of_schema).
#[derive(Clone, Debug, PartialEq)]
pub struct Type(Option<Known>);

/// The kinds that a value can have.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    kinds: Kinds,
    /// The items, if the value can be a list.
    items: Option<Arc<Type>>,
    /// The members, if the value can be an object.
    object: Option<Arc<ObjectType>>,
}

/// The members of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ObjectType {
    pub(crate) members: Vec<(String, Member)>,
    pub(crate) others: Others,
    /// Why members that are not required may be absent, if an expression must allow for that. See [`Type::uncertain`].
    pub(crate) guard: Option<Arc<str>>,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    /// Its type. In an expression, it includes [`Kinds::ABSENT`] if the value is optional, as in `{'a': x.?b}`.
    pub(crate) value: Type,
    pub(crate) is_required: bool,
}

/// Whether an object has other members than those that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Others {
    /// It has no others.
    None,
    /// Its schema names members and does not speak of others. It may have them, but an expression that reads one is a mistake.
    Unnamed,
    /// It may have others.
    Any,
}

impl Type {
    /// Nothing is known. The value may also be absent.
    pub const ANY: Self = Self(None);

    /// Null.
    pub fn null() -> Self {
        Self::from(Kinds::NULL)
    }

    /// True or false.
    pub fn boolean() -> Self {
        Self::from(Kinds::BOOLEAN)
    }

    /// A whole number. As in JSON Schema, 1.0 is one.
    pub fn integer() -> Self {
        Self::from(Kinds::INTEGER)
    }

    /// A number.
    pub fn number() -> Self {
        Self::from(Kinds::NUMBER)
    }

    /// A string.
    pub fn string() -> Self {
        Self::from(Kinds::STRING)
    }

    /// A list whose items have this type.
    pub fn list(items: Self) -> Self {
        Self(Some(Known {
            kinds: Kinds::LIST,
            items: Some(Arc::new(items)),
            object: None,
        }))
    }

    /// An object that has these members and no others. A member may be missing if its type is [optional](Self::or_absent).
    pub fn object<N: Into<String>>(members: impl IntoIterator<Item = (N, Self)>) -> Self {
        let members = members
            .into_iter()
            .map(|(name, value)| (name.into(), Member::from(value)));
        Self::of_object(ObjectType::new(members.collect(), Others::None))
    }

    /// This type, as an object that also has this member. If the type does not say that it is an object, nothing is known about
    /// the other members.
    #[must_use]
    pub fn with(&self, name: &str, value: Self) -> Self {
        let mut object = self.to_object();
        let member = Member::from(value);
        match object.members.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = member,
            None => object.members.push((name.to_owned(), member)),
        }
        Self::of_object(object)
    }

    /// This type as an object whose members may all be absent, so that expressions must read them as in `a.?b`. `why` begins the
    /// message about an expression that does not, with `{}` for the name of the member. Members that are [added](Self::with) later may
    /// be required.
    #[must_use]
    pub fn uncertain(&self, why: &str) -> Self {
        let mut object = self.to_object();
        for (_, member) in &mut object.members {
            member.is_required = false;
        }
        object.guard = Some(why.into());
        Self::of_object(object)
    }

    /// The members. If the type does not say that it is an object, nothing is known about them.
    fn to_object(&self) -> ObjectType {
        let object = self.members_of_object().cloned();
        object.unwrap_or_else(|| ObjectType::new(Vec::new(), Others::Any))
    }

    /// A value that has this type or is absent.
    #[must_use]
    pub fn or_absent(self) -> Self {
        self.map_kinds(|kinds| kinds.with(Kinds::ABSENT))
    }

    /// A value that has one of the two types.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        self.join(other, &mut { MAX_JOINS })
    }

    /// A schema that each value of this type matches.
    pub fn to_schema(&self) -> Value {
        let Some(Known {
            kinds,
            items,
            object,
        }) = &self.0
        else {
            return json!({});
        };
        let mut schema = Map::new();
        match kinds.names().as_slice() {
            [] => {}
            [name] => drop(schema.insert("type".to_owned(), (*name).into())),
            names => drop(schema.insert("type".to_owned(), names.into())),
        }
        if let Some(object) = object {
            let members = object.members.iter();
            let properties: Map<_, _> = members
                .map(|(name, member)| (name.clone(), member.value.to_schema()))
                .collect();
            schema.insert("properties".to_owned(), properties.into());
            let members = object.members.iter();
            let required: Vec<_> = members
                .filter(|(_, member)| member.is_required)
                .map(|(name, _)| name.as_str())
                .collect();
            if !required.is_empty() {
                schema.insert("required".to_owned(), required.into());
            }
        }
        if let Some(items) = items.as_deref().filter(|items| **items != Self::ANY) {
            let items = items.clone().without_absent().to_schema();
            schema.insert("items".to_owned(), items);
        }
        schema.into()
    }

    /// Whether a value with this type may be absent, as far as is known.
    pub fn may_be_absent(&self) -> bool {
        self.kinds().is_some_and(|kinds| kinds.has(Kinds::ABSENT))
    }

    /// Whether no value of this type is a boolean.
    pub fn is_never_boolean(&self) -> bool {
        self.is_never(Kinds::BOOLEAN)
    }

    /// Whether no value of this type is a list.
    pub fn is_never_list(&self) -> bool {
        self.is_never(Kinds::LIST)
    }

    /// The type of the items, if the value can be a list.
    pub fn items(&self) -> Option<Self> {
        self.optional_items().cloned().map(Self::without_absent)
    }

    /// The names of the known members, if the value can be an object.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        let members = self.members_of_object().map(|object| &object.members);
        members.into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// The names of all members, if the schema of the object names them all.
    pub fn all_members(&self) -> Option<Vec<String>> {
        let object = self.members_of_object()?;
        (object.others != Others::Any).then(|| self.members().map(str::to_owned).collect())
    }

    /// No value. The items of an empty list have this type.
    pub(crate) fn never() -> Self {
        Self::from(Kinds::default())
    }

    pub(crate) fn of_object(object: ObjectType) -> Self {
        Self(Some(Known {
            kinds: Kinds::OBJECT,
            items: None,
            object: Some(Arc::new(object)),
        }))
    }

    /// The type of the items. It includes absent values if they are optional values of an expression, which JSON leaves out.
    pub(crate) fn optional_items(&self) -> Option<&Self> {
        self.0.as_ref()?.items.as_deref()
    }

    /// The kinds; `None` if nothing is known.
    pub(crate) fn kinds(&self) -> Option<Kinds> {
        self.0.as_ref().map(|known| known.kinds)
    }

    pub(crate) fn members_of_object(&self) -> Option<&ObjectType> {
        self.0.as_ref()?.object.as_deref()
    }

    /// The type without absent values.
    #[must_use]
    pub(crate) fn without_absent(self) -> Self {
        self.map_kinds(|kinds| kinds.without(Kinds::ABSENT))
    }

    fn map_kinds(self, change: impl FnOnce(Kinds) -> Kinds) -> Self {
        Self(self.0.map(|known| Known {
            kinds: change(known.kinds),
            ..known
        }))
    }

    /// Whether there are values of this type, and all of them have other kinds. Absent values do not count.
    pub(crate) fn is_never(&self, kinds: Kinds) -> bool {
        let own = self.kinds().map(|own| own.without(Kinds::ABSENT));
        own.is_some_and(|own| own.has_any() && !own.has(kinds))
    }

    /// A value that has one of the two types. `left` is how many parts may still be joined.
    pub(crate) fn join(&self, other: &Self, left: &mut usize) -> Self {
        let (Some(one), Some(two), Some(rest)) = (&self.0, &other.0, left.checked_sub(1)) else {
            return Self::ANY;
        };
        *left = rest;
        Self(Some(Known {
            kinds: one.kinds.with(two.kinds),
            items: both([&one.items, &two.items], |a, b| a.join(b, left)),
            object: both([&one.object, &two.object], |a, b| a.join(b, left)),
        }))
    }
}

/// Joins a part of two types. If only one of them has the part, the result has that one.
fn both<T>(parts: [&Option<Arc<T>>; 2], join: impl FnOnce(&T, &T) -> T) -> Option<Arc<T>> {
    match parts {
        [Some(a), Some(b)] if !Arc::ptr_eq(a, b) => Some(Arc::new(join(a, b))),
        [one, two] => one.as_ref().or(two.as_ref()).cloned(),
    }
}

impl ObjectType {
    pub(crate) fn new(members: Vec<(String, Member)>, others: Others) -> Self {
        Self {
            members,
            others,
            guard: None,
        }
    }

    /// Why an expression may not read a member without `?`, if it must not.
    pub(crate) fn why_uncertain(&self, name: &str) -> Option<String> {
        let guard = self.guard.as_ref()?;
        let may_be_absent = match self.member(name) {
            Some(member) => !member.is_required,
            None => self.others == Others::Any,
        };
        may_be_absent.then(|| guard.replace("{}", name))
    }

    pub(crate) fn member(&self, name: &str) -> Option<&Member> {
        let (_, member) = self.members.iter().find(|(known, _)| known == name)?;
        Some(member)
    }

    fn join(&self, other: &Self, left: &mut usize) -> Self {
        let mut members = Vec::new();
        for (name, member) in &self.members {
            let joined = match other.member(name) {
                Some(two) => Member {
                    value: member.value.join(&two.value, left),
                    is_required: member.is_required && two.is_required,
                },
                None => other.or_unnamed(member),
            };
            members.push((name.clone(), joined));
        }
        for (name, member) in &other.members {
            if self.member(name).is_none() {
                members.push((name.clone(), self.or_unnamed(member)));
            }
        }
        Self {
            members,
            others: self.others.max(other.others),
            guard: self.guard.clone().or_else(|| other.guard.clone()),
        }
    }

    /// A member of another object that this one does not name.
    fn or_unnamed(&self, member: &Member) -> Member {
        Member {
            value: match self.others {
                Others::None => member.value.clone(),
                Others::Unnamed | Others::Any => Type::ANY,
            },
            is_required: false,
        }
    }
}

impl From<Kinds> for Type {
    /// A value without parts.
    fn from(kinds: Kinds) -> Self {
        Self(Some(Known {
            kinds,
            items: None,
            object: None,
        }))
    }
}

impl From<Type> for Member {
    /// A member whose type says whether it can be missing.
    fn from(value: Type) -> Self {
        Self {
            is_required: value.kinds().is_some_and(|kinds| !kinds.has(Kinds::ABSENT)),
            value: value.without_absent(),
        }
    }
}

impl fmt::Display for Type {
    /// As a schema of the kinds, such as `{"type":["null","string"]}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kinds().map(Kinds::names).as_deref() {
            None => f.write_str("{}"),
            Some([name]) => json!({ "type": name }).fmt(f),
            Some(names) => json!({ "type": names }).fmt(f),
        }
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
pub(crate) mod tests;
