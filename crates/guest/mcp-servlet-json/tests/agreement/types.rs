//! The target types, and the checks that both libraries agree.

use std::collections::BTreeMap;
use std::fmt::Debug;

use mcp_servlet_json::{ErrorKind, RawJson};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) tag: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    id: u8,
    #[serde(default)]
    name: String,
}

#[derive(Debug, PartialEq, PartialOrd, Eq, Ord, Serialize, Deserialize)]
pub(crate) enum Variants {
    One,
    Two(u8),
    Three(i8, String),
    Four { x: i64 },
    Deep(Box<Variants>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Internal {
    A,
    B { x: f32 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", content = "c", rename_all = "lowercase")]
pub(crate) enum Adjacent {
    A,
    B(u8, u8),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Untagged {
    Number(i16),
    Float(f64),
    Text(String),
    Pair(bool, bool),
    Record { id: u8 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Flat {
    pub(crate) id: u8,
    #[serde(flatten)]
    pub(crate) rest: BTreeMap<String, Value>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Wrapper(pub(crate) i32);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unit;

/// Runs all checks on one document.
pub(crate) fn assert_agreement(name: &str, bytes: &[u8]) {
    let text = Text::new(bytes);
    check_values(name, &text);
    check_scalars(name, &text);
    check_containers(name, &text);
    let ours = mcp_servlet_json::from_slice::<IgnoredAny>(bytes).is_ok();
    assert_eq!(
        ours,
        serde_json::from_slice::<IgnoredAny>(bytes).is_ok(),
        "{name} ignored"
    );
}

/// Any value, from bytes and from a string, and as raw JSON.
fn check_values(name: &str, document: &Text<'_>) {
    let bytes = document.bytes;
    same::<Value>(name, document);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let ours = mcp_servlet_json::from_str::<Value>(text);
    assert_eq!(
        ours.as_ref().ok(),
        serde_json::from_slice(&document.integers).as_ref().ok(),
        "{name} as text"
    );
    let raw = RawJson::parse(text);
    assert_eq!(
        raw.is_ok(),
        mcp_servlet_json::from_slice::<RawJson>(bytes).is_ok(),
        "{name} raw"
    );
    match ours {
        Ok(value) => assert_eq!(
            serde_json::to_value(raw.unwrap()).unwrap(),
            value,
            "{name} raw"
        ),
        // Raw JSON may contain a number that is too large for a float.
        Err(error) if error.kind() == ErrorKind::NumberOutOfRange => {
            assert!(
                raw.is_err() || serde_json::from_str::<IgnoredAny>(text).is_ok(),
                "{name} raw"
            );
        }
        Err(error) => assert!(raw.is_err(), "{name} raw: {error}"),
    }
}

fn check_scalars(name: &str, text: &Text<'_>) {
    same::<bool>(name, text);
    same::<u8>(name, text);
    same::<i8>(name, text);
    same::<u16>(name, text);
    same::<i32>(name, text);
    same::<u64>(name, text);
    same::<i64>(name, text);
    same::<u128>(name, text);
    same::<i128>(name, text);
    same::<f32>(name, text);
    same::<f64>(name, text);
    same::<char>(name, text);
    same::<String>(name, text);
    same::<()>(name, text);
    same::<std::num::NonZeroU8>(name, text);
    same::<Wrapper>(name, text);
    same::<Unit>(name, text);
    same::<Option<u8>>(name, text);
    same::<Option<String>>(name, text);
}

fn check_containers(name: &str, text: &Text<'_>) {
    same::<Vec<i32>>(name, text);
    same::<Vec<Option<u8>>>(name, text);
    same::<Vec<Vec<()>>>(name, text);
    same::<(u8, bool)>(name, text);
    same::<[u8; 2]>(name, text);
    same::<BTreeMap<String, Value>>(name, text);
    same::<BTreeMap<String, u8>>(name, text);
    same::<BTreeMap<i8, u8>>(name, text);
    same::<BTreeMap<u64, u8>>(name, text);
    same::<BTreeMap<i128, u8>>(name, text);
    same::<BTreeMap<bool, u8>>(name, text);
    same::<BTreeMap<char, u8>>(name, text);
    same::<BTreeMap<Option<String>, u8>>(name, text);
    same::<BTreeMap<Variants, u8>>(name, text);
    same::<Variants>(name, text);
    same::<Internal>(name, text);
    same::<Adjacent>(name, text);
    same::<Untagged>(name, text);
    same::<Flat>(name, text);
    if text.bytes.trim_ascii_start().first() != Some(&b'[') {
        // Only `serde_json` reads a struct from an array.
        same::<Record>(name, text);
        same::<Strict>(name, text);
    }
}

/// A text, and the same text with integers in the form that `serde_json` accepts.
struct Text<'a> {
    bytes: &'a [u8],
    integers: Vec<u8>,
    /// Including those that are minus zero.
    zeros: Vec<u8>,
}

impl<'a> Text<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            integers: with_integers(bytes, false),
            zeros: with_integers(bytes, true),
        }
    }
}

fn same<T: DeserializeOwned + PartialEq + Debug>(name: &str, text: &Text<'_>) {
    let ours = mcp_servlet_json::from_slice::<T>(text.bytes);
    let mut theirs = serde_json::from_slice::<T>(&text.integers);
    if theirs.is_err() && text.zeros != text.integers {
        theirs = serde_json::from_slice::<T>(&text.zeros);
    }
    let agree = match (&ours, &theirs) {
        // The `Debug` output of floats differs for minus zero and zero.
        (Ok(ours), Ok(theirs)) => ours == theirs && format!("{ours:?}") == format!("{theirs:?}"),
        (Err(_), Err(_)) => true,
        _ => false,
    };
    let ty = std::any::type_name::<T>();
    assert!(agree, "{name} into {ty}: {ours:?} here, {theirs:?} there");
}

/// The text with each whole number outside of strings written as digits; minus zero only if `zero` is set.
fn with_integers(bytes: &[u8], zero: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while let Some(&first) = rest.first() {
        let length = match first {
            b'"' => string(rest),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                rest.iter().take_while(|byte| is_part(byte)).count()
            }
            _ => 1,
        };
        let (token, after) = rest.split_at(length);
        out.extend(integer(token, zero).unwrap_or_else(|| token.to_vec()));
        rest = after;
    }
    out
}

/// The length of a string in bytes.
fn string(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// The digits of a whole number, unless there are very many.
fn integer(token: &[u8], zero: bool) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(token).ok()?;
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => ("-", text),
        None => ("", text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = format!("{whole}{fraction}")
        .trim_start_matches('0')
        .to_owned();
    if digits.is_empty() {
        return (zero || sign.is_empty()).then(|| vec![b'0']);
    }
    let exponent: i64 = exponent.parse().ok()?;
    let mut power = exponent - i64::try_from(fraction.len()).ok()?;
    while power < 0 {
        digits = digits.strip_suffix('0')?.to_owned();
        power += 1;
    }
    digits += &"0".repeat(usize::try_from(power).ok().filter(|zeros| *zeros < 40)?);
    Some(format!("{sign}{digits}").into_bytes())
}
