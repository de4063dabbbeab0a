//! The names of components, operations and examples.

use std::collections::{HashMap, HashSet};

/// The names that are taken. Case and characters such as `-` and `_` do not count: generators make types, functions and files
/// of them.
#[derive(Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// The last number that was added to a name.
    numbers: HashMap<String, usize>,
}

impl Names {
    /// Takes this name, and returns whether it was free.
    pub(super) fn take(&mut self, name: &str) -> bool {
        self.taken.insert(folded(name))
    }

    /// Takes a name that is free, of characters that components may have. A dot is one of them, but some generators write `a.b` to
    /// a module `a`.
    pub(super) fn add(&mut self, wanted: &str) -> String {
        let allowed = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_');
        let wanted: String = wanted
            .chars()
            .map(|one| if allowed(one) { one } else { '_' })
            .collect();
        let mut name = wanted.clone();
        while !self.take(&name) {
            let number = self.numbers.entry(folded(&wanted)).or_insert(1);
            *number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    }
}

/// What of a name counts.
fn folded(name: &str) -> String {
    let counted = name.chars().filter(char::is_ascii_alphanumeric);
    counted.map(|one| one.to_ascii_lowercase()).collect()
}

/// How schemas refer to a component.
pub(super) fn reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_names_are_equal_for_generators() {
        let mut names = Names::default();
        let names = ["a-b", "a/b", "A.b", "a_b_2", "aB", "é", "è"].map(|wanted| names.add(wanted));
        assert_eq!(
            names,
            ["a-b", "a_b_2", "A_b_3", "a_b_2_2", "aB_4", "_", "__2"]
        );
    }

    #[test]
    fn a_name_that_is_taken_stays_as_it_is() {
        let mut names = Names::default();
        assert!(names.take("read resource"));
        assert!(!names.take("readResource"));
        assert_eq!(names.add("read_resource"), "read_resource_2");
    }
}
