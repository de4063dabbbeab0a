//! Files of text that people and other programs write.

use std::{fs, path::Path};

/// Reads a text, without the byte order mark that some editors write.
///
/// # Errors
/// Why it cannot be read.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    decode_text(bytes)
}

fn decode_text(bytes: Vec<u8>) -> Result<String, String> {
    match bytes.as_slice() {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return Err("expected UTF-8, found UTF-16".into()),
        [0, b'a', b's', b'm', ..] => return Err("expected text, found a WebAssembly module".into()),
        _ => {}
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("expected UTF-8, found other bytes after the first {at}")
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use super::decode_text;

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_text() {
        assert_eq!(decode_text(b"\xef\xbb\xbf{}".to_vec()).as_deref(), Ok("{}"));
        assert_eq!(decode_text(b"{}".to_vec()).as_deref(), Ok("{}"));
    }

    #[test]
    fn other_files_are_named() {
        for (bytes, problem) in [
            (&b"\xff\xfe{\0}\0"[..], "expected UTF-8, found UTF-16"),
            (
                b"\0asm\x01\0\0\0",
                "expected text, found a WebAssembly module",
            ),
            (
                b"ab\xffc",
                "expected UTF-8, found other bytes after the first 2",
            ),
        ] {
            assert_eq!(decode_text(bytes.to_vec()), Err(problem.to_owned()));
        }
    }
}
