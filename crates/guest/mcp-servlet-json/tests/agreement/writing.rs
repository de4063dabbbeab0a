//! Checks that both libraries write the same text, except for the format of some floats.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use mcp_servlet_json::to_string;
use serde::{Serialize, Serializer};

use crate::types::{Adjacent, Flat, Internal, Record, Unit, Untagged, Variants, Wrapper};

fn same<T: Serialize + ?Sized>(value: &T) {
    match (to_string(value), serde_json::to_string(value)) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs),
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("{ours:?} here, {theirs:?} there"),
    }
}

/// Serializes as bytes.
struct Bytes(&'static [u8]);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// Serializes with `collect_str`.
struct Shown<T>(T);

impl<T: fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

#[test]
fn both_write_the_same_integers() {
    same(&[i8::MIN, 0, i8::MAX]);
    same(&[i16::MIN, 0, i16::MAX]);
    same(&[i32::MIN, 0, i32::MAX]);
    same(&[i64::MIN, 0, 9, 10, 99, 100, i64::MAX]);
    same(&[i128::MIN, 0, i128::MAX]);
    same(&[u8::MIN, u8::MAX]);
    same(&[u16::MIN, u16::MAX]);
    same(&[u32::MIN, u32::MAX]);
    same(&[u64::MIN, u64::MAX]);
    same(&[u128::MIN, u128::MAX]);
}

#[test]
fn both_write_the_same_of_most_floats() {
    same(&[
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.1,
        0.001,
        1e15,
        123_456.789,
        1.0 / 3.0,
        1e-10,
        2.5e-300,
    ]);
    same(&[0.1_f32, -0.0, 16_777_216.0, 1.0 / 3.0, f32::MIN_POSITIVE]);
    same(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    same(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
}

#[test]
fn both_write_the_same_strings() {
    let every: String = ('\0'..='\u{180}')
        .chain(['€', '\u{2028}', '\u{feff}', '𝄞', char::MAX])
        .collect();
    same(&every);
    for char in every.chars() {
        same(&char);
        same(&format!("1234567{char}12345678{char}"));
    }
    same("");
    same(&Shown("a \"quoted\" text\n"));
    same(&Shown(format_args!("{}-{}", 1, "\u{1}")));
    same(&Bytes(b""));
    same(&Bytes(b"\x00a\xff"));
}

#[test]
fn both_write_the_same_structures() {
    same(&());
    same(&Unit);
    same(&Wrapper(-1));
    same(&[None, Some(true), Some(false)]);
    same(&Vec::<u8>::new());
    same(&BTreeMap::<String, u8>::new());
    same(&(1, "a", (2.5, [()]), [Some("b")]));
    same(&Record {
        id: 1,
        name: "n\n".into(),
        tag: None,
    });
    same(&Flat {
        id: 1,
        rest: BTreeMap::from([("x".into(), [1, 2].into())]),
    });
}

#[test]
fn both_write_the_same_enums() {
    same(&[
        Variants::One,
        Variants::Two(2),
        Variants::Three(-3, "c".into()),
        Variants::Four { x: 4 },
    ]);
    same(&Variants::Deep(Box::new(Variants::Deep(Box::new(
        Variants::One,
    )))));
    same(&[Internal::A, Internal::B { x: 0.5 }]);
    same(&[Adjacent::A, Adjacent::B(1, 2)]);
    same(&[
        Untagged::Number(1),
        Untagged::Float(0.5),
        Untagged::Pair(true, false),
        Untagged::Record { id: 1 },
    ]);
}

#[test]
fn both_write_the_same_keys() {
    same(&BTreeMap::from([(i8::MIN, 1)]));
    same(&BTreeMap::from([(i64::MIN, 1), (i64::MAX, 2)]));
    same(&BTreeMap::from([(i128::MIN, 1)]));
    same(&BTreeMap::from([(u64::MAX, 1)]));
    same(&BTreeMap::from([(true, 1), (false, 2)]));
    same(&BTreeMap::from([('a', 1), ('"', 2)]));
    same(&BTreeMap::from([(Some("a"), 1)]));
    same(&BTreeMap::from([(Variants::One, 1)]));
    same(&Pairs(&[(0.5, 1), (-2.0, 2)]));
    same(&Pairs(&[(0.5_f32, 1)]));
    same(&Pairs(&[(Shown("\n"), 1)]));
    same(&Pairs(&[(Wrapper(3), 1)]));
}

#[test]
fn neither_writes_other_keys() {
    same(&BTreeMap::from([((), 1)]));
    same(&BTreeMap::from([(None::<u8>, 1)]));
    same(&BTreeMap::from([((1, 2), 1)]));
    same(&BTreeMap::from([(vec![1], 1)]));
    same(&BTreeMap::from([(BTreeMap::from([(1, 1)]), 1)]));
    same(&BTreeMap::from([(BTreeSet::from([1]), 1)]));
    same(&BTreeMap::from([(Variants::Two(1), 1)]));
    same(&BTreeMap::from([(Variants::Three(1, "a".into()), 1)]));
    same(&BTreeMap::from([(Variants::Four { x: 1 }, 1)]));
    same(&Pairs(&[(f64::NAN, 1)]));
    same(&Pairs(&[(Bytes(b"a"), 1)]));
    same(&Pairs(&[(Unit, 1)]));
    same(&Pairs(&[(
        Record {
            id: 1,
            name: "n".into(),
            tag: None,
        },
        1,
    )]));
}

#[test]
fn neither_writes_values_that_fail_to_display() {
    struct Broken;

    impl fmt::Display for Broken {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            Err(fmt::Error)
        }
    }

    let error = to_string(&Shown(Broken)).unwrap_err();
    assert_eq!(error.to_string(), "a `Display` implementation failed");
}

/// A map whose keys need not implement `Ord`.
struct Pairs<'a, K>(&'a [(K, u8)]);

impl<K: Serialize> Serialize for Pairs<'_, K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
