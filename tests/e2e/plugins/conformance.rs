//! The checks of the official XTP conformance suite for a generator's plugins, and similar ones.

use std::str::from_utf8;

use e2e::fixture;
use serde_json::{Value, json};

use super::host::{Host, Hosted};

const BOTH: (bool, bool) = (true, true);

/// The plugin that sends everything to its host.
fn reflect() -> Hosted {
    host().load(&fixture("reflect"))
}

/// A host whose functions return their input or, if the types differ, a suitable value.
fn host() -> Host {
    Host::new()
        .with("reflectJson", BOTH, |input| input)
        .with("reflectUtf8", BOTH, |input| input)
        .with("reflectBytes", BOTH, |input| input)
        .with("reflectWord", BOTH, |input| input)
        .with("reflectNumber", BOTH, |input| input)
        .with("reflectFlag", BOTH, |input| input)
        .with("reflectMaybe", BOTH, |input| match &*input {
            b"" => b"null".to_vec(),
            text => json!(from_utf8(text).expect("text"))
                .to_string()
                .into_bytes(),
        })
        .with("reflectList", BOTH, |input| {
            let list: Value = serde_json::from_slice(&input).expect("JSON");
            json!({ "first": list[0] }).to_string().into_bytes()
        })
        .with("noInput", (false, true), |_| {
            b"noInputWithOutputHost".to_vec()
        })
        .with("noOutput", (true, false), |_| Vec::new())
        .with("neither", (false, false), |_| Vec::new())
}

fn everything() -> Value {
    json!({
        "anOptionalString": null,
        "anInt": i64::MIN,
        "aSmall": -128,
        "aByte": 255,
        "aLarge": u64::MAX,
        "aFloat": 1.1_f32,
        "aDouble": 1.7e308,
        "aFlag": true,
        "anUntypedObject": {"a": {"b": [1, null, "🌍"]}},
        "anEnum": "inky",
        "anEnumArray": ["clyde", "blinky"],
        "aDate": "2024-07-23T16:03:34.000+02:00",
        "aBuffer": "AAH/",
        "aMap": {"": [-32768, 32767], "ключ": []},
        "aNested": {"name": "smörgås\u{1F308}\"\\\n", "data": ["", null, "Zm8="]},
        "manyNested": [{}, {"name": "x"}],
    })
}

#[test]
fn a_value_of_every_type_survives_both_directions() {
    let mut plugin = reflect();
    let mut expected = everything();
    let output = plugin.call("reflectJson", everything().to_string().as_bytes());
    let mut output: Value = serde_json::from_slice(&output.expect("an answer")).expect("JSON");
    // Here null and a missing key mean the same.
    expected
        .as_object_mut()
        .expect("an object")
        .remove("anOptionalString");
    assert_eq!(
        single(output["aFloat"].take()),
        single(expected["aFloat"].take())
    );
    assert_eq!(output, expected);
    let calls = plugin.calls();
    let mut seen: Value = serde_json::from_slice(&calls[0].1).expect("JSON");
    seen["aFloat"].take();
    assert_eq!((calls.len(), seen), (1, expected));
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the schema says that it is one"
)]
fn single(number: Value) -> u32 {
    (number.as_f64().expect("a number") as f32).to_bits()
}

#[test]
fn payloads_that_are_not_json_pass_as_they_are() {
    let mut plugin = reflect();
    let every_byte: Vec<u8> = (0..=255).collect();
    for (export, input, output) in [
        (
            "reflectUtf8",
            "Hello 🌍 World!🌍".as_bytes(),
            "Hello 🌍 World!🌍".as_bytes(),
        ),
        ("reflectUtf8", b"", b""),
        ("reflectBytes", &every_byte, &every_byte),
        ("reflectBytes", b"", b""),
        ("reflectWord", b"pinky", b"pinky"),
        (
            "reflectNumber",
            b"18446744073709551615",
            b"18446744073709552000",
        ),
        ("reflectNumber", b"42", b"42"),
        ("reflectFlag", b"true", b"true"),
        ("reflectMaybe", b"", b"null"),
        ("reflectMaybe", "ä\"".as_bytes(), "\"ä\\\"\"".as_bytes()),
        ("reflectList", br#"["AAH/", ""]"#, br#"{"first":"AAH/"}"#),
    ] {
        assert_eq!(
            plugin.call(export, input).as_deref(),
            Ok(output),
            "{export}"
        );
        let [(name, seen)] = &*plugin.calls() else {
            panic!("{export} asks the host once");
        };
        let sent: &[u8] = if export == "reflectList" {
            br#"["AAH/",""]"#
        } else {
            input
        };
        assert_eq!((&**name, &**seen), (export, sent));
    }
}

#[test]
fn a_buffer_in_json_is_edited_as_bytes() {
    // `Hello 🌍 World!🌍`, and the same with `Goodbye`.
    let input = br#""SGVsbG8g8J+MjSBXb3JsZCHwn4yN""#;
    let output = reflect().call("editBuffer", input).expect("an answer");
    assert_eq!(
        from_utf8(&output),
        Ok(r#""R29vZGJ5ZSDwn4yNIFdvcmxkIfCfjI0=""#)
    );
}

#[test]
fn functions_without_input_or_output_have_none() {
    let mut plugin = reflect();
    let call = |name: &str, input: &[u8]| (name.to_owned(), input.to_vec());
    assert_eq!(
        plugin.call("noInput", b"ignored").as_deref(),
        Ok(&b"noInputWithOutputHost"[..])
    );
    assert_eq!(plugin.call("noOutput", b" 42 ").as_deref(), Ok(&b""[..]));
    assert_eq!(plugin.call("neither", b"").as_deref(), Ok(&b""[..]));
    let expected = [
        call("noInput", b""),
        call("noOutput", b"42"),
        call("neither", b""),
    ];
    assert_eq!(plugin.calls(), expected);
}

#[test]
fn reports_problems_and_continues() {
    let mut plugin = reflect();
    for (export, input, error) in [
        ("missing", &b"x"[..], "export `missing` is not implemented"),
        (
            "noOutput",
            b"",
            "input of export `noOutput`: unexpected end of the text at offset 0",
        ),
        (
            "reflectUtf8",
            b"\xff",
            "input of export `reflectUtf8`: invalid UTF-8 at offset 0",
        ),
        (
            "editBuffer",
            br#""/w==""#,
            "invalid utf-8 sequence of 1 bytes from index 0",
        ),
        (
            "reflectWord",
            b"sue",
            "input of export `reflectWord`: expected `blinky` or `pinky` or `inky` or `clyde`, got \"sue\"",
        ),
        (
            "reflectNumber",
            b"-1",
            "input of export `reflectNumber`: expected a decimal number that fits a `u64`, got \"-1\"",
        ),
        (
            "reflectJson",
            br#"{"anInt":1,"aFloat":1}"#,
            "input of export `reflectJson`: missing field `aDouble` at offset 0",
        ),
    ] {
        assert_eq!(
            plugin.call(export, input),
            Err(error.to_owned()),
            "{export}"
        );
        assert_eq!(plugin.calls(), []);
    }
    assert_eq!(
        plugin.call("reflectUtf8", b"still here").as_deref(),
        Ok(&b"still here"[..])
    );
}

#[test]
fn invalid_output_of_an_import_names_the_import() {
    let wrong = |answer: &'static [u8]| {
        let host = Host::new()
            .with("reflectJson", BOTH, move |_| answer.to_vec())
            .with("reflectUtf8", BOTH, |_| vec![0xff])
            .with("reflectBytes", BOTH, |_| Vec::new())
            .with("reflectWord", BOTH, |_| b"sue".to_vec())
            .with("reflectNumber", BOTH, |_| Vec::new())
            .with("reflectFlag", BOTH, |_| b"1".to_vec())
            .with("reflectMaybe", BOTH, |_| Vec::new())
            .with("reflectList", BOTH, |_| br#"{"k":"?"}"#.to_vec())
            .with("noInput", (false, true), |_| Vec::new())
            .with("noOutput", (true, false), |_| Vec::new())
            .with("neither", (false, false), |_| Vec::new());
        host.load(&fixture("reflect"))
    };
    let mut plugin = wrong(br#"{"manyNested":[{"data":[7]}]}"#);
    let input = everything().to_string();
    for (export, input, error) in [
        (
            "reflectJson",
            input.as_bytes(),
            "answer of import `reflectJson`: wrong type, expected a string at offset 24, in `/manyNested/0/data/0`: got the number 7",
        ),
        (
            "reflectFlag",
            b"true",
            "answer of import `reflectFlag`: wrong type, expected a boolean at offset 0: got the number 1",
        ),
        (
            "reflectMaybe",
            b"",
            "answer of import `reflectMaybe`: unexpected end of the text at offset 0",
        ),
        (
            "reflectList",
            b"[]",
            "answer of import `reflectList`: not base64 (standard alphabet, padded) at offset 5, in `/k`: got the string \"?\"",
        ),
    ] {
        assert_eq!(plugin.call(export, input), Err(error.to_owned()));
    }
    assert_eq!(
        plugin.call("noInput", b"").as_deref(),
        Ok(&b""[..]),
        "no block is an empty text"
    );
}

#[test]
fn blocks_of_memory_are_given_back() {
    // 16 MiB: enough for a hundred of the blocks, not for two thousand.
    let mut plugin = host().load_within(&fixture("reflect"), Some(256));
    assert_eq!(
        plugin.call("reflectOften", b"1000").as_deref(),
        Ok(&b""[..])
    );
    assert_eq!(plugin.calls().len(), 1000);
}
