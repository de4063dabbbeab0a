//! Hexadecimal.

use std::fmt::Write as _;

/// Bytes as lowercase hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes that hexadecimal digits stand for. None for any other text.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8]| match *pair {
        [high, low] => u8::try_from(16 * digit(high)? + digit(low)?).ok(),
        _ => None,
    };
    text.as_bytes().chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_text_is_not_hexadecimal() {
        assert_eq!(unhex("000Aff"), Some(vec![0, 0x0a, 0xff]));
        for text in ["0", "0g", "+f", "é"] {
            assert_eq!(unhex(text), None, "{text}");
        }
    }

    #[test]
    fn each_byte_has_two_digits() {
        assert_eq!(hex(&[0, 0x0a, 0xff]), "000aff");
    }
}
