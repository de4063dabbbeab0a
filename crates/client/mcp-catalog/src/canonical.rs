//! Canonical JSON, and digests of it.

use std::fmt::Write as _;

use serde_json::{Number, Value};
use sha2::{Digest as _, Sha256};

use crate::JsonObject;

/// The value as canonical JSON (RFC 8785): no white space, members sorted by name, and one spelling for
/// each string and number.
///
/// It differs from RFC 8785 in one point: integers of up to 64 bits keep all their digits. The RFC
/// rounds them to the nearest double beyond 2^53, so that two different values could have the same text.
///
/// ```
/// let value = serde_json::json!({ "b": [1.0, 1e21], "a": 9_007_199_254_740_993_u64 });
/// assert_eq!(mcp_catalog::canonical_json(&value), r#"{"a":9007199254740993,"b":[1,1e+21]}"#);
/// ```
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// An object as canonical JSON.
pub(crate) fn canonical_object(members: &JsonObject) -> String {
    let mut out = String::new();
    write_object(members, &mut out);
    out
}

/// The SHA-256 of a text, in hexadecimal.
pub(crate) fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes everything");
        hex
    })
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            write_list(out, ['[', ']'], items, write);
        }
        Value::Object(members) => write_object(members, out),
    }
}

fn write_object(members: &JsonObject, out: &mut String) {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
    write_list(out, ['{', '}'], members, |(name, value), out| {
        write_string(name, out);
        out.push(':');
        write(value, out);
    });
}

fn write_list<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    write: impl Fn(T, &mut String),
) {
    out.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(close);
}

fn write_number(number: &Number, out: &mut String) {
    match number.as_f64() {
        Some(float) if number.is_f64() => {
            out.push_str(ryu_js::Buffer::new().format(float));
        }
        _ => write!(out, "{number}").expect("a string takes everything"),
    }
}

/// `serde_json` escapes exactly what RFC 8785 does.
fn write_string(text: &str, out: &mut String) {
    write!(out, "{}", Value::from(text)).expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn canonical(text: &str) -> String {
        canonical_json(&serde_json::from_str(text).unwrap())
    }

    /// The numbers of RFC 8785, appendix B, that JSON can express.
    #[test]
    fn numbers_are_written_as_in_javascript() {
        for (bits, text) in [
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
        ] {
            assert_eq!(canonical_json(&json!(f64::from_bits(bits))), text);
        }
        assert_eq!(canonical("[1.0, 1e2, -0, 0.10]"), "[1,100,0,0.1]");
    }

    #[test]
    fn integers_of_64_bits_keep_their_digits() {
        let text = "[-9223372036854775808,18446744073709551615]";
        assert_eq!(canonical(text), text);
    }

    /// The example of RFC 8785, section 3.2.3.
    #[test]
    fn members_are_sorted_by_utf_16() {
        let names = [
            "\u{20ac}",
            "\r",
            "\u{fb33}",
            "1",
            "\u{1f600}",
            "\u{80}",
            "\u{f6}",
        ];
        let value: Value = names
            .iter()
            .map(|name| ((*name).to_owned(), json!(1)))
            .collect();
        assert_eq!(
            canonical_json(&value),
            "{\"\\r\":1,\"1\":1,\"\u{80}\":1,\"\u{f6}\":1,\"\u{20ac}\":1,\"\u{1f600}\":1,\"\u{fb33}\":1}"
        );
    }

    /// The example of RFC 8785, section 3.2.2.
    #[test]
    fn strings_have_one_spelling() {
        assert_eq!(
            canonical(r#""\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/""#),
            r#""€$\u000f\nA'B\"\\\\\"/""#
        );
    }

    #[test]
    fn digests_are_in_hexadecimal() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(""), empty);
    }
}
