//! Integers that do not fit in 64 bits, which are rounded when they are read.

use serde_json::value::RawValue;

use crate::{
    finding::{Findings, below},
    shallow::Members,
};

/// An integer with fewer digits fits.
const MIN_ROUNDED_DIGITS: usize = 19;

/// Finds the integers of a JSON text that do not fit in 64 bits. `pointer` is where the text is.
pub(crate) fn find(text: &str, pointer: &mut String, found: &mut Findings) {
    let mut runs = text.split(|one: char| !one.is_ascii_digit());
    // Few texts have that many digits in a row; only these are read again.
    if runs.any(|digits| digits.len() >= MIN_ROUNDED_DIGITS) {
        visit(text, pointer, found);
    }
}

fn visit(text: &str, pointer: &mut String, found: &mut Findings) {
    match text.as_bytes().first() {
        Some(b'{') => {
            let Members(members) = serde_json::from_str(text).unwrap_or_default();
            for (name, member) in members {
                below(pointer, &name, |at| visit(member.get(), at, found));
            }
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            for (index, item) in items.iter().enumerate() {
                below(pointer, &index.to_string(), |at| {
                    visit(item.get(), at, found);
                });
            }
        }
        Some(b'-' | b'0'..=b'9') if is_rounded(text) => {
            found.add(pointer, || shortened(text));
        }
        _ => {}
    }
}

fn is_rounded(number: &str) -> bool {
    let is_integer = !number.contains(['.', 'e', 'E']);
    is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err()
}

/// The number, or its first digits if it is long.
fn shortened(number: &str) -> String {
    match number.get(..40) {
        Some(start) => format!("`{start}…`"),
        None => format!("`{number}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::finding::first;

    #[test]
    fn finds_integers_beyond_64_bits() {
        let found = first(find, r#"{"a/b": [1, 12345678901234567890123]}"#).unwrap();
        assert_eq!(found.pointer, "/x/a~1b/1");
        assert_eq!(found.what, "`12345678901234567890123`");
        let found = first(find, "[-9223372036854775809, 18446744073709551616]").unwrap();
        assert_eq!(found.pointer, "/x/0");
        assert_eq!(found.what, "`-9223372036854775809`, and in 1 other place");
    }

    #[test]
    fn other_numbers_and_strings_are_not_rounded() {
        for text in [
            "-9223372036854775808",
            "18446744073709551615",
            "1.00000000000000000000001",
            "100000000000000000000000e2",
            r#"{"12345678901234567890123": "12345678901234567890123"}"#,
        ] {
            assert_eq!(first(find, text), None, "{text}");
        }
    }
}
