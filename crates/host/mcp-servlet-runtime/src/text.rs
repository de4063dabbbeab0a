//! Helpers for messages.

use std::str::{self, Utf8Error};

/// The maximum length of a text that leaves a servlet in addition to its output, in bytes: an error message, a log line, a
/// notification, the name of a variable.
pub(crate) const MAX_TEXT: usize = 64 << 10;

/// The beginning of a text of a servlet, which ends with a whole character.
pub(crate) struct Excerpt<'a> {
    beginning: &'a [u8],
    /// How many bytes follow.
    missing: usize,
}

impl<'a> Excerpt<'a> {
    /// The first [`MAX_TEXT`] bytes.
    pub(crate) fn of(text: &'a [u8]) -> Self {
        let mut length = text.len().min(MAX_TEXT);
        // At most three bytes of a character follow its first one.
        for _ in 0..3 {
            if text.get(length).is_some_and(|byte| byte & 0xC0 == 0x80) {
                length -= 1;
            }
        }
        let (beginning, rest) = text.split_at(length);
        Self {
            beginning,
            missing: rest.len(),
        }
    }

    /// The text, which says how much is missing. What is not UTF-8 is replaced.
    pub(crate) fn to_lossy(&self) -> String {
        self.with_missing(String::from_utf8_lossy(self.beginning).into_owned())
    }

    /// The text, which says how much is missing.
    pub(crate) fn to_text(&self) -> Result<String, Utf8Error> {
        Ok(self.with_missing(str::from_utf8(self.beginning)?.to_owned()))
    }

    fn with_missing(&self, text: String) -> String {
        match self.missing {
            0 => text,
            missing => format!("{text}… ({missing} more bytes)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        for (text, kept) in [
            ("a".repeat(MAX_TEXT), MAX_TEXT),
            ("a".repeat(MAX_TEXT + 1), MAX_TEXT),
            ("é".repeat(MAX_TEXT), MAX_TEXT),
            (format!("a{}", "é".repeat(MAX_TEXT)), MAX_TEXT - 1),
            (format!("abc{}", "🧀".repeat(MAX_TEXT)), MAX_TEXT - 1),
            (format!("a{}", "🧀".repeat(MAX_TEXT)), MAX_TEXT - 3),
        ] {
            let missing = text.len() - kept;
            let expected = match missing {
                0 => text.clone(),
                _ => format!("{}… ({missing} more bytes)", &text[..kept]),
            };
            let excerpt = Excerpt::of(text.as_bytes());
            assert!(excerpt.to_text().is_ok_and(|text| text == expected));
            assert!(excerpt.to_lossy() == expected, "{missing}");
        }
        assert!(Excerpt::of(b"\xff").to_text().is_err());
        assert_eq!(Excerpt::of(b"\xff").to_lossy(), "\u{fffd}");
    }
}
