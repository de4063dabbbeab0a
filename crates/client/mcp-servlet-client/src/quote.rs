//! Parts of foreign text, for errors.

/// A text, or as many of its first words as these characters have. A word that is longer than them is cut.
pub(crate) fn start(text: &str, characters: usize) -> String {
    let Some((end, next)) = text.char_indices().nth(characters) else {
        return text.to_owned();
    };
    let start = &text[..end];
    let word = start.rfind(char::is_whitespace);
    let start = match word {
        Some(word) if !next.is_whitespace() => &start[..word],
        _ => start,
    };
    format!("{} …", start.trim_end())
}

/// A text without the escape sequences of terminals, such as those for colours and links.
pub(crate) fn without_escapes(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::start;

    #[test]
    fn no_word_is_cut_but_one_that_is_too_long() {
        for (characters, expected) in [
            (20, "one twö three"),
            (13, "one twö three"),
            (12, "one twö …"),
            (8, "one twö …"),
            (7, "one twö …"),
            (6, "one …"),
            (2, "on …"),
        ] {
            assert_eq!(start("one twö three", characters), expected, "{characters}");
        }
    }
}
