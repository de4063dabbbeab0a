//! Writes strings and numbers as JSON.

use crate::bytes::run;

/// Appends text unchanged.
///
/// The same as `String::push_str`, but never inlined. Code that writes JSON in many pieces becomes smaller, because it
/// does not contain the code to grow the string for each piece.
///
/// ```
/// let mut out = String::from("[");
/// mcp_servlet_json::write_raw(&mut out, "1]");
/// assert_eq!(out, "[1]");
/// ```
#[inline(never)]
pub fn write_raw(out: &mut String, text: &str) {
    out.push_str(text);
}

/// Appends the text as a JSON string, with quotes and escapes.
///
/// ```
/// let mut out = String::new();
/// mcp_servlet_json::write_string(&mut out, "a \"b\"\n\u{1}é/");
/// assert_eq!(out, r#""a \"b\"\n\u0001é/""#);
/// ```
pub fn write_string(out: &mut String, text: &str) {
    write_raw(out, "\"");
    write_escaped(out, text);
    write_raw(out, "\"");
}

/// Appends the text as a JSON string without its quotes.
pub(crate) fn write_escaped(out: &mut String, mut text: &str) {
    loop {
        // A run ends before an ASCII character, so this is a character boundary.
        let Some((plain, rest)) = text.split_at_checked(run(text.as_bytes(), 0)) else {
            return;
        };
        write_raw(out, plain);
        let mut rest = rest.chars();
        let Some(char) = rest.next() else { return };
        write_escape(out, char);
        text = rest.as_str();
    }
}

fn write_escape(out: &mut String, char: char) {
    let escape = match char {
        '\x08' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\x0c' => "\\f",
        '\r' => "\\r",
        '"' => "\\\"",
        '\\' => "\\\\",
        '\0'..='\x0f' => "\\u000",
        _ => "\\u001",
    };
    write_raw(out, escape);
    if escape.len() > 2 {
        let digit = u32::from(char) as usize & 15;
        write_raw(
            out,
            "0123456789abcdef".get(digit..=digit).unwrap_or_default(),
        );
    }
}

/// Appends a step of a JSON pointer (RFC 6901): `/` and the key or index, escaped.
///
/// ```
/// let mut pointer = String::new();
/// mcp_servlet_json::write_pointer_step(&mut pointer, "a/b~c");
/// assert_eq!(pointer, "/a~1b~0c");
/// ```
pub fn write_pointer_step(out: &mut String, key: &str) {
    write_raw(out, "/");
    for character in key.chars() {
        let mut buffer = [0; 4];
        let escaped = match character {
            '~' => "~0",
            '/' => "~1",
            _ => character.encode_utf8(&mut buffer),
        };
        write_raw(out, escaped);
    }
}

/// Appends a number.
///
/// Not inlined, so that [`write_i64`] does not contain a second copy.
#[inline(never)]
pub fn write_u64(out: &mut String, mut value: u64) {
    let mut buffer = [0_u8; 20];
    let mut start = buffer.len();
    for (index, slot) in buffer.iter_mut().enumerate().rev() {
        start = index;
        *slot = b'0' | (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    let digits = buffer.get(start..).unwrap_or_default();
    write_raw(out, std::str::from_utf8(digits).unwrap_or_default());
}

/// Appends a number.
pub fn write_i64(out: &mut String, value: i64) {
    if value < 0 {
        write_raw(out, "-");
    }
    write_u64(out, value.unsigned_abs());
}
