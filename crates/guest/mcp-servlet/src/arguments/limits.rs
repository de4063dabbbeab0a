//! Checks limits that are not part of a type, such as `maxLength`.
//!
//! They are read from the text of the schema. A servlet without such limits links neither this code nor that text
//! (docs/decisions/0071-limits-from-the-schema.md).

use std::cmp::Ordering;

use mcp_servlet_json::{Error, Reader};

use super::{Arguments, Failure};
use crate::arguments::report::is_meant;
use crate::json::{Children, member};

/// Checks arguments against their schema.
pub(crate) fn check_limits<'a>(
    schema: &'static [u8],
    arguments: &Arguments<'a>,
) -> Result<(), Failure<'a>> {
    let schema = std::str::from_utf8(schema).unwrap_or_default();
    limited("", schema, arguments.whole)?;
    let properties = member(schema, "properties");
    for (field, text) in arguments.fields.iter().zip(&arguments.texts) {
        let schema = member(properties, field.name);
        limited(field.name, schema, text.unwrap_or_default())?;
    }
    Ok(())
}

fn limited<'a>(name: &'static str, schema: &str, text: &'a str) -> Result<(), Failure<'a>> {
    let Some((part, reason)) = broken(schema, text) else {
        return Ok(());
    };
    let offset = part.as_ptr() as usize - text.as_ptr() as usize;
    Err(Failure::Argument {
        name,
        text,
        error: Error::custom_at(reason, offset),
    })
}

/// The first part of a value that breaks a limit of the schema, and the reason for the error message.
pub(crate) fn broken<'a>(schema: &str, value: &'a str) -> Option<(&'a str, &'static str)> {
    let variants = member(schema, "anyOf");
    if !variants.is_empty() {
        return no_variant(variants, value);
    }
    let reason = match value.as_bytes().first()? {
        b'"' => {
            let text = Reader::from(value).string().ok()?;
            let length = outside(schema, "minLength", "maxLength", text.chars().count());
            length.or_else(|| mismatch(member(schema, "pattern"), &text))
        }
        b'[' => {
            let count = Children::new(value).count();
            outside(schema, "minItems", "maxItems", count)
        }
        b'-' | b'0'..=b'9' => {
            let at = |keyword, wrong| {
                let limit = member(schema, keyword);
                !limit.is_empty() && compare(value, limit) == wrong
            };
            let is_outside = at("minimum", Ordering::Less) || at("maximum", Ordering::Greater);
            is_outside.then_some("out of range")
        }
        _ => None,
    };
    match reason {
        Some(reason) => Some((value, reason)),
        None => inside(schema, value),
    }
}

/// The same for the items and members of a value.
fn inside<'a>(schema: &str, value: &'a str) -> Option<(&'a str, &'static str)> {
    let (items, properties) = (member(schema, "items"), member(schema, "properties"));
    let rest = member(schema, "additionalProperties");
    Children::new(value).find_map(|(name, child)| {
        let schemas = [items, member(properties, &name)];
        let schema = schemas.into_iter().find(|schema| !schema.is_empty());
        broken(schema.unwrap_or(rest), child)
    })
}

/// The same for a schema with variants. A value is only compared with variants of its shape: if one of them has no
/// error, there is none; otherwise the error is that of the first.
fn no_variant<'a>(variants: &str, value: &'a str) -> Option<(&'a str, &'static str)> {
    let mut first = None;
    let variants = Children::new(variants).map(|(_, variant)| variant);
    for variant in variants.filter(|variant| is_nearest(variant, value)) {
        let found = broken(variant, value)?;
        first = first.or(Some(found));
    }
    first
}

/// Whether a value has the shape of a variant, or of a variant inside it.
fn is_nearest(variant: &str, value: &str) -> bool {
    let variants = member(variant, "anyOf");
    if variants.is_empty() {
        return is_meant(variant, value);
    }
    Children::new(variants).any(|(_, variant)| is_nearest(variant, value))
}

fn outside(schema: &str, least: &str, most: &str, count: usize) -> Option<&'static str> {
    let limit = |keyword| member(schema, keyword).parse::<usize>();
    if limit(least).is_ok_and(|least| count < least) {
        Some("too short")
    } else if limit(most).is_ok_and(|most| count > most) {
        Some("too long")
    } else {
        None
    }
}

/// The wasm leaves patterns to the host: code for regular expressions would be larger than most servlets.
#[cfg(target_family = "wasm")]
fn mismatch(_: &str, _: &str) -> Option<&'static str> {
    None
}

#[cfg(not(target_family = "wasm"))]
fn mismatch(pattern: &str, text: &str) -> Option<&'static str> {
    let source = Reader::from(pattern).string().ok()?;
    let pattern = regex_lite::Regex::new(&source).ok()?;
    (!pattern.is_match(text)).then_some("does not match the pattern")
}

/// Compares two JSON numbers exactly, as decimals.
fn compare(one: &str, other: &str) -> Ordering {
    let (one, other) = (Decimal::parse(one), Decimal::parse(other));
    match (one.is_negative, other.is_negative) {
        (false, false) => one.magnitude().cmp(&other.magnitude()),
        (true, true) => other.magnitude().cmp(&one.magnitude()),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

/// A number: its digits as a fraction between 0.1 and 1, times ten to the power of the exponent.
struct Decimal {
    is_negative: bool,
    exponent: i64,
    /// Without zeros at either end; none for zero.
    digits: Vec<u8>,
}

impl Decimal {
    fn parse(json: &str) -> Self {
        let (mut digits, mut exponent, mut in_fraction) = (Vec::new(), 0, false);
        let mut bytes = json.bytes();
        for byte in bytes.by_ref() {
            match byte {
                b'.' => in_fraction = true,
                b'e' | b'E' => break,
                b'0' if digits.is_empty() => exponent -= i64::from(in_fraction),
                b'0'..=b'9' => {
                    digits.push(byte);
                    exponent += i64::from(!in_fraction);
                }
                _ => {}
            }
        }
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        let is_zero = digits.is_empty();
        exponent += power(bytes);
        Self {
            is_negative: json.starts_with('-') && !is_zero,
            exponent: if is_zero { i64::MIN } else { exponent },
            digits,
        }
    }

    fn magnitude(&self) -> (i64, &[u8]) {
        (self.exponent, &self.digits)
    }
}

/// The number after the `e`, at most 2^50: the digits of a JSON text are too few to balance a larger exponent.
fn power(bytes: std::str::Bytes<'_>) -> i64 {
    let (mut power, mut sign) = (0, 1);
    for byte in bytes {
        match byte {
            b'-' => sign = -1,
            b'0'..=b'9' => power = (power * 10 + i64::from(byte - b'0')).min(1 << 50),
            _ => {}
        }
    }
    sign * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_exactly() {
        let ascending = [
            "-1e400",
            "-18446744073709551616",
            "-10.5",
            "-1.0e1",
            "-2",
            "-0.001",
            "0",
            "1e-99999999999999999999",
            "0.0001",
            "1e-3",
            "0.01",
            "2",
            "10",
            "10.05",
            "99",
            "100",
            "9007199254740992",
            "9007199254740993",
            "1e400",
        ];
        for (at, one) in ascending.iter().enumerate() {
            for (other_at, other) in ascending.iter().enumerate() {
                assert_eq!(compare(one, other), at.cmp(&other_at), "{one} and {other}");
            }
        }
        for (one, other) in [
            ("0", "-0.0"),
            ("0e5", "0"),
            ("12", "1.2e1"),
            ("12.00", "12"),
            ("1200E-2", "12"),
            ("1e+2", "100"),
        ] {
            assert_eq!(compare(one, other), Ordering::Equal, "{one} and {other}");
        }
    }
}
