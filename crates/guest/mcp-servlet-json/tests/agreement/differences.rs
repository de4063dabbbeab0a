//! The rows of the table “Differences from `serde_json`” in the crate's documentation.

use std::collections::BTreeMap;
use std::fmt;

use mcp_servlet_json::{ErrorKind, from_slice, from_str, to_string};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use serde_json::Value;

use crate::types::{Record, Variants};

#[test]
fn a_struct_is_an_object_only() {
    assert!(serde_json::from_str::<Record>(r#"[7,"n",null]"#).is_ok());
    let error = from_str::<Record>(r#"[7,"n",null]"#).unwrap_err();
    assert_eq!(
        (error.kind(), error.expected()),
        (ErrorKind::WrongType, &["an object"][..])
    );

    assert!(serde_json::from_str::<Variants>(r#"{"Four":[4]}"#).is_ok());
    assert_eq!(
        from_str::<Variants>(r#"{"Four":[4]}"#)
            .unwrap_err()
            .offset(),
        8
    );
}

#[test]
fn bytes_come_from_text_only() {
    assert_eq!(
        serde_json::from_str::<Bytes>(r#""\ud800""#).unwrap().0,
        b"\xed\xa0\x80"
    );
    assert_eq!(
        from_str::<Bytes>(r#""\ud800""#).unwrap_err().kind(),
        ErrorKind::LoneSurrogate
    );

    assert_eq!(
        serde_json::from_slice::<Bytes>(b"\"\xff\"").unwrap().0,
        b"\xff"
    );
    assert_eq!(
        from_slice::<Bytes>(b"\"\xff\"").unwrap_err().kind(),
        ErrorKind::InvalidUtf8
    );

    for text in [r#""abc""#, r#""a\nä""#, "[97,98]", "[]"] {
        assert_eq!(
            from_str::<Bytes>(text).unwrap().0,
            serde_json::from_str::<Bytes>(text).unwrap().0
        );
    }
}

#[test]
fn integers_are_not_read_from_floats() {
    assert!(serde_json::from_str::<Rounded>("1.5").is_ok_and(|rounded| rounded.0 == 2));
    let error = from_str::<Rounded>("1.5").unwrap_err();
    assert_eq!(
        (error.kind(), error.expected()),
        (ErrorKind::WrongType, &["an integer"][..])
    );

    assert!(serde_json::from_str::<Rounded>("1e20").is_ok());
    let error = from_str::<Rounded>("1e20").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NumberOutOfRange);
    assert!(serde_json::from_str::<Rounded>("18446744073709551616").is_ok());
    assert_eq!(
        from_str::<Rounded>("18446744073709551616")
            .unwrap_err()
            .kind(),
        ErrorKind::NumberOutOfRange
    );

    assert_eq!(from_str::<Rounded>("7").unwrap().0, 7);
}

#[test]
fn whole_numbers_are_integers_in_any_notation() {
    for text in ["12.0", "1.2e1", "120e-1"] {
        assert!(serde_json::from_str::<u8>(text).is_err());
        assert_eq!(from_str::<u8>(text).unwrap(), 12);
        // The same for `deserialize_any`, which tagged enums use.
        assert_eq!(from_str::<Value>(text).unwrap(), 12);
        let tagged = format!(r#"{{"type":"b","count":{text}}}"#);
        assert_eq!(
            from_str::<Tagged>(&tagged).unwrap(),
            Tagged::B { count: 12 }
        );
    }
    // Keys are strings.
    assert!(from_str::<BTreeMap<u8, u8>>(r#"{"12.0":1}"#).is_err());
    assert!(from_str::<BTreeMap<u128, u8>>(r#"{"12.0":1}"#).is_err());
    // Float targets keep the sign of zero.
    assert_eq!(from_str::<Value>("-0.0").unwrap().to_string(), "-0.0");
}

#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Tagged {
    B { count: u8 },
}

#[test]
fn very_large_and_very_small_floats_have_another_spelling() {
    for (float, ours, theirs) in [(1e21, "1e21", "1e+21"), (5e-5, "5e-5", "0.00005")] {
        let spelled = (
            to_string(&float).unwrap(),
            serde_json::to_string(&float).unwrap(),
        );
        assert_eq!(spelled.0, ours);
        assert_eq!(
            serde_json::from_str::<f64>(&spelled.0).unwrap().to_bits(),
            f64::to_bits(float)
        );
        assert_eq!(spelled.1, theirs);
    }
}

#[test]
fn floats_are_the_nearest_ones_and_finite() {
    // `serde_json` does so with its feature `float_roundtrip`.
    for (text, nearest) in [
        (
            "9007199254740993.00000000000000000000000000000001",
            9_007_199_254_740_994.0,
        ),
        ("2.2250738585072012e-308", 2.225_073_858_507_201_4e-308),
        ("1.7976931348623158e308", f64::MAX),
    ] {
        assert_eq!(
            from_str::<f64>(text).unwrap().to_bits(),
            f64::to_bits(nearest),
            "{text}"
        );
    }
    assert_eq!(
        from_str::<f32>("3.5e38").unwrap_err().kind(),
        ErrorKind::NumberOutOfRange
    );
}

#[test]
fn errors_have_other_texts() {
    let theirs = serde_json::from_str::<Vec<u8>>("[true]")
        .unwrap_err()
        .to_string();
    assert_eq!(
        theirs,
        "invalid type: boolean `true`, expected u8 at line 1 column 5"
    );
    let ours = from_str::<Vec<u8>>("[true]").unwrap_err().to_string();
    assert_eq!(ours, "wrong type, expected a number at offset 1");
}

#[derive(Debug)]
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;

        impl<'de> Visitor<'de> for BytesVisitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.into()))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut elements: A,
            ) -> Result<Bytes, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = elements.next_element()? {
                    bytes.push(byte);
                }
                Ok(Bytes(bytes))
            }
        }

        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}

#[derive(Debug)]
struct Rounded(u64);

impl<'de> Deserialize<'de> for Rounded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RoundedVisitor;

        impl Visitor<'_> for RoundedVisitor {
            type Value = Rounded;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Rounded, E> {
                Ok(Rounded(value))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Rounded, E> {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "that is what is tested"
                )]
                Ok(Rounded(value.round() as u64))
            }
        }

        deserializer.deserialize_u64(RoundedVisitor)
    }
}
