//! What a section of `export!` lists: for each function what clients learn, and how it is reached.

/// One function of a section: each of their traits has it as a constant, so that `export!` mentions a function once, and
/// one of another kind is one error, at its name. Used in `const` evaluation only.
#[derive(Debug, Clone, Copy)]
pub struct Item<D, E> {
    pub(crate) def: D,
    pub(crate) entry: E,
}

/// An entry that a table of entries can begin with.
pub trait Blank: Copy {
    /// It, reached by nothing.
    const BLANK: Self;
}

/// The table of these `N` items, without what clients learn of them.
pub const fn entries<D: Copy, E: Blank, const N: usize>(items: &[Item<D, E>]) -> [E; N] {
    let mut entries = [E::BLANK; N];
    let mut at = 0;
    while at < N {
        entries[at] = items[at].entry;
        at += 1;
    }
    entries
}
