//! The tools and prompts of several members, by the names that clients use.

use std::collections::HashMap;

use crate::{Listed, Tool};

/// An entry that clients call by a name.
pub(super) trait Named: Sized {
    fn name(&self) -> &str;

    /// The same entry under another name.
    fn renamed(&self, name: String) -> Self;
}

/// An entry that clients will see, and its name for them.
pub(super) struct Chosen<'m, T> {
    pub(super) member: usize,
    pub(super) name: String,
    pub(super) entry: &'m T,
    /// Its other possible name: with the prefix of the member if it has none now, otherwise without. Its name can change to this one as
    /// other members come and go. None if it cannot change.
    pub(super) other_name: Option<String>,
    /// Whether its member has added the entry to a list that was known before, so that others keep their names.
    pub(super) is_new: bool,
    /// Whether the operator has approved the name.
    pub(super) is_approved: bool,
}

impl<T: Named> Chosen<'_, T> {
    /// The entry with the lowest rank keeps its name.
    fn rank(&self) -> (bool, bool, usize, bool) {
        let has_prefix = self.name != self.entry.name();
        (!self.is_approved, self.is_new, self.member, has_prefix)
    }
}

/// The names that clients know, by the number of the member and the member's own name for the entry.
pub(super) type Names<'h> = HashMap<(usize, &'h str), &'h str>;

/// What a former version of a host knows of one kind of entries.
#[derive(Default)]
pub(super) struct Former<'h> {
    pub(super) names: Names<'h>,
    /// Whether the list of each member was known. Empty if there is no former version.
    pub(super) known: &'h [bool],
}

impl Former<'_> {
    /// Whether there was a list of a member.
    pub(super) fn was_known(&self, member: usize) -> bool {
        self.known.get(member).copied().unwrap_or_default()
    }
}

/// An entry as clients see it, and its member.
#[derive(Debug)]
pub(super) struct Served<T> {
    pub(super) entry: T,
    pub(super) member: usize,
    /// The member's own name for the entry.
    pub(super) original: String,
    /// Its other possible name, if its name can change.
    pub(super) other_name: Option<String>,
}

/// Entries in the order of the members, with an index by name.
#[derive(Debug)]
pub(super) struct Index<T> {
    entries: Vec<Served<T>>,
    places: HashMap<String, usize>,
    /// Whether the list of each member is known.
    known: Vec<bool>,
}

/// An entry whose name belongs to another one.
pub(super) struct Collision<'m, T> {
    pub(super) lost: Chosen<'m, T>,
    /// The member that keeps the name.
    pub(super) owner: usize,
}

impl<T: Named> Index<T> {
    /// If several entries have the same name, the one that is already served keeps it, or else the
    /// one of the first member. Within a member, an entry without a prefix wins.
    pub(super) fn of(
        chosen: Vec<Chosen<'_, T>>,
        known: Vec<bool>,
    ) -> (Self, Vec<Collision<'_, T>>) {
        let mut owners: HashMap<&str, &Chosen<'_, T>> = HashMap::with_capacity(chosen.len());
        for one in &chosen {
            let owner = owners.entry(&one.name).or_insert(one);
            if one.rank() < owner.rank() {
                *owner = one;
            }
        }
        let owner = |one: &Chosen<'_, T>| {
            let owner = owners[one.name.as_str()];
            (!std::ptr::eq(owner, one)).then_some(owner.member)
        };
        let owners: Vec<_> = chosen.iter().map(owner).collect();
        let mut index = Self {
            entries: Vec::with_capacity(chosen.len()),
            places: HashMap::with_capacity(chosen.len()),
            known,
        };
        let mut collisions = Vec::new();
        for (one, owner) in chosen.into_iter().zip(owners) {
            match owner {
                None => index.add(one),
                Some(owner) => collisions.push(Collision { lost: one, owner }),
            }
        }
        (index, collisions)
    }

    fn add(&mut self, chosen: Chosen<'_, T>) {
        let Chosen {
            member,
            name,
            entry,
            other_name,
            is_new: _,
            is_approved: _,
        } = chosen;
        self.places.insert(name.clone(), self.entries.len());
        self.entries.push(Served {
            entry: entry.renamed(name),
            member,
            original: entry.name().to_owned(),
            other_name,
        });
    }

    pub(super) fn names(&self) -> Names<'_> {
        let names = self.entries.iter().map(|served| {
            let key = (served.member, served.original.as_str());
            (key, served.entry.name())
        });
        names.collect()
    }

    pub(super) fn former(&self) -> Former<'_> {
        Former {
            names: self.names(),
            known: &self.known,
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Served<T>> {
        self.entries.get(*self.places.get(name)?)
    }

    /// The name for clients of an entry, by the member's own name for it.
    pub(super) fn listed_as(&self, is_member: impl Fn(usize) -> bool, own: &str) -> Option<&str> {
        let mut entries = self.entries.iter();
        let found = entries.find(|served| served.original == own && is_member(served.member));
        Some(found?.entry.name())
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().map(|served| &mut served.entry)
    }

    /// The entries of one member.
    pub(super) fn of_member(&self, member: usize) -> impl Iterator<Item = &T> {
        let entries = self
            .entries
            .iter()
            .filter(move |served| served.member == member);
        entries.map(|served| &served.entry)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|served| &served.entry)
    }

    /// An entry by its number.
    pub(super) fn at(&self, number: usize) -> &T {
        &self.entries[number].entry
    }

    /// The member of each entry.
    pub(super) fn members(&self) -> impl Iterator<Item = usize> {
        self.entries.iter().map(|served| served.member)
    }
}

impl Named for Tool {
    fn name(&self) -> &str {
        self.name()
    }

    fn renamed(&self, name: String) -> Self {
        self.renamed(name)
    }
}

impl Named for Listed {
    fn name(&self) -> &str {
        self.key()
    }

    fn renamed(&self, name: String) -> Self {
        self.renamed(name)
    }
}
