//! The items of the catalog that a client was generated from.

/// The kind, the key and the digest of a catalog item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its kind.
    pub kind: EntryKind,
    /// The name of a tool or a prompt, the URI of a resource, or the URI template.
    pub key: &'static str,
    /// The SHA-256 of the entry in the server's list, as the catalog has it.
    pub sha256: &'static str,
}

/// A kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A tool.
    Tool,
    /// A resource.
    Resource,
    /// A resource template.
    ResourceTemplate,
    /// A prompt.
    Prompt,
}

impl Entry {
    /// A tool by its name.
    #[must_use]
    pub const fn tool(key: &'static str, sha256: &'static str) -> Self {
        Self::new(EntryKind::Tool, key, sha256)
    }

    /// A resource by its URI.
    #[must_use]
    pub const fn resource(key: &'static str, sha256: &'static str) -> Self {
        Self::new(EntryKind::Resource, key, sha256)
    }

    /// A resource template by its URI template.
    #[must_use]
    pub const fn resource_template(key: &'static str, sha256: &'static str) -> Self {
        Self::new(EntryKind::ResourceTemplate, key, sha256)
    }

    /// A prompt by its name.
    #[must_use]
    pub const fn prompt(key: &'static str, sha256: &'static str) -> Self {
        Self::new(EntryKind::Prompt, key, sha256)
    }

    const fn new(kind: EntryKind, key: &'static str, sha256: &'static str) -> Self {
        Self { kind, key, sha256 }
    }
}
