//! Describes a JSON value in words.

use std::borrow::Cow;

use crate::reader::{Kind, Reader};
use crate::write::write_string;

/// How many characters of a string or a number are shown.
const MAX_SHOWN_CHARS: usize = 40;

/// Describes the value at the start of a JSON text, for messages.
///
/// ```
/// use mcp_servlet_json::describe;
///
/// assert_eq!(describe("null"), "null");
/// assert_eq!(describe("-1.5"), "the number -1.5");
/// assert_eq!(describe(r#""a\"b", …"#), r#"the string "a\"b""#);
/// assert_eq!(describe("[1, 2]"), "an array");
/// assert_eq!(describe("oops"), "no JSON value");
/// ```
pub fn describe(text: &str) -> Cow<'static, str> {
    let mut reader = Reader::from(text);
    let fixed = match reader.peek_kind() {
        Ok(Kind::Null) => "null",
        Ok(Kind::Bool) => match reader.boolean() {
            Ok(true) => "true",
            Ok(false) => "false",
            Err(_) => "no JSON value",
        },
        Ok(Kind::Number) => match reader.number() {
            Ok(number) => return shown("the number ", number, String::push_str),
            Err(_) => "an invalid number",
        },
        Ok(Kind::String) => match reader.string() {
            Ok(string) => return shown("the string ", &string, write_string),
            Err(_) => "an invalid string",
        },
        Ok(Kind::Array) => "an array",
        Ok(Kind::Object) => "an object",
        Err(_) => "no JSON value",
    };
    Cow::Borrowed(fixed)
}

fn shown(what: &str, text: &str, write: fn(&mut String, &str)) -> Cow<'static, str> {
    let mut out = String::from(what);
    match text
        .char_indices()
        .nth(MAX_SHOWN_CHARS)
        .and_then(|(end, _)| text.get(..end))
    {
        Some(start) => {
            let mut cut = String::from(start);
            cut.push('…');
            write(&mut out, &cut);
        }
        None => write(&mut out, text),
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn long_values_are_cut_between_characters() {
        let shortened = describe(&format!("\"{}\"", "é".repeat(41))).into_owned();
        assert_eq!(shortened, format!("the string \"{}…\"", "é".repeat(40)));
        assert_eq!(
            describe(&format!("\"{}\"", "é".repeat(40))).chars().count(),
            53
        );
        assert_eq!(
            describe(&"7".repeat(50)),
            format!("the number {}…", "7".repeat(40))
        );
        assert_eq!(describe(r#""\n\u0001""#), r#"the string "\n\u0001""#);
    }

    #[test]
    fn broken_values_are_described_too() {
        for (text, expected) in [
            ("", "no JSON value"),
            ("tru", "no JSON value"),
            ("\"abc", "an invalid string"),
            ("01", "an invalid number"),
            (" {", "an object"),
        ] {
            assert_eq!(describe(text), expected);
        }
    }
}
