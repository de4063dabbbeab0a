//! The names of components.

use std::collections::{HashMap, HashSet};

/// The names of components that are taken. Case does not count: programs make files of them.
#[derive(Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// The last number that was added to a name.
    numbers: HashMap<String, usize>,
}

impl Names {
    /// A name that is not taken, of characters that components may have. A dot is one of them, but some generators write
    /// `a.b` to a module `a`.
    pub(super) fn add(&mut self, wanted: &str) -> String {
        let allowed = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_');
        let wanted: String = wanted
            .chars()
            .map(|one| if allowed(one) { one } else { '_' })
            .collect();
        let mut name = wanted.clone();
        while !self.taken.insert(name.to_lowercase()) {
            let number = self.numbers.entry(wanted.to_lowercase()).or_insert(1);
            *number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    }
}

/// How schemas refer to a component.
pub(super) fn reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_components_have_one_name() {
        let mut names = Names::default();
        let names = ["a-b", "a/b", "A.b", "a_b_2", "a b", "é"].map(|wanted| names.add(wanted));
        assert_eq!(names, ["a-b", "a_b", "A_b_2", "a_b_2_2", "a_b_3", "_"]);
    }
}
