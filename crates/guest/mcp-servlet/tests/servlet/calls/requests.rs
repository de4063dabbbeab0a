//! The request around the arguments: for any input, the response is a result or a fault, never a panic.

use mcp_servlet::prelude::*;

#[derive(Debug, Deserialize, Schema)]
struct Point {
    x: f64,
    y: Option<f64>,
}

/// Greets.
#[tool]
fn greet(name: String, #[arg(default)] points: Vec<Point>) -> String {
    let sum = points
        .iter()
        .fold(0.0, |sum, point| sum + point.x + point.y.unwrap_or(0.0));
    format!("Hello, {name}! {sum}")
}

/// Takes nothing.
#[tool]
fn ping() -> &'static str {
    "pong"
}

/// Takes everything.
#[tool]
fn echo(#[arg(flatten)] all: std::collections::BTreeMap<String, RawJson>) -> String {
    all.iter()
        .flat_map(|(name, value)| [name, "=", value.get(), ";"])
        .collect()
}

mcp_servlet::export!(static SERVLET = { tools: [greet, ping, echo] });
mcp_servlet::export!(static EMPTY = { tools: [] });

fn answer(request: impl AsRef<[u8]>) -> Result<String, (i64, String)> {
    let answer = SERVLET.client().request("call", request);
    answer.map_err(|fault| (fault.code(), fault.message().to_owned()))
}

fn result(text: &str) -> Result<String, (i64, String)> {
    Ok(format!(
        r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#
    ))
}

#[test]
fn answers_requests_of_every_form() {
    for (request, text) in [
        (r#"{"params":{"name":"ping"}}"#, "pong"),
        (r#"{"params":{"name":"ping","arguments":null}}"#, "pong"),
        (r#"{"params":{"name":"ping","arguments":{}}}"#, "pong"),
        (" {\n\t\"params\" :\r{ \"name\" : \"ping\" } } ", "pong"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping"}}"#,
            "pong",
        ),
        (
            r#"{"method":"prompts/get","params":{"name":"ping"}}"#,
            "pong",
        ),
        (
            r#"{"params":{"_meta":{"a":[1,{}]},"name":"ping","context":null}}"#,
            "pong",
        ),
        (r#"{"params":{"name":"\u0070ing"}}"#, "pong"),
        (
            r#"{"params":{"name":"greet","arguments":{"name":"Ada"}}}"#,
            "Hello, Ada! 0",
        ),
        (
            r#"{"params":{"arguments":{"name":"Ada"},"name":"greet"}}"#,
            "Hello, Ada! 0",
        ),
        (r#"{"params":{"arguments":{},"name":"ping"}}"#, "pong"),
        (
            r#"{"params":{"arguments":{"n\u0061me":"\u00e4\ud83d\udc4d"},"name":"greet"}}"#,
            "Hello, ä👍! 0",
        ),
        (
            r#"{"params":{"name":"greet","arguments":{"points":[{"x":1},{"y":2,"x":0.5}],"name":""}}}"#,
            "Hello, ! 3.5",
        ),
        (
            r#"{"params":{"name":"echo","arguments":{"a": [ 1 ],"b":null}}}"#,
            "a=[ 1 ];b=null;",
        ),
        (r#"{"params":{"name":"echo"}}"#, ""),
        (r#"{"params":{"name":"echo","arguments":null}}"#, ""),
    ] {
        assert_eq!(answer(request), result(text), "{request}");
    }
}

#[test]
fn invalid_request_is_a_fault() {
    const TYPE: &str = "wrong type";
    const NO_NAME: &str = "the request has no `params.name`";
    for (request, code, part) in [
        ("{}", -32_602, NO_NAME),
        (r#"{"params":{}}"#, -32_602, NO_NAME),
        (r#"{"params":{"arguments":{}}}"#, -32_602, NO_NAME),
        ("[]", -32_602, TYPE),
        ("null", -32_602, TYPE),
        ("\"params\"", -32_602, TYPE),
        (r#"{"params":null}"#, -32_602, TYPE),
        (r#"{"params":[]}"#, -32_602, TYPE),
        (r#"{"params":"ping"}"#, -32_602, TYPE),
        (r#"{"params":{"name":null}}"#, -32_602, TYPE),
        (r#"{"params":{"name":7}}"#, -32_602, TYPE),
        (r#"{"params":{"name":["ping"]}}"#, -32_602, TYPE),
    ] {
        let (got, message) = answer(request).expect_err(request);
        assert_eq!(got, code, "{request}");
        assert!(
            message.starts_with("the request ") && message.contains(part),
            "{request}: {message}"
        );
    }
}

#[test]
fn error_says_that_arguments_are_an_object() {
    for (request, got) in [
        (r#"{"params":{"name":"ping","arguments":[]}}"#, "an array"),
        (
            r#"{"params":{"name":"ping","arguments":"{}"}}"#,
            "\\\"{}\\\"",
        ),
        (r#"{"params":{"arguments":7,"name":"ping"}}"#, "7"),
        (r#"{"params":{"name":"echo","arguments":[]}}"#, "an array"),
        (r#"{"params":{"name":"echo","arguments":false}}"#, "false"),
    ] {
        let answer = answer(request).expect(request);
        assert!(
            answer.contains("invalid arguments: the object must match {"),
            "{answer}"
        );
        assert!(
            answer.contains(&format!("}}, got {got}\\nvalid arguments: {{")),
            "{answer}"
        );
    }
}

#[test]
fn fault_for_an_unknown_tool_lists_the_known_ones() {
    for (name, shown) in [
        ("pong", "pong"),
        ("", ""),
        ("Ping", "Ping"),
        ("pi\\ng", "pi\ng"),
    ] {
        let message = format!("unknown tool `{shown}`; this servlet has `greet`, `ping`, `echo`");
        let request = format!(r#"{{"params":{{"name":"{name}","arguments":{{"x":1}}}}}}"#);
        assert_eq!(answer(request), Err((-32_602, message)));
    }
    let fault = EMPTY.call("ping", ()).unwrap_err();
    assert_eq!(fault.code(), Fault::INVALID_PARAMS);
}

#[test]
fn invalid_json_is_a_fault() {
    for request in [
        "",
        "   ",
        "params",
        r#"{"params":{"name":"ping"}} x"#,
        r#"{"params":{"name":"ping"},}"#,
        r#"{"params":{"name":"ping","arguments":{"a":01}}}"#,
        r#"{"params":{"name":"ping","arguments":{"a":NaN}}}"#,
        r#"{"params":{"name":"greet","arguments":{"name":"Ada"]}}}"#,
        r#"{"params":{"arguments":{"a":tru},"name":"ping"}}"#,
        "{\"params\":{\"name\":\"pi\ng\"}}",
        r#"{"params":{"name":"\ud83d"}}"#,
        r#"{"params":{"name":"\x"}}"#,
        r#"{"params":{"name":"ping"},"extra":[1,]}"#,
        "\u{feff}{\"params\":{\"name\":\"ping\"}}",
    ] {
        let (code, message) = answer(request).expect_err(request);
        assert_eq!(code, Fault::PARSE_ERROR, "{request}: {message}");
        assert!(
            message.starts_with("the request is not valid JSON"),
            "{request}: {message}"
        );
    }
    for bytes in [
        &b"\xff"[..],
        b"{\"params\":{\"name\":\"\xc3\x28\"}}",
        b"\xed\xa0\x80",
        b"\x80{}",
    ] {
        let fault = (
            Fault::PARSE_ERROR,
            "the request is not UTF-8 text".to_owned(),
        );
        assert_eq!(answer(bytes), Err(fault));
    }
}

const REQUESTS: &[&str] = &[
    r#"{"jsonrpc":"2.0","params":{"name":"greet","arguments":{"name":"A\u0041ä","points":[{"x":-1.5e3,"y":null}]}}}"#,
    r#"{"params":{"arguments":{"points":[],"name":"","x":[true,{}]},"name":"greet","_meta":{}},"id":7}"#,
    r#"{"params":{"name":"echo","arguments":{"a":[[1],{"b":"c"}]}}}"#,
];

#[test]
fn truncated_request_is_a_fault() {
    for request in REQUESTS {
        assert!(answer(request).is_ok());
        for end in 0..request.len() {
            let (code, _) = answer(&request.as_bytes()[..end]).expect_err("it is cut");
            assert_eq!(code, Fault::PARSE_ERROR, "cut at {end}: {request}");
        }
    }
}

#[test]
fn never_panics_on_a_changed_byte() {
    for request in REQUESTS {
        for at in 0..request.len() {
            for byte in [
                0, b' ', b'"', b'\\', b'{', b'}', b'[', b']', b',', b':', b'0', b'-', b'e', b'n',
                0x7f, 0x80, 0xff,
            ] {
                let mut bytes = request.as_bytes().to_vec();
                bytes[at] = byte;
                let _ = answer(&bytes);
                bytes.insert(at, byte);
                let _ = answer(bytes);
            }
        }
    }
}

#[test]
fn nesting_has_a_limit_and_never_overflows_the_stack() {
    let nested = |depth: usize, before: &str, after: &str| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        answer(format!("{before}{open}{close}{after}"))
    };
    for (before, after) in [
        (r#"{"params":{"name":"echo","arguments":{"a":"#, "}}}"),
        (r#"{"params":{"arguments":{"a":"#, r#"},"name":"echo"}}"#),
        (r#"{"extra":"#, r#","params":{"name":"ping"}}"#),
        ("", ""),
        (
            r#"{"params":{"name":"greet","arguments":{"name":"","points":[{"x":"#,
            "}]}}}",
        ),
    ] {
        for depth in [200, 100_000] {
            let (code, message) = nested(depth, before, after).expect_err("it is too deep");
            assert!(
                matches!(code, Fault::PARSE_ERROR | Fault::INVALID_PARAMS),
                "{code}: {message}"
            );
        }
    }
    let (before, after) = (r#"{"params":{"name":"echo","arguments":{"a":"#, "}}}");
    assert!(nested(100, before, after).is_ok());
}

#[test]
fn last_duplicate_member_wins() {
    for request in [
        r#"{"params":{"name":"pong","name":"ping"}}"#,
        r#"{"params":{"name":"pong"},"params":{"name":"ping"}}"#,
        // The arguments would be read for the first tool and used for the second.
        r#"{"params":{"name":"greet","arguments":{"name":"Ada"},"name":"ping"}}"#,
    ] {
        let message = "the request names two tools".to_owned();
        assert_eq!(answer(request), Err((Fault::INVALID_PARAMS, message)));
    }
    for (request, text) in [
        (
            r#"{"params":{"name":"greet","arguments":{"name":"Ada","name":"Eve"}}}"#,
            "Hello, Eve! 0",
        ),
        (
            r#"{"params":{"name":"greet","arguments":{"name":"Ada"},"arguments":{"name":"Eve"}}}"#,
            "Hello, Eve! 0",
        ),
    ] {
        assert_eq!(answer(request), result(text), "{request}");
    }
}
