//! Random values and texts.

use std::collections::BTreeMap;

use mcp_servlet_json::{RawJson, from_slice, from_str, to_string};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use crate::types::{Adjacent, Flat, Internal, Record, Untagged, Variants, assert_agreement};

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A float with a fraction: a whole one may be read as an integer.
fn float() -> impl Strategy<Value = Value> {
    let finite = any::<f64>().prop_filter("a fraction", |float| float.fract() != 0.0);
    finite.prop_map(Value::from)
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        float(),
        (-1e6..1e6).prop_map(Value::from),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-z \"\\\\\n\t\u{0}-\u{1f}/äé€𝄞]{0,24}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        text().prop_map(Value::from)
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..6)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// A byte with a meaning in JSON, or any byte.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![
        prop::sample::select(
            &b"[]{},:\"\\/ubdtfnrEe+-.019 \t\n\x00\x1f\x7f\xc3\xa9\xed\xa0\xff"[..]
        ),
        any::<u8>()
    ]
}

#[derive(Clone, Debug)]
enum Edit {
    Insert(Index, u8),
    Replace(Index, u8),
    Remove(Index),
    Repeat(Index, Index),
    Cut(Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        3 => (any::<Index>(), byte()).prop_map(|(at, byte)| Edit::Insert(at, byte)),
        3 => (any::<Index>(), byte()).prop_map(|(at, byte)| Edit::Replace(at, byte)),
        3 => any::<Index>().prop_map(Edit::Remove),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Edit::Repeat(from, to)),
        1 => any::<Index>().prop_map(Edit::Cut),
    ]
}

fn apply(edit: &Edit, bytes: &mut Vec<u8>) {
    let len = bytes.len();
    if len == 0 {
        return;
    }
    match edit {
        Edit::Insert(at, byte) => bytes.insert(at.index(len), *byte),
        Edit::Replace(at, byte) => bytes[at.index(len)] = *byte,
        Edit::Remove(at) => drop(bytes.remove(at.index(len))),
        Edit::Repeat(from, to) => {
            let (from, to) = (from.index(len), to.index(len));
            bytes.extend_from_within(from.min(to)..from.max(to));
        }
        Edit::Cut(at) => bytes.truncate(at.index(len)),
    }
}

fn record() -> impl Strategy<Value = Record> {
    (any::<u32>(), text(), prop::option::of(text())).prop_map(|(id, name, tag)| Record {
        id,
        name,
        tag,
    })
}

fn variants() -> impl Strategy<Value = Variants> {
    let leaf = prop_oneof![
        Just(()).prop_map(|()| Variants::One),
        any::<u8>().prop_map(Variants::Two),
        (any::<i8>(), text()).prop_map(|(number, text)| Variants::Three(number, text)),
        any::<i64>().prop_map(|x| Variants::Four { x }),
    ];
    leaf.prop_recursive(4, 8, 1, |inner| {
        inner.prop_map(|inner| Variants::Deep(Box::new(inner)))
    })
}

fn round_trip<T>(value: &T) -> Result<(), TestCaseError>
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let text = to_string(value).unwrap();
    prop_assert_eq!(&from_str::<T>(&text).unwrap(), value);
    prop_assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value);
    prop_assert_eq!(
        &from_str::<T>(&serde_json::to_string_pretty(value).unwrap()).unwrap(),
        value
    );
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_value_survives_both_ways(value in value()) {
        round_trip(&value)?;
    }

    #[test]
    fn any_value_survives_as_a_raw_text(value in value()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        let raw: RawJson = from_str(&text).unwrap();
        prop_assert_eq!(raw.get(), &text);
        prop_assert_eq!(&to_string(&raw).unwrap(), &text);
        prop_assert_eq!(&serde_json::to_value(&raw).unwrap(), &value);
        let collected: RawJson = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(collected.get()).unwrap(), value);
    }

    #[test]
    fn both_agree_on_any_bytes(bytes in prop::collection::vec(byte(), 0..24)) {
        assert_agreement("bytes", &bytes);
    }

    #[test]
    fn both_agree_on_edited_texts(value in value(), edits in prop::collection::vec(edit(), 1..4)) {
        let mut bytes = serde_json::to_vec(&value).unwrap();
        for edit in &edits {
            apply(edit, &mut bytes);
        }
        assert_agreement(&String::from_utf8_lossy(&bytes), &bytes);
    }

    #[test]
    fn both_agree_on_edited_strings(text in text(), edits in prop::collection::vec(edit(), 1..6)) {
        let mut bytes = serde_json::to_vec(&text).unwrap();
        for edit in &edits {
            apply(edit, &mut bytes);
        }
        assert_agreement(&String::from_utf8_lossy(&bytes), &bytes);
    }

    #[test]
    fn both_agree_on_anything_like_a_number(text in "-?[0-9]{0,25}(\\.[0-9]{0,25})?([eE][-+]?[0-9]{0,4})?") {
        assert_agreement(&text, text.as_bytes());
    }

    #[test]
    fn both_write_the_same_string(text in text()) {
        prop_assert_eq!(to_string(&text).unwrap(), serde_json::to_string(&text).unwrap());
    }

    #[test]
    fn any_float_survives(bits in any::<u64>(), single in any::<u32>()) {
        let (double, single) = (f64::from_bits(bits), f32::from_bits(single));
        if double.is_finite() && single.is_finite() {
            let texts = (to_string(&double).unwrap(), to_string(&single).unwrap());
            prop_assert_eq!(from_str::<f64>(&texts.0).unwrap().to_bits(), double.to_bits());
            prop_assert_eq!(serde_json::from_str::<f64>(&texts.0).unwrap().to_bits(), double.to_bits());
            prop_assert_eq!(from_str::<f32>(&texts.1).unwrap().to_bits(), single.to_bits());
        }
    }

    #[test]
    fn any_record_survives(records in prop::collection::vec(record(), 0..4)) {
        round_trip(&records)?;
    }

    #[test]
    fn any_enum_survives(variants in variants(), x in any::<i8>(), pair in any::<(u8, u8)>(), text in text()) {
        round_trip(&variants)?;
        round_trip(&vec![Internal::A, Internal::B { x: x.into() }])?;
        round_trip(&vec![Adjacent::A, Adjacent::B(pair.0, pair.1)])?;
        round_trip(&vec![Untagged::Number(x.into()), Untagged::Text(text), Untagged::Record { id: pair.0 }])?;
    }

    #[test]
    fn any_map_survives(
        numbers in any::<BTreeMap<i64, u128>>(),
        flags in any::<BTreeMap<bool, i128>>(),
        chars in any::<BTreeMap<char, Option<()>>>(),
        rest in prop::collection::btree_map("[a-c]{1,2}", value(), 0..3),
    ) {
        round_trip(&numbers)?;
        round_trip(&flags)?;
        round_trip(&chars.into_keys().map(|char| (char, 1)).collect::<BTreeMap<_, u8>>())?;
        round_trip(&Flat { id: 1, rest })?;
    }

    #[test]
    fn error_offsets_and_pointers_are_valid(bytes in prop::collection::vec(byte(), 0..24)) {
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = from_slice::<Value>(text.as_bytes()) {
            prop_assert!(error.offset() <= text.len());
            prop_assert!(error.line_column(&text).is_some());
            let _ = error.pointer(&text);
        }
    }
}
