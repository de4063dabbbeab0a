//! What a section of `export!` lists: for each function what clients learn, and how it is reached.

use crate::completion::{CompletionEntry, Suggest};
use crate::prompt::{Prompt, PromptDef, PromptEntry, no_prompt};
use crate::report::Hints;
use crate::resource::template::{ResourceTemplate, TemplateEntry};
use crate::resource::{Resource, ResourceDef, ResourceEntry, no_resource};

/// One function of a section.
///
/// It is made in one place for each kind, so that a function of another kind is one error, at its name. Used in
/// `const` evaluation only.
#[derive(Debug, Clone, Copy)]
pub struct Item<D, E> {
    pub(crate) def: D,
    entry: E,
}

/// A function that carries `#[resource]`.
pub const fn resource<T: Resource>() -> Item<ResourceDef, ResourceEntry> {
    Item {
        def: T::DEF,
        entry: T::ENTRY,
    }
}

/// A function that carries `#[resource_template]`.
pub const fn template<T: ResourceTemplate>() -> Item<ResourceDef, TemplateEntry> {
    Item {
        def: T::DEF,
        entry: T::ENTRY,
    }
}

/// A function that carries `#[prompt]`.
pub const fn prompt<T: Prompt>() -> Item<PromptDef, PromptEntry> {
    Item {
        def: T::DEF,
        entry: T::ENTRY,
    }
}

/// A function that carries `#[completion]`.
pub const fn completion<T: Suggest>() -> CompletionEntry {
    T::ENTRY
}

/// An entry that a table of entries can begin with.
pub trait Blank: Copy {
    /// It, reached by nothing.
    const BLANK: Self;
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
