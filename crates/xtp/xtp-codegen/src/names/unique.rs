//! Different names that would be equal in Rust.

use std::collections::{BTreeMap, BTreeSet};

/// Unique Rust names for names of the schema, in the same order.
///
/// If several names would be equal in Rust, the one that is already spelled that way keeps it, else the first in
/// alphabetical order. The others get numbers, alphabetically. The order of the schema does not matter.
pub(crate) fn unique(names: &[&str], rust_name: impl Fn(&str) -> String) -> Vec<String> {
    let plain: Vec<String> = names.iter().map(|name| rust_name(name)).collect();
    let mut wanted: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, plain) in plain.iter().enumerate() {
        wanted.entry(plain).or_default().push(index);
    }
    let mut taken = Taken::default();
    for plain in wanted.keys() {
        taken.names.insert((*plain).to_owned());
    }
    let mut given = plain.clone();
    for (plain, mut indices) in wanted {
        indices.sort_by_key(|index| (names[*index] != plain, names[*index]));
        for index in indices.into_iter().skip(1) {
            given[index] = taken.take(plain);
        }
    }
    given
}

/// The names that are taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    names: BTreeSet<String>,
    /// The next number for each name.
    next: BTreeMap<String, usize>,
}

impl Taken {
    #[cfg(feature = "client")]
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The name, or if it is taken, the name with the first free number.
    pub(crate) fn take(&mut self, name: &str) -> String {
        self.take_with("", name)
    }

    /// The same for a name in snake case, such as `get_user`, which becomes `get_user_2`.
    #[cfg(feature = "client")]
    pub(crate) fn take_member(&mut self, name: &str) -> String {
        self.take_with("_", name)
    }

    fn take_with(&mut self, separator: &str, name: &str) -> String {
        if self.names.insert(name.to_owned()) {
            return name.to_owned();
        }
        let number = self.next.entry(name.to_owned()).or_insert(2);
        loop {
            let given = format!("{name}{separator}{number}");
            *number += 1;
            if self.names.insert(given.clone()) {
                return given;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_by_their_spelling() {
        let lower = |name: &str| name.to_lowercase();
        assert_eq!(unique(&["B", "b", "c"], lower), ["b2", "b", "c"]);
        assert_eq!(unique(&["b", "c", "B"], lower), ["b", "c", "b2"]);
        assert_eq!(unique(&["b2", "B", "b"], lower), ["b2", "b3", "b"]);
    }
}
