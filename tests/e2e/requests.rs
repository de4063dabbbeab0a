//! Passes requests that our host never sends to the wasm, as bytes: it answers each and never traps.

use e2e::{Profile, wasm};
use extism::{Manifest, Plugin, Wasm};
use serde_json::{Value, json};

const VALID: &str = r#"{"params":{"name":"greet","arguments":{"name":"A\u0064a \ud83e\udd80é"}}}"#;
const PARSE_ERROR: i64 = -32_700;
const INVALID_PARAMS: i64 = -32_602;

/// An example without our host.
struct Raw(Plugin);

impl Raw {
    fn load(example: &str) -> Self {
        let wasm = std::fs::read(wasm(example, Profile::Release)).expect("cargo built it");
        let plugin = Plugin::new(Manifest::new([Wasm::data(wasm)]), [], false);
        Self(plugin.expect("an Extism plugin"))
    }

    /// The answer to a `call`, or the fault's message and code.
    fn call(&mut self, request: impl AsRef<[u8]>) -> Result<Value, (String, i64)> {
        self.ask("call", request)
    }

    /// The answer of an export, or the fault's message and code.
    ///
    /// # Panics
    ///
    /// If the servlet trapped.
    fn ask(&mut self, export: &str, request: impl AsRef<[u8]>) -> Result<Value, (String, i64)> {
        match self.0.call::<_, &str>(export, request.as_ref()) {
            Ok(answer) => Ok(serde_json::from_str(answer).expect("an answer is JSON")),
            Err(error) => {
                assert_eq!(error.chain().count(), 1, "it trapped: {error:?}");
                Err(fault(&error.to_string()))
            }
        }
    }

    fn assert_fault(&mut self, request: impl AsRef<[u8]>, code: i64) {
        let shown = String::from_utf8_lossy(request.as_ref()).into_owned();
        let shown: String = shown.chars().take(200).collect();
        match self.call(request) {
            Err((message, found)) => {
                assert_eq!(found, code, "{shown}: {message}");
                assert!(!message.is_empty(), "{shown}");
            }
            Ok(answer) => panic!("{shown}: {answer}"),
        }
    }
}

/// Splits the text of a fault into its message and the code in its last line.
fn fault(text: &str) -> (String, i64) {
    let (message, data) = text.rsplit_once("\nmcp-fault: ").expect(text);
    let data: Value = serde_json::from_str(data).expect(text);
    let code = data["code"].as_i64().expect(text);
    (message.to_owned(), code)
}

fn greeting(name: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": format!("Hello, {name}!") }] })
}

#[test]
fn a_request_cut_off_anywhere_is_a_parse_error() {
    let mut servlet = Raw::load("greet");
    for end in 0..VALID.len() {
        servlet.assert_fault(&VALID.as_bytes()[..end], PARSE_ERROR);
    }
    assert_eq!(servlet.call(VALID), Ok(greeting("Ada 🦀é")));
}

#[test]
fn a_request_with_one_wrong_byte_is_answered_too() {
    let mut servlet = Raw::load("greet");
    for at in 0..VALID.len() {
        for byte in [0, b'"', b'}', b'9', 0x80, 0xff] {
            let mut request = VALID.as_bytes().to_vec();
            request[at] = byte;
            // Either an answer or a fault is fine, as long as the servlet does not trap.
            let _ = servlet.call(&request);
        }
    }
    assert_eq!(servlet.call(VALID), Ok(greeting("Ada 🦀é")));
}

#[test]
fn text_that_is_not_utf_8_is_a_parse_error() {
    let mut servlet = Raw::load("greet");
    for name in [
        &b"\xff"[..],
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf8\x88\x80\x80\x80",
    ] {
        let start: &[u8] = br#"{"params":{"name":"greet","arguments":{"name":""#;
        servlet.assert_fault([start, name, br#""}}}"#].concat(), PARSE_ERROR);
    }
}

#[test]
fn reports_json_that_is_not_a_request() {
    let mut servlet = Raw::load("greet");
    for request in [
        "null",
        "[]",
        "{}",
        r#"{"params":null}"#,
        r#"{"params":[]}"#,
        r#"{"params":{}}"#,
        r#"{"params":{"name":null}}"#,
        r#"{"params":{"name":7}}"#,
        r#"{"params":{"name":"nobody"}}"#,
    ] {
        servlet.assert_fault(request, INVALID_PARAMS);
    }
}

/// The schema requires neither `params` nor `uri` of a request to read a resource.
#[test]
fn other_exports_report_missing_params() {
    let mut servlet = Raw::load("kv_notes");
    let (reads, prompts, completes) = ("read_resource", "get_prompt", "complete");
    let unnamed = r#"{"params":{"ref":{"type":"ref/prompt","name":"summarize"}}}"#;
    for (export, request, lacks) in [
        (reads, "{}", "`params.uri` must be a string"),
        (reads, r#"{"params":null}"#, "`params.uri` must be a string"),
        (
            reads,
            r#"{"method":"resources/read","params":{}}"#,
            "`params.uri` must be a string",
        ),
        (
            reads,
            r#"{"params":{"uri":7}}"#,
            "`params.uri` must be a string",
        ),
        (prompts, "{}", "`params.name` must be a string"),
        (
            prompts,
            r#"{"params":{"arguments":{}}}"#,
            "`params.name` must be a string",
        ),
        (completes, "{}", "`params.argument` must be an object"),
        (completes, unnamed, "`params.argument` must be an object"),
    ] {
        let fault = servlet.ask(export, request);
        assert_eq!(
            fault,
            Err((lacks.to_owned(), INVALID_PARAMS)),
            "{export} {request}"
        );
    }
    for export in [reads, prompts, completes] {
        let (_, code) = servlet.ask(export, "{").expect_err("it is cut");
        assert_eq!(code, PARSE_ERROR, "{export}");
    }
}

#[test]
fn accepts_members_in_any_order_and_unknown_ones() {
    let mut servlet = Raw::load("greet");
    for request in [
        r#" { "params" : { "arguments" : { "name" : "Ada" } , "name" : "greet" } } "#,
        r#"{"method":"tools/call","params":{"_meta":{"x":[{}]},"name":"greet","arguments":{"name":"Ada"}}}"#,
    ] {
        assert_eq!(servlet.call(request), Ok(greeting("Ada")), "{request}");
    }
}

#[test]
fn absent_and_null_arguments_are_an_empty_object() {
    let mut servlet = Raw::load("greet");
    let expected = "invalid arguments: `/name` is missing";
    for arguments in ["", r#","arguments":null"#, r#","arguments":{}"#] {
        let request = format!(r#"{{"params":{{"name":"greet"{arguments}}}}}"#);
        let answer = servlet.call(&request).expect("a result");
        assert_eq!(answer["isError"], true);
        let text = answer["content"][0]["text"].as_str().expect("text");
        assert!(text.starts_with(expected), "{text}");
    }
}

#[test]
fn arguments_that_are_not_an_object_are_an_error_result() {
    let mut servlet = Raw::load("greet");
    for arguments in ["[]", "7", "true", r#""name""#] {
        let request = format!(r#"{{"params":{{"name":"greet","arguments":{arguments}}}}}"#);
        let answer = servlet.call(&request).expect("a result");
        assert_eq!(answer["isError"], true, "{arguments}");
        let text = answer["content"][0]["text"].as_str().expect("text");
        assert!(text.starts_with("invalid arguments: "), "{text}");
    }
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    let mut servlet = Raw::load("greet");
    for depth in [200, 100_000] {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let nested = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let unclosed = open.repeat(depth);
            for value in [nested, unclosed] {
                for request in [
                    value.clone(),
                    format!(r#"{{"other":{value}}}"#),
                    format!(r#"{{"params":{{"name":"greet","arguments":{{"name":{value}}}}}}}"#),
                    format!(r#"{{"params":{{"name":"greet","arguments":{{"x":{value}}}}}}}"#),
                ] {
                    let answer = servlet.call(&request);
                    let refused = answer.is_err_and(|(message, _)| !message.is_empty());
                    assert!(refused, "{}…, {depth} deep", &request[..20]);
                }
            }
        }
    }
    assert_eq!(servlet.call(VALID), Ok(greeting("Ada 🦀é")));
}

#[test]
fn an_argument_of_a_mebibyte_passes_through() {
    let mut servlet = Raw::load("greet");
    for unit in ["a", "é", "🦀", "\\n"] {
        let name = unit.repeat((1 << 20) / unit.len());
        let request = json!({ "params": { "name": "greet", "arguments": { "name": name } } });
        assert!(
            servlet.call(request.to_string()) == Ok(greeting(&name)),
            "{unit}"
        );
    }
}

#[test]
fn an_unwanted_argument_of_a_mebibyte_is_not_repeated_in_full() {
    let mut servlet = Raw::load("calculator");
    let long = "a".repeat(1 << 20);
    let arguments = json!({ "a": long, "b": 1 });
    let request = json!({ "params": { "name": "add", "arguments": arguments } });
    let answer = servlet.call(request.to_string()).expect("a result");
    let text = answer["content"][0]["text"].as_str().expect("text");
    assert!(text.contains(", got a long string\n"), "{text}");
    assert!(text.len() < 200, "{text}");
}

#[test]
fn numbers_at_the_edges_are_answered() {
    let mut servlet = Raw::load("calculator");
    for number in [
        "1e999",
        "-1e999",
        "1e-999",
        "-0",
        "18446744073709551616",
        "1E+2",
        "0.1e1",
    ] {
        for tool in ["add", "gcd"] {
            let request =
                format!(r#"{{"params":{{"name":"{tool}","arguments":{{"a":{number},"b":1}}}}}}"#);
            let answer = servlet.call(&request).expect("a result");
            assert!(
                answer["content"][0]["text"].is_string(),
                "{request}: {answer}"
            );
        }
    }
}

#[test]
fn describe_accepts_any_input() {
    let mut servlet = Raw::load("greet");
    let expected = servlet.0.call::<_, String>("describe", "").expect("text");
    for input in [&b"null"[..], b"{", b"\xff"] {
        let described = servlet.0.call::<_, String>("describe", input);
        assert_eq!(described.expect("text"), expected);
    }
}
