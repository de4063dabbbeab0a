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
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain += before;
        rest = match after.chars().next() {
            // Ends with a letter or another character of this range.
            Some('[') => {
                let end = after[1..].find(|one| ('@'..='~').contains(&one));
                end.map_or("", |end| &after[end + 2..])
            }
            // Ends with BEL, or with an escape sequence of its own.
            Some(']') => match after.find(['\u{7}', '\u{1b}']) {
                Some(end) if after[end..].starts_with('\u{7}') => &after[end + 1..],
                Some(end) => &after[end..],
                None => "",
            },
            Some(other) => &after[other.len_utf8()..],
            None => "",
        };
    }
    plain + rest
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
