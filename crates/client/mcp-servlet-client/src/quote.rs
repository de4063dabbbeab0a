//! Parts of foreign text, for errors.

/// The first characters of a text.
pub(crate) fn start(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}
