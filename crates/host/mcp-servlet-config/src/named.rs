//! The names of sections, and where they are.

/// A section, for messages.
#[derive(Clone, Copy)]
pub(super) struct NamedSection<'f> {
    pub(super) name: &'f str,
    pub(super) kind: &'static str,
    /// Where the section begins.
    pub(super) start: usize,
}
