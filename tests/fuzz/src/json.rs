//! Compares the guest's JSON reader with `serde_json`.

use std::str;

use mcp_servlet_json::{ErrorKind, RawJson, from_slice, to_string};
use serde_json::{Number, Value};

/// Whether values are equal. `12.0` and `12` count as equal, because the guest reads integral floats as integers.
fn is_same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(ours), Value::Number(theirs)) => {
            let bits = |number: &Number| number.as_f64().map(f64::to_bits);
            ours == theirs || bits(ours) == bits(theirs)
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            let mut pairs = ours.iter().zip(theirs);
            ours.len() == theirs.len() && pairs.all(|(ours, theirs)| is_same(ours, theirs))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            let has = |(key, ours): (&String, &Value)| {
                theirs.get(key).is_some_and(|theirs| is_same(ours, theirs))
            };
            ours.len() == theirs.len() && ours.iter().all(has)
        }
        (ours, theirs) => ours == theirs,
    }
}

pub(crate) fn run(bytes: &[u8]) {
    let ours = from_slice::<Value>(bytes);
    let theirs = serde_json::from_slice::<Value>(bytes);
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => assert!(is_same(ours, theirs), "{ours} is not {theirs}"),
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("{ours:?} is not {theirs:?}"),
    }
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    // Only a conversion to a value checks the range of numbers.
    let is_range = |error: &mcp_servlet_json::Error| error.kind() == ErrorKind::NumberOutOfRange;
    match RawJson::parse(text) {
        Ok(raw) => {
            assert!(ours.as_ref().err().is_none_or(is_range));
            assert_eq!(raw.get(), text.trim_matches([' ', '\t', '\r', '\n']));
        }
        Err(error) => assert!(ours.is_err(), "{error}"),
    }
    if let Ok(value) = ours {
        let written = to_string(&value).expect("a value has a text");
        let again = from_slice::<Value>(written.as_bytes());
        let again = again.expect("written JSON can be read");
        assert!(is_same(&again, &value), "{written}: {again} is not {value}");
    }
}
