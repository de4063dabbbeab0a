//! Splits names into words.

/// Words that stay whole despite their mixed case.
const WHOLE: [&str; 8] = [
    "OAuth", "IPv4", "IPv6", "UInt", "GraphQL", "MySQL", "iOS", "macOS",
];

/// Splits a name at separators, before an upper-case letter after a lower-case one, and before the
/// last upper-case letter of a run if a lower-case letter follows: `getHTTPServer` is `get`,
/// `HTTP`, `Server`. The plural of a run is one word: `userIDs` is `user`, `IDs`.
pub(super) fn words(name: &str) -> Vec<&str> {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    let mut words = Vec::new();
    for mut part in parts {
        while !part.is_empty() {
            let (word, rest) = part.split_at(word_length(part));
            words.push(word);
            part = rest;
        }
    }
    words
}

/// The length of the first word; at least one character.
fn word_length(part: &str) -> usize {
    if let Some(whole) = WHOLE.iter().find(|whole| starts_with_word(part, whole)) {
        return whole.len() + lower(&part[whole.len()..]);
    }
    // Digits belong to the letters before them: `A2B` is one run.
    let is_row = part.starts_with(|c: char| c.is_ascii_uppercase());
    let row = count(part, |c| {
        is_row && (c.is_ascii_uppercase() || c.is_ascii_digit())
    });
    let (capitals, rest) = part.split_at(row);
    let begins_word = capitals.ends_with(|c: char| c.is_ascii_uppercase())
        && rest.starts_with(|c: char| c.is_ascii_lowercase());
    match row {
        0 => lower(part),
        1 => row + lower(rest),
        _ if is_plural(rest) => row + 1,
        // The last upper-case letter of the run begins the next word.
        _ if begins_word => row - 1,
        _ => row + lower(rest),
    }
}

/// Whether a run of upper-case letters is followed only by the `s` of a plural.
fn is_plural(rest: &str) -> bool {
    let behind = rest.strip_prefix('s');
    behind.is_some_and(|behind| !behind.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Whether a name starts with this word in the same case, and no lower-case letter continues it.
fn starts_with_word(part: &str, word: &str) -> bool {
    let behind = part.strip_prefix(word);
    behind.is_some_and(|behind| !behind.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// The number of lower-case letters and digits at the start.
fn lower(part: &str) -> usize {
    count(part, |c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

fn count(part: &str, belongs: impl Fn(char) -> bool) -> usize {
    part.chars().take_while(|c| belongs(*c)).count()
}
