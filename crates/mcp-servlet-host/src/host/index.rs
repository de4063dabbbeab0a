//! What several servlets have, by the names that clients use.

use std::collections::HashMap;

use crate::{Listed, Tool};

/// What clients call by a name.
pub(super) trait Named: Sized {
    fn name(&self) -> &str;

    /// The same under another name.
    fn renamed(&self, name: String) -> Self;
}

/// An entry that clients shall see, and under which name.
pub(super) struct Chosen<'m, T> {
    pub(super) servlet: usize,
    pub(super) name: String,
    pub(super) entry: &'m T,
}

/// An entry as clients see it, and where it is.
#[derive(Debug)]
pub(super) struct Served<T> {
    pub(super) entry: T,
    pub(super) servlet: usize,
    /// What its servlet calls it.
    pub(super) original: String,
}

/// Entries in the order of the servlets, and found by name.
#[derive(Debug)]
pub(super) struct Index<T> {
    entries: Vec<Served<T>>,
    places: HashMap<String, usize>,
}

/// Two entries of one name, and the servlets that have them.
pub(super) struct Collision {
    pub(super) name: String,
    pub(super) first: usize,
    pub(super) second: usize,
}

impl<T: Named> Index<T> {
    pub(super) fn of(chosen: Vec<Chosen<'_, T>>) -> Result<Self, Collision> {
        let mut index = Self {
            entries: Vec::with_capacity(chosen.len()),
            places: HashMap::new(),
        };
        for one in chosen {
            index.add(one)?;
        }
        Ok(index)
    }

    fn add(&mut self, chosen: Chosen<'_, T>) -> Result<(), Collision> {
        let Chosen {
            servlet,
            name,
            entry,
        } = chosen;
        if let Some(first) = self.places.insert(name.clone(), self.entries.len()) {
            return Err(Collision {
                name,
                first: self.entries[first].servlet,
                second: servlet,
            });
        }
        self.entries.push(Served {
            entry: entry.renamed(name),
            servlet,
            original: entry.name().to_owned(),
        });
        Ok(())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Served<T>> {
        self.entries.get(*self.places.get(name)?)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().map(|served| &mut served.entry)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|served| &served.entry)
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
