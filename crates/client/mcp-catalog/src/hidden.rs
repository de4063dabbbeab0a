//! Characters that people do not see.

use std::ops::RangeInclusive;

/// Characters that are not shown, except control characters.
const HIDDEN: [RangeInclusive<char>; 16] = [
    '\u{ad}'..='\u{ad}',       // soft hyphen
    '\u{34f}'..='\u{34f}',     // grapheme joiner
    '\u{61c}'..='\u{61c}',     // Arabic mark of direction
    '\u{115f}'..='\u{1160}',   // Hangul fillers
    '\u{17b4}'..='\u{17b5}',   // Khmer vowels without a form
    '\u{180b}'..='\u{180f}',   // Mongolian selectors
    '\u{200b}'..='\u{200f}',   // no width; marks of direction
    '\u{2028}'..='\u{202e}',   // separators; direction of what follows
    '\u{2060}'..='\u{206f}',   // no width; direction of what follows
    '\u{3164}'..='\u{3164}',   // Hangul filler
    '\u{fe00}'..='\u{fe0d}',   // variation selectors, without the two for emoji
    '\u{feff}'..='\u{feff}',   // byte order mark
    '\u{ffa0}'..='\u{ffa0}',   // Hangul filler
    '\u{fff9}'..='\u{fffb}',   // annotations
    '\u{1d173}'..='\u{1d17a}', // musical format controls
    '\u{e0000}'..='\u{e0fff}', // tags; more variation selectors
];

/// The characters of a text that people do not see, but that models read or terminals act on: control
/// characters, marks for the direction of text, characters without width, and Unicode tags.
///
/// Line breaks and tabs are not among them, nor are the joiners inside emoji and of scripts that need
/// them.
///
/// ```
/// use mcp_catalog::hidden_characters;
///
/// assert_eq!(hidden_characters("pay\u{200b}pal\u{202e}").collect::<Vec<_>>(), ['\u{200b}', '\u{202e}']);
/// assert_eq!(hidden_characters("line 1\r\n👩\u{200d}🔬").count(), 0);
/// ```
pub fn hidden_characters(text: &str) -> impl Iterator<Item = char> {
    hidden_indices(text).map(|(_, one)| one)
}

/// As [`hidden_characters`], with the position of each character in bytes.
pub fn hidden_indices(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut before = '\0';
    text.char_indices().filter(move |&(_, one)| {
        let joins = is_joiner(one) && !before.is_ascii() && !is_hidden(before);
        before = one;
        is_hidden(one) && !joins
    })
}

/// Zero-width joiner and non-joiner.
fn is_joiner(one: char) -> bool {
    matches!(one, '\u{200c}' | '\u{200d}')
}

fn is_hidden(one: char) -> bool {
    match one {
        '\n' | '\r' | '\t' | ' '..='~' => false,
        one => one.is_control() || HIDDEN.iter().any(|range| range.contains(&one)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> String {
        hidden_characters(text).collect()
    }

    #[test]
    fn finds_what_people_do_not_see() {
        for text in [
            "\0",
            "\u{1b}",
            "\u{7f}",
            "\u{9b}",
            "\u{ad}",
            "\u{200b}",
            "\u{202e}",
            "\u{2066}",
            "\u{feff}",
            "\u{e0041}",
            "\u{e01ef}",
            "\u{fe01}",
        ] {
            assert_eq!(hidden(text), text, "{text:?}");
        }
    }

    #[test]
    fn joiners_are_hidden_between_letters_of_english_only() {
        assert_eq!(hidden("a\u{200d}b"), "\u{200d}");
        assert_eq!(hidden("می\u{200c}خواهم ❤\u{fe0f}\u{200d}🔥"), "");
        // A second joiner joins nothing.
        assert_eq!(hidden("é\u{200d}\u{200d}"), "\u{200d}");
    }
}
