//! Halves of surrogate pairs.

use std::borrow::Cow;

/// The length of an escape such as `\ud83d`.
const ESCAPE_LENGTH: usize = 6;

/// JSON with U+FFFD for each escaped surrogate without its other half. It is owned if there was one.
///
/// JavaScript writes such an escape when it cuts a text in the middle of an emoji, and JSON libraries refuse the whole text for it.
pub fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    let mut repaired = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('\\').map(|found| at + found) {
        match surrogate(text, found) {
            Some(0xD800..=0xDBFF)
                if matches!(
                    surrogate(text, found + ESCAPE_LENGTH),
                    Some(0xDC00..=0xDFFF)
                ) =>
            {
                at = found + 2 * ESCAPE_LENGTH;
            }
            Some(_) => {
                repaired.push_str(&text[copied..found]);
                repaired.push_str("\\ufffd");
                at = found + ESCAPE_LENGTH;
                copied = at;
            }
            // The backslash and the character that it escapes.
            None => at = text.ceil_char_boundary(found + 2),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    repaired.push_str(&text[copied..]);
    Cow::Owned(repaired)
}

/// The surrogate whose escape begins here.
fn surrogate(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + ESCAPE_LENGTH)?.strip_prefix("\\u")?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    (0xD800..=0xDFFF).contains(&code).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_surrogates_are_replaced() {
        for (text, expected) in [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uD83D!""#, r#""\ufffd!""#),
            (r#""\ude00""#, r#""\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\n""#, r#""\ufffd\n""#),
            (r#"{"a\udfff":"\ud800"}"#, r#"{"a\ufffd":"\ufffd"}"#),
        ] {
            assert_eq!(without_lone_surrogates(text), expected);
            serde_json::from_str::<serde_json::Value>(expected).expect("JSON");
        }
        for same in [
            "{}",
            r#""\ud83d\ude00""#,
            r#""\\ud83d""#,
            r#""\u00e9 \"\\""#,
            r#""\é""#,
            r#""\"#,
            r#""\ud8"#,
            "\"\\",
        ] {
            assert!(
                matches!(without_lone_surrogates(same), Cow::Borrowed(text) if text == same),
                "{same}"
            );
        }
    }
}
