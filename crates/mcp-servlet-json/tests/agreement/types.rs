//! The types into which texts are read, and what it means that both libraries agree.

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

/// Checks all that is to agree on one document.
pub(crate) fn check(name: &str, bytes: &[u8]) {
    check_values(name, bytes);
    check_scalars(name, bytes);
    check_containers(name, bytes);
    let ours = mcp_servlet_json::from_slice::<IgnoredAny>(bytes).is_ok();
    assert_eq!(
        ours,
        serde_json::from_slice::<IgnoredAny>(bytes).is_ok(),
        "{name} ignored"
    );
}

/// Any value, from bytes and from a string, and as a raw text.
fn check_values(name: &str, bytes: &[u8]) {
    same::<Value>(name, bytes);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let ours = mcp_servlet_json::from_str::<Value>(text);
    assert_eq!(
        ours.as_ref().ok(),
        serde_json::from_str(text).as_ref().ok(),
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
        // A raw text may hold a number that is too large for a float.
        Err(error) if error.kind() == ErrorKind::NumberOutOfRange => {
            assert!(
                raw.is_err() || serde_json::from_str::<IgnoredAny>(text).is_ok(),
                "{name} raw"
            );
        }
        Err(error) => assert!(raw.is_err(), "{name} raw: {error}"),
    }
}

fn check_scalars(name: &str, bytes: &[u8]) {
    same::<bool>(name, bytes);
    same::<u8>(name, bytes);
    same::<i8>(name, bytes);
    same::<u16>(name, bytes);
    same::<i32>(name, bytes);
    same::<u64>(name, bytes);
    same::<i64>(name, bytes);
    same::<u128>(name, bytes);
    same::<i128>(name, bytes);
    same::<f32>(name, bytes);
    same::<f64>(name, bytes);
    same::<char>(name, bytes);
    same::<String>(name, bytes);
    same::<()>(name, bytes);
    same::<std::num::NonZeroU8>(name, bytes);
    same::<Wrapper>(name, bytes);
    same::<Unit>(name, bytes);
    same::<Option<u8>>(name, bytes);
    same::<Option<String>>(name, bytes);
}

fn check_containers(name: &str, bytes: &[u8]) {
    same::<Vec<i32>>(name, bytes);
    same::<Vec<Option<u8>>>(name, bytes);
    same::<Vec<Vec<()>>>(name, bytes);
    same::<(u8, bool)>(name, bytes);
    same::<[u8; 2]>(name, bytes);
    same::<BTreeMap<String, Value>>(name, bytes);
    same::<BTreeMap<String, u8>>(name, bytes);
    same::<BTreeMap<i8, u8>>(name, bytes);
    same::<BTreeMap<u64, u8>>(name, bytes);
    same::<BTreeMap<i128, u8>>(name, bytes);
    same::<BTreeMap<bool, u8>>(name, bytes);
    same::<BTreeMap<char, u8>>(name, bytes);
    same::<BTreeMap<Option<String>, u8>>(name, bytes);
    same::<BTreeMap<Variants, u8>>(name, bytes);
    same::<Variants>(name, bytes);
    same::<Internal>(name, bytes);
    same::<Adjacent>(name, bytes);
    same::<Untagged>(name, bytes);
    same::<Flat>(name, bytes);
    if bytes.trim_ascii_start().first() != Some(&b'[') {
        // From an array, only `serde_json` reads a struct.
        same::<Record>(name, bytes);
        same::<Strict>(name, bytes);
    }
}

fn same<T: DeserializeOwned + PartialEq + Debug>(name: &str, bytes: &[u8]) {
    let ours = mcp_servlet_json::from_slice::<T>(bytes);
    let theirs = serde_json::from_slice::<T>(bytes);
    let agree = match (&ours, &theirs) {
        // The debug form of a float tells minus zero from zero.
        (Ok(ours), Ok(theirs)) => ours == theirs && format!("{ours:?}") == format!("{theirs:?}"),
        (Err(_), Err(_)) => true,
        _ => false,
    };
    let ty = std::any::type_name::<T>();
    assert!(agree, "{name} into {ty}: {ours:?} here, {theirs:?} there");
}
