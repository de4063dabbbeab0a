//! Reads base64 with the standard alphabet and padding (RFC 4648, section 4); `mcp_servlet_types::base64` writes it.

/// Decodes a text; the error is the byte offset at which it is not base64.
///
/// # Errors
/// If a character is not of the alphabet, or padding is missing, misplaced, or hides bits that are set.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let padded = text.strip_suffix("==").or_else(|| text.strip_suffix('='));
    let digits = padded.unwrap_or(text).as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for (at, digit) in digits.iter().enumerate() {
        bits = bits << 6 | value(*digit).ok_or(at)?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    let spare = bits & ((1 << count) - 1);
    if text.len() % 4 != 0 || count == 6 || spare != 0 {
        return Err(text.len());
    }
    Ok(bytes)
}

fn value(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}

#[cfg(test)]
mod tests {
    use mcp_servlet_types::base64;

    use super::decode;

    #[test]
    fn encodes_and_decodes_the_test_vectors_of_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
            assert_eq!(decode(text), Ok(bytes.as_bytes().to_vec()));
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn every_byte_survives() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..bytes.len() {
            assert_eq!(decode(&base64(&bytes[..length])).unwrap(), bytes[..length]);
        }
    }

    #[test]
    fn refuses_non_canonical_base64() {
        for (text, at) in [
            ("A", 1),
            ("AA", 2),
            ("AAA", 3),
            ("AA=", 3),
            ("A===", 1),
            ("=", 1),
            ("====", 0),
            ("AB==", 4),
            ("AAB=", 4),
            ("Zm9v\n", 4),
            ("-_==", 0),
            ("Zm=v", 2),
        ] {
            assert_eq!(decode(text), Err(at), "{text:?}");
        }
    }
}
