//! JSON escapes that YAML does not have.

use std::borrow::Cow;

/// Rewrites JSON into a form that YAML accepts: `\ud83d\ude00` becomes `\U0001F600`. That is
/// shorter, so spaces after the closing quote keep the columns of everything behind it.
///
/// A source that is not a JSON object stays unchanged.
pub(super) fn without_surrogates(text: &str) -> Cow<'_, str> {
    let has_some = text.contains("\\ud") || text.contains("\\uD");
    if !has_some || !text.trim_start().starts_with('{') {
        return Cow::Borrowed(text);
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(_) => Cow::Owned(rewritten(text)),
        Err(_) => Cow::Borrowed(text),
    }
}

/// Rewrites JSON.
fn rewritten(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut blanks = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut len = c.len_utf8();
        if c == '"' {
            written.push(c);
            written.extend(std::iter::repeat_n(' ', blanks));
            blanks = 0;
        } else if let Some(c) = pair(rest) {
            let escape = format!("\\U{:08X}", u32::from(c));
            len = PAIR_LENGTH;
            blanks += len - escape.len();
            written += &escape;
        } else {
            // An escaped character does not close a string.
            len = if c == '\\' { 2 } else { len };
            written += rest.get(..len).unwrap_or(rest);
        }
        rest = rest.get(len..).unwrap_or_default();
    }
    written
}

/// The length of two escapes.
const PAIR_LENGTH: usize = "\\ud83d\\ude00".len();

/// The character of two escapes at the start of a string.
fn pair(text: &str) -> Option<char> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let units = [unit(0)?, unit(6)?];
    let mut chars = char::decode_utf16(units);
    let first = chars.next()?.ok()?;
    chars.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_surrogate_pairs_and_keeps_offsets() {
        let text =
            r#" {"a \ud83d\ude00\uD83D\uDE01\n": "\\ud83d\\ude00 \"\u00e9", "b": "\ud83d\ude00"}"#;
        let joined = without_surrogates(text);
        assert_eq!(
            joined,
            r#" {"a \U0001F600\U0001F601\n"    : "\\ud83d\\ude00 \"\u00e9", "b": "\U0001F600"  }"#
        );
        assert_eq!(joined.len(), text.len());
    }

    #[test]
    fn leaves_other_text_unchanged() {
        for text in [
            r#"{"a": "\ud83d\ude00""#,
            r#"a: "\ud83d\ude00""#,
            r#"{"a": "\u00e9"}"#,
        ] {
            assert!(
                matches!(without_surrogates(text), Cow::Borrowed(_)),
                "{text}"
            );
        }
    }
}
