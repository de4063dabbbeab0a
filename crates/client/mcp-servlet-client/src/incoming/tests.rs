//! What odd messages become.

use super::*;

/// The message as rmcp and callers get it, and what the log says about it. It answers a request of this method.
fn normal(line: &str, method: &str, stateless: bool) -> (String, Vec<String>) {
    let mut mended = Mended::default();
    let text = text(line.as_bytes(), &mut mended);
    let message = Message::read(&text, &mut mended).expect("a message");
    let message = match message {
        Message::Response { id, reply } => {
            let reply = reply.mend_result(method, stateless, &mut mended);
            Message::response(id, reply.unwrap_or_else(Reply::from))
        }
        call @ Message::Call { .. } => call,
    };
    let changes = mended.changes().map(ToString::to_string);
    (message.to_text(), changes.collect())
}

/// Checks what members of a message become. An empty text means that they stay.
#[track_caller]
fn check_message(method: &str, members: &str, expected: &str, changes: &[&str]) {
    check_message_of(method, false, members, expected, changes);
}

#[track_caller]
fn check_message_of(
    method: &str,
    stateless: bool,
    members: &str,
    expected: &str,
    changes: &[&str],
) {
    let message = |members: &str| format!(r#"{{"jsonrpc":"2.0","id":7,{members}}}"#);
    let (text, found) = normal(&message(members), method, stateless);
    let expected = if expected.is_empty() {
        members
    } else {
        expected
    };
    assert_eq!(text, message(expected), "{members}");
    assert_eq!(found, changes, "{members}");
}

/// As [`check`], for a result.
#[track_caller]
fn check_result(method: &str, result: &str, expected: &str, changes: &[&str]) {
    let member = |value: &str| match value {
        "" => String::new(),
        value => format!(r#""result":{value}"#),
    };
    check_message(method, &member(result), &member(expected), changes);
}

#[test]
fn ids_may_be_floats() {
    let result = r#""result":{}"#;
    for (id, expected, changes) in [
        (r#""id":7,"#, r#""id":7,"#, vec![]),
        (r#""id":7.0,"#, r#""id":7,"#, vec!["`id` is a float"]),
        (r#""id":7e0,"#, r#""id":7,"#, vec!["`id` is a float"]),
        (r#""id":"7","#, r#""id":"7","#, vec![]),
        (r#""id":6,"id":7,"#, r#""id":7,"#, vec![]),
        (r#""id":null,"#, "", vec![]),
        (r#""id":[7],"#, "", vec![]),
        ("", "", vec![]),
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0",{id}{result}}}"#);
        let (text, found) = normal(&line, "ping", false);
        assert_eq!(
            text,
            format!(r#"{{"jsonrpc":"2.0",{expected}{result}}}"#),
            "{line}"
        );
        assert_eq!(found, changes, "{line}");
    }
}

#[test]
fn json_that_is_logged_or_keeps_a_connection_alive_is_no_message() {
    for (text, is_message) in [
        ("{}", false),
        (r#"{"type":"ping"}"#, false),
        (r#"{"ts":1,"id":7}"#, false),
        (r#"{"id":7}"#, false),
        (r#"{"level":"info","msg":"done","id":7}"#, false),
        (r#"{"level":"error","error":"retrying","id":7}"#, false),
        (
            r#"{"level":"error","error":{"message":"no"},"id":7}"#,
            false,
        ),
        (r#"{"level":"info","method":"GET","id":7}"#, false),
        (r#"{"level":"info","result":{},"id":7}"#, false),
        (r#"{"jsonrpc":"2.0"}"#, false),
        (r#"{"jsonrpc":"2.0","id":7}"#, true),
        (
            r#"{"jsonrpc":"2.0","id":7,"result":{},"level":"info"}"#,
            true,
        ),
        (r#"{"id":7,"result":{}}"#, true),
        (r#"{"id":7,"result":{},"error":null}"#, true),
        (r#"{"id":7,"error":"no"}"#, true),
        (r#"{"method":"ping","id":7}"#, true),
        (r#"{"jsonrpc":"2.0","id":7,"result":NaN}"#, false),
        ("[]", false),
    ] {
        let message = Message::read(text, &mut Mended::default());
        assert_eq!(message.is_some(), is_message, "{text}");
        let is_object = text.starts_with('{') && !text.contains("NaN");
        let body = Message::read_body(text, &mut Mended::default());
        assert_eq!(body.is_some(), is_object, "{text}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn errors_keep_their_message() {
    const NO_CODE: &str = "`error/code` is not an integer";
    const NO_OBJECT: &str = "`error` is not an object";
    const NEITHER: &str = "the message has neither `result` nor `error`";
    for (members, error, changes) in [
        (
            r#""error":{"code":-32601,"message":"no","data":[1]}"#,
            r#"{"code":-32601,"message":"no","data":[1]}"#,
            vec![],
        ),
        (
            r#""error":{"code":-32601.0,"message":"no"}"#,
            r#"{"code":-32601,"message":"no"}"#,
            vec![],
        ),
        (
            r#""error":{"code":"-32000","message":"no"}"#,
            r#"{"code":-32000,"message":"no"}"#,
            vec![],
        ),
        (
            r#""error":{"code":"E42","message":"full"}"#,
            r#"{"code":-32603,"message":"full"}"#,
            vec![NO_CODE],
        ),
        (
            r#""error":{"code":1.5,"message":"full"}"#,
            r#"{"code":-32603,"message":"full"}"#,
            vec![NO_CODE],
        ),
        (
            r#""error":{"code":null,"message":"full"}"#,
            r#"{"code":-32603,"message":"full"}"#,
            vec![NO_CODE],
        ),
        (
            r#""error":{"message":"full"}"#,
            r#"{"code":-32603,"message":"full"}"#,
            vec![NO_CODE],
        ),
        (
            r#""error":{"code":-32000,"message":null,"data":null}"#,
            r#"{"code":-32000,"message":"no message"}"#,
            vec![],
        ),
        (
            r#""error":{"code":-32000,"message":{"a":1}}"#,
            r#"{"code":-32000,"message":"{\"a\":1}"}"#,
            vec![],
        ),
        (
            r#""error":"full""#,
            r#"{"code":-32603,"message":"full"}"#,
            vec![NO_OBJECT],
        ),
        (
            r#""error":true"#,
            r#"{"code":-32603,"message":"true"}"#,
            vec![NO_OBJECT],
        ),
        (
            r#""result":null,"error":{"code":1,"message":"no"}"#,
            r#"{"code":1,"message":"no"}"#,
            vec![],
        ),
        (
            r#""result":{"content":[]},"error":{"code":1,"message":"no"}"#,
            r#"{"code":1,"message":"no"}"#,
            vec!["`result` and `error` are both there; the error counts"],
        ),
        (
            r#""error":null"#,
            r#"{"code":-32603,"message":"the response has neither a result nor an error"}"#,
            vec![NEITHER],
        ),
        (
            r#""x":1"#,
            r#"{"code":-32603,"message":"the response has neither a result nor an error"}"#,
            vec![NEITHER],
        ),
    ] {
        check_message(
            "tools/call",
            members,
            &format!(r#""error":{error}"#),
            &changes,
        );
    }
    let result = r#""result":{"content":[{"type":"text","text":"fine"}]}"#;
    for members in [
        r#","error":null"#,
        r#","method":null,"params":null,"error":null"#,
    ] {
        check_message("tools/call", &format!("{result}{members}"), result, &[]);
    }
}

#[test]
fn half_a_character_becomes_the_replacement_character() {
    const HALF: &str = "the message has half of a surrogate pair, which became U+FFFD";
    for (written, expected, changes) in [
        (r"cut \ud83d", r"cut �", vec![HALF]),
        (r"cut \uDE00 x", r"cut � x", vec![HALF]),
        (r"\ud83d\ud83d\ude00", r"�😀", vec![HALF]),
        (r"\ud83d\u0041", r"�A", vec![HALF]),
        (r"\ud83d\\ude00", r"�\\ude00", vec![HALF]),
        (r"\\ud83d ü\n", r"\\ud83d ü\n", vec![]),
        (r"\ud83d\ude00", r"\ud83d\ude00", vec![]),
    ] {
        let member = |text: &str| format!(r#""result":{{"_meta":{{"x":"{text}"}}}}"#);
        let (text, found) = normal(
            &format!(r#"{{"jsonrpc":"2.0","id":7,{}}}"#, member(written)),
            "ping",
            false,
        );
        let value = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!(
            value(&text)["result"],
            value(&format!("{{{}}}", member(expected)))["result"]
        );
        assert_eq!(found, changes, "{written}");
    }
    let (text, found) = {
        let mut mended = Mended::default();
        let text = super::text(b"caf\xe9", &mut mended).into_owned();
        (text, mended)
    };
    assert_eq!(text, "caf\u{fffd}");
    assert_eq!(found.changes().count(), 1);
}

#[test]
fn null_is_absent_where_a_member_is_optional() {
    check_result(
        "tools/list",
        r#"{"tools":[{"name":"say","title":null,"inputSchema":{"type":"object","description":null,"properties":{"a":{"default":null,"const":null,"enum":[null],"title":null}}},"outputSchema":null,"annotations":null,"vendor":null},{"name":"two","title":null,"inputSchema":{}}],"nextCursor":null}"#,
        r#"{"tools":[{"name":"say","inputSchema":{"type":"object","properties":{"a":{"default":null,"const":null,"enum":[null]}}},"vendor":null},{"name":"two","inputSchema":{}}]}"#,
        &[
            "`tools/*/title` is null; taken as absent (2 times)",
            "`tools/*/inputSchema/description` is null; taken as absent",
            "`tools/*/inputSchema/properties/*/title` is null; taken as absent",
            "`tools/*/outputSchema` is null; taken as absent",
            "`tools/*/annotations` is null; taken as absent",
            "`nextCursor` is null; taken as absent",
        ],
    );
    check_result(
        "prompts/list",
        r#"{"prompts":[{"name":"p","arguments":[{"name":"a","required":null}],"icons":null}]}"#,
        r#"{"prompts":[{"name":"p","arguments":[{"name":"a"}]}]}"#,
        &[
            "`prompts/*/arguments/*/required` is null; taken as absent",
            "`prompts/*/icons` is null; taken as absent",
        ],
    );
    check_result(
        "tools/call",
        r#"{"content":[{"type":"resource","resource":{"uri":"a:b","mimeType":null,"text":"x"},"annotations":null,"_meta":{"k":null}}],"structuredContent":null,"isError":null,"_meta":null}"#,
        r#"{"content":[{"type":"resource","resource":{"uri":"a:b","text":"x"},"_meta":{"k":null}}]}"#,
        &[
            "`content/*/resource/mimeType` is null; taken as absent",
            "`content/*/annotations` is null; taken as absent",
            "`structuredContent` is null; taken as absent",
            "`isError` is null; taken as absent",
            "`_meta` is null; taken as absent",
        ],
    );
    // Since 2026-07-28, structured content is any JSON. Nothing in it is touched.
    let null = r#""result":{"content":[],"structuredContent":null}"#;
    check_message_of("tools/call", true, null, "", &[]);
    let nested = r#"{"content":[],"structuredContent":{"content":null,"title":null,"a":[]}}"#;
    check_result("tools/call", nested, "", &[]);
    // Members that must be there are left to whoever reads them.
    check_result(
        "tools/list",
        r#"{"tools":[{"name":null,"inputSchema":null}]}"#,
        "",
        &[],
    );
}

#[test]
fn a_list_that_is_null_or_missing_is_empty() {
    for (method, list) in [
        ("tools/list", "tools"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
        ("tools/call", "content"),
        ("resources/read", "contents"),
        ("prompts/get", "messages"),
    ] {
        let empty = format!(r#"{{"{list}":[]}}"#);
        let is = |what: &str| format!("`{list}` is {what}; taken as `[]`");
        check_result(
            method,
            &format!(r#"{{"{list}":null}}"#),
            &empty,
            &[&is("null")],
        );
        check_result(method, "{}", &empty, &[&is("missing")]);
        check_result(method, "[]", "", &[]);
        check_result(method, &empty, "", &[]);
        // Anything else is an error of whoever reads it.
        check_result(method, &format!(r#"{{"{list}":"many"}}"#), "", &[]);
    }
    check_result(
        "tools/call",
        r#"{"structuredContent":{"content":[1]}}"#,
        r#"{"structuredContent":{"content":[1]},"content":[]}"#,
        &["`content` is missing; taken as `[]`"],
    );
    check_result(
        "completion/complete",
        r#"{"completion":{"values":null,"total":null}}"#,
        r#"{"completion":{"values":[]}}"#,
        &[
            "`completion/values` is null; taken as `[]`",
            "`completion/total` is null; taken as absent",
        ],
    );
}

#[test]
fn entries_of_lists_stay() {
    let entries = r#"{"tools":[[],{},null,7,{"name":"a","icons":[[]]}]}"#;
    check_result("tools/list", entries, "", &[]);
}

#[test]
fn empty_arrays_of_php_are_objects_where_mcp_has_objects() {
    check_result(
        "tools/list",
        r#"{"tools":[{"name":"say","inputSchema":{"type":"object","properties":[],"required":{},"$defs":[]},"annotations":[],"_meta":[]}]}"#,
        r#"{"tools":[{"name":"say","inputSchema":{"type":"object","properties":{},"required":[],"$defs":{}},"annotations":{},"_meta":{}}]}"#,
        &[
            "`tools/*/inputSchema/properties` is `[]` where MCP has an object; taken as `{}`",
            "`tools/*/inputSchema/required` is `{}` where MCP has an array; taken as `[]`",
            "`tools/*/inputSchema/$defs` is `[]` where MCP has an object; taken as `{}`",
            "`tools/*/annotations` is `[]` where MCP has an object; taken as `{}`",
            "`tools/*/_meta` is `[]` where MCP has an object; taken as `{}`",
        ],
    );
    check_result(
        "ping",
        "[]",
        "{}",
        &["the message is `[]` where MCP has an object; taken as `{}`"],
    );
    check_result(
        "initialize",
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":[],"logging":true,"prompts":null,"resources":false,"experimental":{"x":[],"y":null}},"serverInfo":{"name":"f","version":"1","title":null}}"#,
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"logging":{},"experimental":{"x":{}}},"serverInfo":{"name":"f","version":"1"}}"#,
        &[
            "`capabilities/tools` is `[]` where MCP has an object; taken as `{}`",
            "`capabilities/logging` is a boolean where MCP has an object",
            "`capabilities/prompts` is null; taken as absent",
            "`capabilities/resources` is a boolean where MCP has an object",
            "`capabilities/experimental/*` is `[]` where MCP has an object; taken as `{}`",
            "`serverInfo/title` is null; taken as absent",
        ],
    );
}

#[test]
fn a_result_of_a_handshake_without_what_mcp_requires_is_an_error_that_names_it() {
    for (result, message) in [
        (
            r#"{"capabilities":{},"serverInfo":{"name":"f","version":"1"}}"#,
            "at `/protocolVersion`: expected a string, found nothing",
        ),
        (
            r#"{"protocolVersion":1,"capabilities":{},"serverInfo":{"name":"f","version":"1"}}"#,
            "at `/protocolVersion`: expected a string, found a number",
        ),
        (
            r#"{"protocolVersion":"1","serverInfo":{"name":"f","version":"1"}}"#,
            "at `/capabilities`: expected an object, found nothing",
        ),
        (
            r#"{"protocolVersion":"1","capabilities":null,"serverInfo":{"name":"f","version":"1"}}"#,
            "at `/capabilities`: expected an object, found null",
        ),
        (
            r#"{"protocolVersion":"1","capabilities":{}}"#,
            "at `/serverInfo`: expected an object, found nothing",
        ),
        (
            r#"{"protocolVersion":"1","capabilities":{},"serverInfo":{"name":"f"}}"#,
            "at `/serverInfo/version`: expected a string, found nothing",
        ),
        ("null", ": expected an object, found null"),
    ] {
        let message = format!("the result of `initialize` is wrong {message}");
        let message = message.replace(" : ", ": ");
        let error = format!(r#""error":{{"code":-32603,"message":"{message}"}}"#);
        check_message("initialize", &format!(r#""result":{result}"#), &error, &[]);
    }
    for result in [
        "{}",
        "null",
        r#"{"capabilities":{},"supportedVersions":"2026-07-28"}"#,
    ] {
        let (text, _) = normal(
            &format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#),
            "server/discover",
            false,
        );
        assert!(
            text.contains("the result of `server/discover` is wrong"),
            "{text}"
        );
    }
}

#[test]
fn hints_for_caches_are_absent_unless_they_have_a_meaning() {
    const WRONG: [&str; 2] = [
        "`ttlMs` has no value that MCP knows; left out",
        "`cacheScope` has no value that MCP knows; left out",
    ];
    let discover = |hints: &str| {
        format!(r#"{{"supportedVersions":["2026-07-28"],"capabilities":{{}}{hints}}}"#)
    };
    let complete = |rest: &str| {
        discover(&format!(
            r#"{rest},"resultType":"complete","ttlMs":0,"cacheScope":"private""#
        ))
    };
    check_result("server/discover", &discover(""), &complete(""), &[]);
    let hints = r#","resultType":"complete","ttlMs":1000,"cacheScope":"public""#;
    check_result("server/discover", &discover(hints), "", &[]);
    for ttl in ["-1", "0.5", "1e20", "\"1000\""] {
        let hints = format!(r#","ttlMs":{ttl},"cacheScope":"shared""#);
        check_result("server/discover", &discover(&hints), &complete(""), &WRONG);
        check_result(
            "tools/list",
            &format!(r#"{{"tools":[]{hints}}}"#),
            r#"{"tools":[]}"#,
            &WRONG,
        );
    }
}

#[test]
fn a_cursor_that_is_no_text_ends_the_list() {
    const WRONG: &str = "`nextCursor` is not a string, so the list may be incomplete; left out";
    for cursor in ["false", "1", "{}"] {
        let page = format!(r#"{{"tools":[{{"name":"say"}}],"nextCursor":{cursor}}}"#);
        let last = r#"{"tools":[{"name":"say"}]}"#;
        check_result("tools/list", &page, last, &[WRONG]);
    }
}

#[test]
fn requests_and_notifications_of_servers_are_mended_too() {
    const NULL: &str = "`params` is null; taken as absent";
    check_message(
        "",
        r#""method":"roots/list","params":null"#,
        r#""method":"roots/list""#,
        &[NULL],
    );
    check_message(
        "",
        r#""method":"roots/list","params":[]"#,
        r#""method":"roots/list","params":{}"#,
        &["the message is `[]` where MCP has an object; taken as `{}`"],
    );
    check_message(
        "",
        r#""method":"elicitation/create","params":{"message":"m","mode":null,"requestedSchema":{"type":"object","properties":[]}}"#,
        r#""method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#,
        &[
            "`mode` is null; taken as absent",
            "`requestedSchema/properties` is `[]` where MCP has an object; taken as `{}`",
        ],
    );
    check_message(
        "",
        r#""method":"notifications/message","params":{"level":"info","logger":null,"data":null}"#,
        r#""method":"notifications/message","params":{"level":"info","data":null}"#,
        &["`logger` is null; taken as absent"],
    );
}

#[test]
fn questions_of_a_result_are_mended_and_lists_of_the_complete_result_are_not_missed() {
    let asks = |params: &str| {
        format!(
            r#""result":{{"resultType":"input_required","inputRequests":{{"a":{{"method":"elicitation/create","params":{params}}}}}}}"#
        )
    };
    let schema = r#""requestedSchema":{"type":"object","properties":{}}"#;
    let good = asks(&format!(r#"{{"message":"m",{schema}}}"#));
    for method in ["tools/call", "resources/read", "prompts/get"] {
        check_message_of(method, true, &good, "", &[]);
        let odd = r#"{"message":"m","mode":null,"requestedSchema":{"type":"object","properties":[],"title":null}}"#;
        check_message_of(
            method,
            true,
            &asks(odd),
            &good,
            &[
                "`inputRequests/*/params/mode` is null; taken as absent",
                "`inputRequests/*/params/requestedSchema/properties` is `[]` where MCP has an object; taken as `{}`",
                "`inputRequests/*/params/requestedSchema/title` is null; taken as absent",
            ],
        );
    }
    check_message_of(
        "tools/call",
        true,
        r#""result":{"resultType":"input_required","isError":null,"inputRequests":{"r":{"method":"roots/list","params":null}}}"#,
        r#""result":{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}"#,
        &[
            "`isError` is null; taken as absent",
            "`inputRequests/*/params` is null; taken as absent",
        ],
    );
    // A value inside the result says nothing about its type.
    let nested =
        r#""result":{"resultType":"input_required","_meta":{"x":{"resultType":"complete"}}}"#;
    check_message_of("tools/call", true, nested, "", &[]);
    // A result of a type that MCP does not have stays as it is.
    let task = r#""result":{"resultType":"task","taskId":"1"}"#;
    check_message_of("tools/call", true, task, "", &[]);
    check_message_of(
        "tools/call",
        true,
        &asks(
            r#"{"messages":[{"role":"user","content":{"type":"tool_result","toolUseId":"1","isError":null,"content":[{"type":"text","text":"x","annotations":null}]},"_meta":null}],"modelPreferences":{"hints":null},"toolChoice":{"mode":null},"tools":[{"name":"t","title":null,"inputSchema":{"title":null}}]}"#,
        ),
        &asks(
            r#"{"messages":[{"role":"user","content":{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"x"}]}}],"modelPreferences":{},"toolChoice":{},"tools":[{"name":"t","inputSchema":{}}]}"#,
        ),
        &[
            "`inputRequests/*/params/messages/*/content/isError` is null; taken as absent",
            "`inputRequests/*/params/messages/*/content/content/*/annotations` is null; taken as absent",
            "`inputRequests/*/params/messages/*/_meta` is null; taken as absent",
            "`inputRequests/*/params/modelPreferences/hints` is null; taken as absent",
            "`inputRequests/*/params/toolChoice/mode` is null; taken as absent",
            "`inputRequests/*/params/tools/*/title` is null; taken as absent",
            "`inputRequests/*/params/tools/*/inputSchema/title` is null; taken as absent",
        ],
    );
    let sample = |content: &str| {
        asks(&format!(
            r#"{{"messages":[{{"role":"user","content":{content}}}],"maxTokens":5}}"#
        ))
    };
    for (content, mended, at) in [
        (
            r#"{"type":"text","text":"x","annotations":null}"#,
            r#"{"type":"text","text":"x"}"#,
            "content",
        ),
        (
            r#"[{"type":"text","text":"x","annotations":null}]"#,
            r#"[{"type":"text","text":"x"}]"#,
            "content/*",
        ),
        ("[]", "[]", ""),
    ] {
        let change = format!(
            "`inputRequests/*/params/messages/*/{at}/annotations` is null; taken as absent"
        );
        let changes = if at.is_empty() {
            vec![]
        } else {
            vec![&*change]
        };
        check_message_of(
            "tools/call",
            true,
            &sample(content),
            &sample(mended),
            &changes,
        );
    }
}

#[test]
fn text_that_nests_too_deep_stays_as_it_is() {
    let deep = format!(
        r#"{{"tools":[{{"inputSchema":{}{}}}]}}"#,
        r#"{"properties":{"a":"#.repeat(200),
        "{}".to_owned() + &"}}".repeat(200)
    );
    check_result("tools/list", &deep, "", &[]);
}
