//! Tests of `error`.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Deserialize;
use serde::de::{Error as _, IgnoredAny};

use super::{Error, ErrorKind};
use crate::{from_slice, from_str};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only errors are looked at")]
struct Order {
    id: u32,
    #[serde(default)]
    items: Vec<Item>,
    #[serde(default)]
    state: State,
    #[serde(default)]
    pair: (u8, u8),
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only errors are looked at")]
struct Item {
    name: String,
    #[serde(default, deserialize_with = "even")]
    count: u8,
    #[serde(default)]
    part: Option<Part>,
}

#[derive(Debug, Default, Deserialize)]
#[expect(dead_code, reason = "only errors are looked at")]
enum State {
    #[default]
    New,
    Sent {
        day: u16,
    },
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "[u8; 2]")]
struct Part;

impl TryFrom<[u8; 2]> for Part {
    type Error = &'static str;

    fn try_from(_: [u8; 2]) -> Result<Self, &'static str> {
        Err("no such part")
    }
}

fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let count = u8::deserialize(deserializer)?;
    if count % 2 == 0 {
        Ok(count)
    } else {
        Err(D::Error::custom("odd"))
    }
}

fn error<'de, T: Deserialize<'de> + Debug>(text: &'de str) -> Error {
    from_str::<T>(text).unwrap_err()
}

/// Checks the error in a text where `«` marks the expected offset.
#[track_caller]
fn assert_error(marked: &str, kind: ErrorKind<'_>, pointer: &str) {
    let offset = marked.find('«').unwrap();
    let text = marked.replace('«', "");
    let error = error::<Order>(&text);
    assert_eq!(
        (error.kind(), error.offset(), &*error.pointer(&text)),
        (kind, offset, pointer),
        "{marked}"
    );
}

#[test]
fn wrong_values_are_located() {
    assert_error("«7", ErrorKind::WrongType, "");
    assert_error(r#"{"id":«"7"}"#, ErrorKind::WrongType, "/id");
    assert_error(r#"{"id":«-7}"#, ErrorKind::NumberOutOfRange, "/id");
    assert_error(r#"{"id":«4294967296}"#, ErrorKind::NumberOutOfRange, "/id");
    assert_error(
        r#"{"id":«99999999999999999999}"#,
        ErrorKind::NumberOutOfRange,
        "/id",
    );
    assert_error(r#"{"id": «1.5}"#, ErrorKind::WrongType, "/id");
    assert_error(r#"{"id": «1e10}"#, ErrorKind::NumberOutOfRange, "/id");
    assert_error(
        r#"{"id":7,"items":[{"name":"a"},{"name":«null}]}"#,
        ErrorKind::WrongType,
        "/items/1/name",
    );
    assert_error(
        r#"{"id":7,"items":[{"name":"a"}, «"b"]}"#,
        ErrorKind::WrongType,
        "/items/1",
    );
    assert_error(r#"{"id":7,"state":«9}"#, ErrorKind::WrongType, "/state");
    assert_error(
        r#"{"id":7,"state":{"Sent":{"day":«[]}}}"#,
        ErrorKind::WrongType,
        "/state/Sent/day",
    );
}

#[test]
fn errors_of_fields_and_variants_are_located() {
    assert_error(
        r#" «{"items":[{"name":"a"}]}"#,
        ErrorKind::MissingField("id"),
        "",
    );
    assert_error(
        r#"{"id":7,"items":[«{"count":2,"part":null}]}"#,
        ErrorKind::MissingField("name"),
        "/items/0",
    );
    assert_error(
        r#"{"id":7,«"id":8}"#,
        ErrorKind::DuplicateField("id"),
        "/id",
    );
    assert_error(
        r#"{"id":7,«"more":8}"#,
        ErrorKind::UnknownField("more"),
        "/more",
    );
    assert_error(
        r#"{"id":7,"state":«"Lost"}"#,
        ErrorKind::UnknownVariant("Lost"),
        "/state",
    );
    assert_error(
        r#"{"id":7,"state":{«"Lost":1}}"#,
        ErrorKind::UnknownVariant("Lost"),
        "/state/Lost",
    );
    assert_error(
        r#"{"id":7,"state":«"Sent"}"#,
        ErrorKind::WrongType,
        "/state",
    );
    assert_error(
        r#"{"id":7,"state":«{}}"#,
        ErrorKind::InvalidLength,
        "/state",
    );
    assert_error(
        r#"{"id":7,"state":«{"Sent":{"day":1},"New":null}}"#,
        ErrorKind::InvalidLength,
        "/state",
    );
    assert_error(r#"{"id":7,"pair":«[1]}"#, ErrorKind::InvalidLength, "/pair");
    assert_error(
        r#"{"id":7,"pair":«[1,2,3]}"#,
        ErrorKind::InvalidLength,
        "/pair",
    );
}

#[test]
fn errors_in_words_are_located() {
    assert_error(
        r#"{"id":7,"items":[{"name":"a","count":«3}]}"#,
        ErrorKind::Custom("odd"),
        "/items/0/count",
    );
    assert_error(
        r#"{"id":7,"items":[{"name":"a","part":«[1,2]}]}"#,
        ErrorKind::Custom("no such part"),
        "/items/0/part",
    );
    let error = error::<Part>(" [1,2] ");
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::Custom("no such part"), 1)
    );
}

#[test]
fn broken_texts_are_located() {
    assert_error("«", ErrorKind::UnexpectedEnd, "");
    assert_error(r#"{"id":7}«x"#, ErrorKind::TrailingData, "");
    assert_error(r#"{"id":7«"#, ErrorKind::UnexpectedEnd, "");
    assert_error(r#"{"id":«"#, ErrorKind::UnexpectedEnd, "/id");
    assert_error(r#"{"id":«}"#, ErrorKind::Expected("a value"), "/id");
    assert_error(r#"{"id":7,«}"#, ErrorKind::Expected("a key"), "");
    assert_error(r#"{"id"«7}"#, ErrorKind::Expected("`:`"), "");
    assert_error(r#"{"id":0«7}"#, ErrorKind::InvalidNumber, "/id");
    assert_error(
        r#"{"id":7,"items":[{"name":"a«\x"}]}"#.replace("«\\", "\\«").as_str(),
        ErrorKind::InvalidEscape,
        "/items/0/name",
    );
    assert_error(
        r#"{"id":7,"items":[{"name":"a«\ud800"}]}"#,
        ErrorKind::LoneSurrogate,
        "/items/0/name",
    );
    assert_error(
        "{\"id\":7,\"items\":[{\"name\":\"a«\nb\"}]}",
        ErrorKind::ControlCharacter,
        "/items/0/name",
    );
    assert_error(
        r#"{"id":7,"items":[{"name":"a","more":[1,«]}]}"#,
        ErrorKind::Expected("a value"),
        "/items/0/more/1",
    );
    assert_error(
        r#"{"id":7,"items":[{"name":"a"}«;]}"#,
        ErrorKind::Expected("`,` or `]`"),
        "/items",
    );
}

#[test]
fn invalid_utf8_is_located() {
    for (bytes, offset) in [
        (&b"\"abc\xff\""[..], 4),
        (b"\"\\n\\n\xe9\"", 5),
        (b"[\"a\",\"\xc3\"]", 6),
    ] {
        let error = from_slice::<serde_json::Value>(bytes).unwrap_err();
        assert_eq!(
            (error.kind(), error.offset()),
            (ErrorKind::InvalidUtf8, offset)
        );
    }
    assert!(from_slice::<IgnoredAny>(b"\"\xff\"").is_ok());
}

#[test]
fn too_deep_a_text_is_located() {
    let text = "[".repeat(200);
    let error = error::<serde_json::Value>(&text);
    assert_eq!((error.kind(), error.offset()), (ErrorKind::DepthLimit, 127));
    assert_eq!(error.pointer(&text), "/0".repeat(127));
}

#[test]
fn a_pointer_is_escaped() {
    let text = r#"{"a/b":{"m~n":{"":{"\u00e9\n":{"x":"1"}}}}}"#;
    let error = error::<
        BTreeMap<String, BTreeMap<String, BTreeMap<String, BTreeMap<String, BTreeMap<char, u8>>>>>,
    >(text);
    assert_eq!(error.pointer(text), "/a~1b/m~0n//é\n/x");
}

#[test]
fn a_key_has_the_pointer_of_its_value() {
    let text = r#"{"1":1,"x":2}"#;
    let error = error::<BTreeMap<u8, u8>>(text);
    assert_eq!(
        (error.kind(), error.offset(), &*error.pointer(text)),
        (ErrorKind::WrongType, 7, "/x")
    );
}

#[test]
fn a_line_and_a_column_count_from_one() {
    for (text, place) in [
        ("x", (1, 1)),
        ("\n\n x", (3, 2)),
        ("[\"äö\",\r\nx", (2, 1)),
        ("[\"äö\", x", (1, 8)),
    ] {
        assert_eq!(
            error::<Vec<String>>(text).line_column(text),
            Some(place),
            "{text}"
        );
    }
    assert_eq!(error::<u8>("     x").line_column("x"), None);
    assert_eq!(Error::custom("anything").line_column("x"), None);
}

#[test]
fn a_pointer_into_another_text_is_harmless() {
    let error = error::<Order>(r#"{"id":7,"items":[{"name":"a","count":3}]}"#);
    for text in [
        "",
        "[]",
        "[1,2",
        "{\"a\":",
        "nonsense",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    ] {
        let _ = error.pointer(text);
    }
    assert_eq!(Error::custom("anything").pointer("[1]"), "");
}

#[test]
fn errors_display_reason_and_offset() {
    let message = |text: &str| error::<Order>(text).to_string();
    assert_eq!(message("{"), "unexpected end of the text at offset 1");
    assert_eq!(message("{7"), "expected a key at offset 1");
    assert_eq!(message("[7]"), "wrong type, expected an object at offset 0");
    assert_eq!(
        message(r#"{"id":1.5}"#),
        "wrong type, expected an integer at offset 6"
    );
    assert_eq!(message("{}"), "missing field `id` at offset 0");
    assert_eq!(
        message(r#"{"x":1}"#),
        "unknown field `x`, expected id or items or state or pair at offset 1"
    );
    assert_eq!(
        message(r#"{"state":"Lost"}"#),
        "unknown variant `Lost`, expected New or Sent at offset 9"
    );
    assert_eq!(Error::custom("odd").to_string(), "odd");
    assert_eq!(Error::custom_at("odd", 3).to_string(), "odd at offset 3");
    assert_eq!(
        Error::new(ErrorKind::Custom("fixed"), 3).kind(),
        ErrorKind::Custom("fixed")
    );
    assert_eq!(format!("{:?}", Error::custom("odd")), "Error(odd)");
}

#[test]
fn error_has_the_size_of_a_pointer() {
    assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
}
