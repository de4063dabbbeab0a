//! The text of a message: UTF-8 without lone surrogates.

use std::borrow::Cow;

use super::Mended;

/// What stands for a character that a message has only half of.
const REPLACEMENT: &str = r"\ufffd";

/// The bytes as text. Bytes that are not UTF-8, and escapes of a lone surrogate such as `\ud83d`, become U+FFFD. Most JSON
/// libraries refuse the whole message for one of them.
pub(super) fn read<'a>(bytes: &'a [u8], mended: &mut Mended) -> Cow<'a, str> {
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, Cow::Owned(_)) {
        mended.add("is not valid UTF-8; the wrong bytes became U+FFFD", "");
    }
    match without_lone_surrogates(&text, mended) {
        Some(mended) => Cow::Owned(mended),
        None => text,
    }
}

/// The text with each lone surrogate replaced. None if there is none.
fn without_lone_surrogates(text: &str, mended: &mut Mended) -> Option<String> {
    let mut fixed = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(offset) = text[at..].find('\\') {
        let escape = at + offset;
        at = match surrogate(text, escape) {
            // The character after the backslash may be longer than a byte.
            None => escape + 1 + text[escape + 1..].chars().next().map_or(0, char::len_utf8),
            Some(High) if surrogate(text, escape + ESCAPE) == Some(Low) => escape + 2 * ESCAPE,
            Some(_) => {
                mended.add("has half of a surrogate pair, which became U+FFFD", "");
                fixed.push_str(&text[copied..escape]);
                fixed.push_str(REPLACEMENT);
                copied = escape + ESCAPE;
                copied
            }
        };
    }
    (copied > 0).then(|| fixed + &text[copied..])
}

/// The length of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

#[derive(Clone, Copy, PartialEq)]
enum Surrogate {
    High,
    Low,
}
use Surrogate::{High, Low};

/// The surrogate whose escape begins here, if there is one.
fn surrogate(text: &str, at: usize) -> Option<Surrogate> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix(r"\u")?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..0xDC00 => Some(High),
        0xDC00..0xE000 => Some(Low),
        _ => None,
    }
}
