//! The entries of a section of `export!`: for each function its description and its entry for the dispatcher.

/// One function of a section. Each of the traits has it as a constant, so that `export!` names a function once, and a
/// function of another kind causes one error, at its name. Used in `const` evaluation only.
#[derive(Debug, Clone, Copy)]
pub struct Item<D, E> {
    pub(crate) def: D,
    pub(crate) entry: E,
}

/// An entry to initialize a table with.
pub trait Placeholder: Copy {
    /// An entry that is never reached.
    const PLACEHOLDER: Self;
}

/// The table of these `N` items, without their descriptions.
pub const fn entries<D: Copy, E: Placeholder, const N: usize>(items: &[Item<D, E>]) -> [E; N] {
    let mut entries = [E::PLACEHOLDER; N];
    let mut at = 0;
    while at < N {
        entries[at] = items[at].entry;
        at += 1;
    }
    entries
}
