//! Tests of `raw`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{Error as ValueError, StringDeserializer};
use serde::de::{IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde::ser::Impossible;
use serde::{Deserialize, Deserializer, Serialize, Serializer, forward_to_deserialize_any};

use super::RawJson;
use crate::{ErrorKind, from_str, to_string};

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Holder {
    id: u8,
    raw: RawJson,
    more: Option<RawJson>,
    all: Vec<RawJson>,
}

const HOLDER: &str =
    r#"{"id":1,"raw":{"x" : 1.50, "y":"\u00e9"},"more":null,"all":[ 1e2 ,"a", [ ] ]}"#;

fn holder() -> Holder {
    Holder {
        id: 1,
        raw: raw(r#"{"x" : 1.50, "y":"\u00e9"}"#),
        more: None,
        all: vec![raw("1e2"), raw(r#""a""#), raw("[ ]")],
    }
}

#[test]
fn a_text_is_checked_and_trimmed() {
    assert_eq!(RawJson::from_string(" \n{ } ".into()).unwrap().get(), "{ }");
    assert_eq!(
        RawJson::from_string("[1]".into()).unwrap().into_string(),
        "[1]"
    );
    assert_eq!(" 1 ".parse::<RawJson>().unwrap().to_string(), "1");
    assert_eq!(RawJson::default().get(), "null");
    assert_eq!(RawJson::object().get(), "{}");
    assert_eq!(format!("{:?}", raw("[1]")), "RawJson([1])");
    for (text, kind) in [
        ("", ErrorKind::UnexpectedEnd),
        ("1 2", ErrorKind::TrailingData),
        ("[1,]", ErrorKind::Expected("a value")),
        (r#"["\ud800"]"#, ErrorKind::LoneSurrogate),
    ] {
        assert_eq!(RawJson::parse(text).unwrap_err().kind(), kind, "{text}");
        assert_eq!(
            RawJson::from_string(text.into()).unwrap_err().kind(),
            kind,
            "{text}"
        );
    }
}

#[test]
fn equality_is_that_of_the_text() {
    assert_eq!(raw(" 1"), raw("1 "));
    assert_ne!(raw("1"), raw("1.0"));
    assert_ne!(raw("[1]"), raw("[ 1]"));
}

#[test]
fn our_serde_passes_the_text() {
    assert_eq!(from_str::<Holder>(HOLDER).unwrap(), holder());
    assert_eq!(
        to_string(&holder()).unwrap(),
        r#"{"id":1,"raw":{"x" : 1.50, "y":"\u00e9"},"more":null,"all":[1e2,"a",[ ]]}"#
    );
}

#[test]
fn our_serde_checks_the_text_within_the_depth_that_is_left() {
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(from_str::<RawJson>(&deep(127)).is_ok());
    assert!(from_str::<RawJson>(&deep(128)).is_err());
    assert!(from_str::<Vec<RawJson>>(&deep(127)).is_ok());
    assert!(from_str::<Vec<RawJson>>(&deep(128)).is_err());
    assert_eq!(from_str::<Vec<RawJson>>("[1,tru]").unwrap_err().offset(), 6);
}

#[test]
fn another_format_passes_the_values() {
    let value = serde_json::to_value(holder()).unwrap();
    let integers = HOLDER.replace("1e2", "100");
    assert_eq!(
        value,
        serde_json::from_str::<serde_json::Value>(&integers).unwrap()
    );
    assert_eq!(
        serde_json::to_string(&holder()).unwrap(),
        r#"{"id":1,"raw":{"x":1.5,"y":"é"},"more":null,"all":[100,"a",[]]}"#
    );
    let transcoded = Holder {
        raw: raw(r#"{"x":1.5,"y":"é"}"#),
        all: vec![raw("100"), raw(r#""a""#), raw("[]")],
        ..holder()
    };
    assert_eq!(
        serde_json::from_str::<Holder>(&integers).unwrap(),
        transcoded
    );
    assert_eq!(serde_json::from_value::<Holder>(value).unwrap(), transcoded);
}

#[test]
fn another_format_passes_every_kind_of_value() {
    let text = r#"{"a":null,"b":[true,false],"c":[0,-1,18446744073709551615,1.25],"d":"\"\n","e":{},"f":[[],[[]]]}"#;
    let collected: RawJson = serde_json::from_str(text).unwrap();
    assert_eq!(collected.get(), text);
    assert_eq!(serde_json::to_string(&collected).unwrap(), text);
    let numbers = BTreeMap::from([(1_i8, 2.5_f32), (-3, f32::NAN)]);
    let deserializer: serde::de::value::MapDeserializer<'_, _, ValueError> =
        numbers.into_deserializer();
    assert_eq!(
        RawJson::deserialize(deserializer).unwrap().get(),
        r#"{"-3":null,"1":2.5}"#
    );
}

#[test]
fn other_formats_refuse_unsupported_values() {
    assert!(serde_json::to_string(&raw("1e999")).is_err());
    let text = "[".repeat(126) + "1e999" + &"]".repeat(126);
    assert!(serde_json::to_string(&raw(&text)).is_err());
    assert_eq!(to_string(&raw("1e999")).unwrap(), "1e999");
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
enum Tagged {
    Plain { raw: RawJson },
    Inner(Inner),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Inner {
    Struct { raw: RawJson, text: RawJson },
    Tuple(RawJson, u8),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Flat {
    #[serde(flatten)]
    raw: RawJson,
}

#[test]
fn values_buffered_by_serde_are_kept() {
    for (value, text) in [
        (
            Tagged::Plain { raw: raw("[1.5]") },
            r#"{"type":"Plain","raw":[1.5]}"#,
        ),
        (
            Tagged::Inner(Inner::Struct {
                raw: raw(r#"{"x":1.5}"#),
                text: raw(r#""abc""#),
            }),
            r#"{"type":"Inner","Struct":{"raw":{"x":1.5},"text":"abc"}}"#,
        ),
        (
            Tagged::Inner(Inner::Tuple(raw(r#"["a",null,true]"#), 1)),
            r#"{"type":"Inner","Tuple":[["a",null,true],1]}"#,
        ),
    ] {
        assert_eq!(to_string(&value).unwrap(), text);
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
        assert_eq!(from_str::<Tagged>(text).unwrap(), value);
        assert_eq!(serde_json::from_str::<Tagged>(text).unwrap(), value);
    }
    let flat = Flat {
        raw: raw(r#"{"a":1,"b":[]}"#),
    };
    assert_eq!(to_string(&flat).unwrap(), r#"{"a":1,"b":[]}"#);
    assert_eq!(from_str::<Flat>(r#"{"a": 1, "b": []}"#).unwrap(), flat);
}

/// A map with raw keys.
struct Keys(Vec<RawJson>);

impl Serialize for Keys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|key| (key, 1)))
    }
}

#[test]
fn a_raw_string_is_a_key() {
    assert_eq!(
        to_string(&Keys(vec![raw(r#""a\n""#), raw("7")])).unwrap(),
        r#"{"a\n":1,"7":1}"#
    );
    assert!(to_string(&Keys(vec![raw("[]")])).is_err());
    assert_eq!(
        raw_keys(r#"{"a":1,"\u0062":2}"#),
        [raw(r#""a""#), raw(r#""b""#)]
    );
}

fn raw_keys(text: &str) -> Vec<RawJson> {
    struct KeysVisitor;

    impl<'de> Visitor<'de> for KeysVisitor {
        type Value = Vec<RawJson>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Vec<RawJson>, A::Error> {
            let mut keys = Vec::new();
            while let Some((key, IgnoredAny)) = members.next_entry()? {
                keys.push(key);
            }
            Ok(keys)
        }
    }

    Deserializer::deserialize_map(&mut crate::Deserializer::from(text), KeysVisitor)
        .unwrap_or_default()
}

/// A format that is not human-readable and supports only strings.
struct Binary;

macro_rules! no {
    ($($method:ident ( $($arg:ty),* ) -> $ok:ty,)*) => {$(
        fn $method(self, $(_: $arg),*) -> Result<$ok, fmt::Error> {
            Err(fmt::Error)
        }
    )*};
}

impl Serializer for Binary {
    type Ok = String;
    type Error = fmt::Error;
    type SerializeSeq = Impossible<String, fmt::Error>;
    type SerializeTuple = Impossible<String, fmt::Error>;
    type SerializeTupleStruct = Impossible<String, fmt::Error>;
    type SerializeTupleVariant = Impossible<String, fmt::Error>;
    type SerializeMap = Impossible<String, fmt::Error>;
    type SerializeStruct = Impossible<String, fmt::Error>;
    type SerializeStructVariant = Impossible<String, fmt::Error>;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_str(self, text: &str) -> Result<String, fmt::Error> {
        Ok(text.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<String, fmt::Error> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<String, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, fmt::Error> {
        Err(fmt::Error)
    }

    no! {
        serialize_bool(bool) -> String,
        serialize_i8(i8) -> String,
        serialize_i16(i16) -> String,
        serialize_i32(i32) -> String,
        serialize_i64(i64) -> String,
        serialize_u8(u8) -> String,
        serialize_u16(u16) -> String,
        serialize_u32(u32) -> String,
        serialize_u64(u64) -> String,
        serialize_f32(f32) -> String,
        serialize_f64(f64) -> String,
        serialize_char(char) -> String,
        serialize_bytes(&[u8]) -> String,
        serialize_none() -> String,
        serialize_unit() -> String,
        serialize_unit_struct(&'static str) -> String,
        serialize_unit_variant(&'static str, u32, &'static str) -> String,
        serialize_seq(Option<usize>) -> Impossible<String, fmt::Error>,
        serialize_tuple(usize) -> Impossible<String, fmt::Error>,
        serialize_tuple_struct(&'static str, usize) -> Impossible<String, fmt::Error>,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Impossible<String, fmt::Error>,
        serialize_map(Option<usize>) -> Impossible<String, fmt::Error>,
        serialize_struct(&'static str, usize) -> Impossible<String, fmt::Error>,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Impossible<String, fmt::Error>,
    }
}

/// Reads the output of [`Binary`].
struct FromBinary(&'static str);

impl<'de> Deserializer<'de> for FromBinary {
    type Error = ValueError;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        let text: StringDeserializer<ValueError> = String::from(self.0).into_deserializer();
        text.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[test]
fn a_format_for_machines_passes_a_string() {
    assert_eq!(
        raw(r#"{"a": 1.50}"#).serialize(Binary).unwrap(),
        r#"{"a": 1.50}"#
    );
    assert_eq!(
        RawJson::deserialize(FromBinary(r#" {"a": 1.50} "#))
            .unwrap()
            .get(),
        r#"{"a": 1.50}"#
    );
    assert!(RawJson::deserialize(FromBinary("{")).is_err());
}
