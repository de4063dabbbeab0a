//! What a section of `export!` lists: for each function what clients learn, and how it is reached.

use crate::prompt::{PromptEntry, no_prompt};
use crate::report::Hints;
use crate::resource::template::TemplateEntry;
use crate::resource::{ResourceEntry, no_resource};
use crate::tool::{Entry, Parameters, stand_in};

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

impl Blank for Entry {
    const BLANK: Self = Self {
        name: "",
        parameters: Parameters::fields(&[]),
        call: |_, _| stand_in(),
    };
}

impl Blank for ResourceEntry {
    const BLANK: Self = Self {
        uri: "",
        mime_type: "",
        read: |_, _| no_resource(),
    };
}

impl Blank for TemplateEntry {
    const BLANK: Self = Self {
        uri: "",
        parts: &[],
        fields: &[],
        mime_type: "",
        read: |_, _| no_resource(),
    };
}

impl Blank for PromptEntry {
    const BLANK: Self = Self {
        name: "",
        fields: &[],
        schema: b"",
        hints: Hints::new(b"", b""),
        get: |_, _| no_prompt(),
    };
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
