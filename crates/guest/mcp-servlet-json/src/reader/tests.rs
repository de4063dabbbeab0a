//! Tests of `reader`.

use std::borrow::Cow;

use super::scan::run;
use super::{Kind, Reader};
use crate::error::{Error, ErrorKind};

#[test]
fn every_kind_is_peeked_and_read() {
    let mut reader = Reader::from(" null true false -1.5e3 \"a\" 7 -7 0.5 ");
    assert_eq!(reader.peek_kind().unwrap(), Kind::Null);
    reader.null().unwrap();
    assert_eq!(reader.peek_kind().unwrap(), Kind::Bool);
    assert!(reader.boolean().unwrap());
    assert!(!reader.boolean().unwrap());
    assert_eq!(reader.peek_kind().unwrap(), Kind::Number);
    assert_eq!(reader.number().unwrap(), "-1.5e3");
    assert_eq!(reader.peek_kind().unwrap(), Kind::String);
    assert_eq!(reader.string().unwrap(), "a");
    assert_eq!(reader.unsigned().unwrap(), 7);
    assert_eq!(reader.signed().unwrap(), -7);
    assert_eq!(reader.float().unwrap().to_bits(), 0.5_f64.to_bits());
    reader.finish().unwrap();
    assert_eq!(
        reader.peek_kind().unwrap_err().kind(),
        ErrorKind::UnexpectedEnd
    );
}

#[test]
fn only_strings_with_escapes_are_copied() {
    let mut reader = Reader::from(r#""plain" "escap\u0065d" """#);
    assert!(matches!(reader.string().unwrap(), Cow::Borrowed("plain")));
    assert_eq!(
        reader.string().unwrap(),
        Cow::<str>::Owned("escaped".into())
    );
    assert!(matches!(reader.string().unwrap(), Cow::Borrowed("")));
}

#[test]
fn a_walk_visits_every_member_and_element() {
    fn walk(reader: &mut Reader<'_>, seen: &mut Vec<String>) -> Result<(), Error> {
        match reader.peek_kind()? {
            Kind::Array => {
                reader.begin_array()?;
                while reader.next_element()? {
                    walk(reader, seen)?;
                }
            }
            Kind::Object => {
                reader.begin_object()?;
                while let Some(key) = reader.next_key()? {
                    seen.push(key.into());
                    walk(reader, seen)?;
                }
            }
            _ => seen.push(reader.skip()?.into()),
        }
        Ok(())
    }

    let mut reader =
        Reader::from(r#" { "a" : [ 1 , [ ] , { } , [ { "b" : null } ] ] , "c" : "\n" } "#);
    let mut seen = Vec::new();
    walk(&mut reader, &mut seen).unwrap();
    reader.finish().unwrap();
    assert_eq!(seen, ["a", "1", "b", "null", "c", r#""\n""#]);
}

#[test]
fn skipping_returns_the_text() {
    let mut reader = Reader::from(" [1, {\"a\": \"]\"}]  \"\\\"\" 1 ");
    assert_eq!(reader.skip().unwrap(), "[1, {\"a\": \"]\"}]");
    assert_eq!(reader.offset(), 16);
    assert_eq!(reader.skip().unwrap(), "\"\\\"\"");
    assert_eq!(reader.skip().unwrap(), "1");
    assert_eq!(Reader::new(b"[\"\xff\"]").skip().unwrap_err().offset(), 2);
}

#[test]
fn the_depth_is_that_of_what_is_open() {
    let siblings = format!("[{}[]]", "[[]],".repeat(200));
    let mut reader = Reader::from(&*siblings);
    reader.begin_array().unwrap();
    while reader.next_element().unwrap() {
        reader.begin_array().unwrap();
        while reader.next_element().unwrap() {
            reader.skip().unwrap();
        }
    }
    assert_eq!(reader.depth, super::MAX_DEPTH);

    let deep = "[".repeat(128);
    let mut reader = Reader::from(&*deep);
    for _ in 0..127 {
        reader.begin_array().unwrap();
        assert!(reader.next_element().unwrap());
    }
    assert_eq!(
        reader.clone().begin_array().unwrap_err().kind(),
        ErrorKind::DepthLimit
    );
    assert_eq!(reader.skip().unwrap_err().kind(), ErrorKind::DepthLimit);
}

#[test]
fn an_integer_may_have_a_point_or_an_exponent() {
    for (text, value) in [
        ("12.0", 12),
        ("1e3", 1000),
        ("1.50E+2", 150),
        ("2500e-2", 25),
        ("0.00012e5", 12),
        ("-0.0", 0),
        ("-0", 0),
        ("0.000e99999999999999999999", 0),
        ("-0e-99999999999999999999", 0),
        ("-1.0", -1),
        ("9007199254740993.0", 9_007_199_254_740_993),
        ("9223372036854775807.0", i64::MAX),
        ("-9.223372036854775808e18", i64::MIN),
    ] {
        assert_eq!(Reader::from(text).signed().unwrap(), value, "{text}");
    }
    let largest = Reader::from("1844674407370955161.50e1").unsigned().unwrap();
    assert_eq!(largest, u64::MAX);
    for (text, value) in [
        ("1.0", 1),
        ("-1e2", -100),
        ("-0.0", 0),
        ("1.70141183460469231731687303715884105727e38", i128::MAX),
        ("-170141183460469231731687303715884105728.00", i128::MIN),
    ] {
        let read = Reader::from(text).long_signed();
        assert_eq!(read.unwrap(), value, "{text}");
    }
    for (text, kind) in [
        ("1.5", ErrorKind::WrongType),
        ("-1.0", ErrorKind::NumberOutOfRange),
        ("1e39", ErrorKind::NumberOutOfRange),
    ] {
        let error = Reader::from(text).long_unsigned().unwrap_err();
        assert_eq!(error.kind(), kind, "{text}");
    }
}

#[test]
fn misplaced_number_error_has_offset() {
    for (text, kind) in [
        ("-1", ErrorKind::NumberOutOfRange),
        ("18446744073709551616", ErrorKind::NumberOutOfRange),
        ("1.5", ErrorKind::WrongType),
        ("-1.0", ErrorKind::NumberOutOfRange),
        ("1e-1", ErrorKind::WrongType),
        ("1e20", ErrorKind::NumberOutOfRange),
        ("1e99999999999999999999", ErrorKind::NumberOutOfRange),
        ("\"1\"", ErrorKind::WrongType),
        ("1.", ErrorKind::UnexpectedEnd),
        ("", ErrorKind::UnexpectedEnd),
        ("x", ErrorKind::Expected("a value")),
    ] {
        assert_eq!(
            Reader::from(text).unsigned().unwrap_err().kind(),
            kind,
            "{text}"
        );
    }
    assert_eq!(
        Reader::from("-9223372036854775808").signed().unwrap(),
        i64::MIN
    );
    assert_eq!(
        Reader::from("9223372036854775808")
            .signed()
            .unwrap_err()
            .kind(),
        ErrorKind::NumberOutOfRange
    );
    assert_eq!(Reader::from(" 1e999").float().unwrap_err().offset(), 1);
}

#[test]
fn a_run_ends_at_what_a_string_must_escape() {
    let text: Vec<u8> = (0..=255).collect();
    for byte in 0..=255 {
        let stops = matches!(byte, b'"' | b'\\' | ..0x20);
        for place in 0..24 {
            let mut bytes = vec![b'~'; 24];
            bytes[place] = byte;
            assert_eq!(
                run(&bytes, 0),
                if stops { place } else { 24 },
                "{byte} at {place}"
            );
        }
    }
    assert_eq!(run(&text[0x23..0x5c], 0), 0x5c - 0x23);
    assert_eq!(run(&text[0x5d..], 0), text.len() - 0x5d);
}
