//! Calls of virtual tools: the arguments of the handler, its result, and its failures.

mod support;

use mcp_servlet_bundle::{
    Budget, CheckArguments, FailureKind, JsonObject, Proven, Refused, Request, RpcError, Session,
    Thrown,
};
use serde_json::{Value, json};
use support::{compile, weather};

fn tool(spec: &Value) -> Proven {
    tool_over(&weather(), spec)
}

fn tool_over(handler: &JsonObject, spec: &Value) -> Proven {
    let tool = compile(spec).unwrap_or_else(|problems| panic!("{spec}: {problems:?}"));
    tool.prove(&[handler])
        .unwrap_or_else(|problems| panic!("{spec}: {problems:?}"))
}

/// Runs something with the request of a client.
fn with<T>(arguments: Option<&JsonObject>, run: impl FnOnce(&Request<'_>) -> T) -> T {
    let info = json!({ "name": "c" });
    let session = Session {
        id: "s-1".to_owned(),
        client_info: info.as_object().cloned().expect("an object"),
        ..Session::default()
    };
    let meta = json!({ "trace": "t" })
        .as_object()
        .cloned()
        .expect("an object");
    run(&Request {
        name: "city_weather",
        arguments,
        meta: &meta,
        session: &session,
    })
}

fn prepare(tool: &Proven, arguments: &Value) -> Result<Option<Value>, Refused> {
    let checks = CheckArguments::Check;
    let accepted = tool.accepted(arguments.as_object(), checks);
    let accepted = accepted.map_err(Refused::Arguments)?;
    with(accepted.as_ref(), |request| {
        let (steps, mut budget) = (JsonObject::new(), Budget::default());
        let inputs = tool.inputs(0, None, request, &steps, checks, &mut budget)?;
        Ok(inputs.map(Value::Object))
    })
}

fn finish(tool: &Proven, arguments: &Value, result: Value) -> Result<Value, RpcError> {
    with(arguments.as_object(), |request| {
        let mut budget = Budget::default();
        let steps = JsonObject::new();
        tool.inputs(0, None, request, &steps, CheckArguments::Check, &mut budget)
            .expect("arguments");
        let result = result.as_object().cloned().expect("an object");
        let mapped = tool.result(request, &result, &mut budget)?;
        Ok(mapped.unwrap_or(result).into())
    })
}

fn catch(tool: &Proven, thrown: &Thrown) -> Option<RpcError> {
    let arguments = json!({ "city": "Oslo", "units": "m" });
    with(arguments.as_object(), |request| {
        tool.caught(request, thrown, &mut Budget::default())
    })
}

#[test]
fn inputs_make_all_arguments_and_set_fixes_some() {
    let mapped = tool(&json!({ "inputs": {
        "city": "${{ request.arguments.place }}",
        "units": "${{ request.session.id + request.session.clientInfo.name + request.meta.trace }}",
        "days": "${{ request.arguments.?days }}",
    } }));
    assert_eq!(
        prepare(&mapped, &json!({ "place": "Oslo" })),
        Ok(Some(json!({ "city": "Oslo", "units": "s-1ct" })))
    );
    let fixed = tool(&json!({ "set": { "units": "metric" } }));
    assert_eq!(
        prepare(&fixed, &json!({ "days": 2, "city": "Oslo" })),
        Ok(Some(
            json!({ "days": 2, "city": "Oslo", "units": "metric" })
        ))
    );
    for arguments in [
        json!({ "city": "Oslo", "units": "x" }),
        json!({ "city": 42 }),
        json!({}),
    ] {
        let refused = prepare(&fixed, &arguments).expect_err("refused");
        assert!(
            matches!(&refused, Refused::Arguments(text) if text.starts_with("invalid arguments: `/")),
            "{refused:?}"
        );
    }
    let same = tool(&json!({}));
    assert_eq!(
        prepare(&same, &json!({ "city": "a", "units": "b" })),
        Ok(Some(json!({ "city": "a", "units": "b" })))
    );
}

#[test]
fn the_model_learns_what_is_wrong_with_its_own_arguments_only() {
    let arguments = json!({ "properties": { "n": {}, "m": {} }, "required": ["n"] });
    let tool = tool(&json!({
        "arguments": arguments,
        "inputs": { "city": "${{ request.arguments.n }}", "units": "${{ request.arguments.m + request.arguments.m }}" },
    }));
    let refused = prepare(&tool, &json!({ "n": 7, "m": "x" })).expect_err("refused");
    assert_eq!(
        refused,
        Refused::Arguments(
            "invalid arguments: `/n` must match {\"type\":\"string\"}, got 7".to_owned()
        )
    );
    let Refused::Error(error) =
        prepare(&tool, &json!({ "n": "x", "m": 4242 })).expect_err("refused")
    else {
        panic!("an error for the client");
    };
    assert_eq!(error.code, -32603);
    assert_eq!(
        error.data,
        Some(
            json!({ "bundle": "ops", "tool": "city_weather", "at": "inputs.units", "code": "MAPPING_FAILED" })
        )
    );
    assert!(!format!("{error:?}").contains("8484"), "{error:?}");
}

/// The text for the model about these arguments.
fn refusal(tool: &Proven, arguments: &Value) -> String {
    match prepare(tool, arguments) {
        Err(Refused::Arguments(text)) => text,
        other => panic!("{arguments}: {other:?}"),
    }
}

#[test]
fn the_model_learns_which_arguments_the_handler_requires_and_does_not_know() {
    let optional = tool(&json!({
        "inputs": { "city": "${{ request.arguments.?place }}", "units": "m" },
    }));
    let required = optional.definition()["inputSchema"].get("required");
    assert_eq!(required, None, "it may be left out");
    let missing = "invalid arguments: `/place` is missing";
    assert_eq!(refusal(&optional, &json!({})), missing);
    // Other keywords than `required` may require an argument, so this is only found in a call.
    let elsewhere = tool(&json!({
        "arguments": { "properties": { "city": {} }, "anyOf": [{}] },
        "set": { "units": "m" },
    }));
    let missing = "invalid arguments: `/city` is missing";
    assert_eq!(refusal(&elsewhere, &json!({})), missing);

    let mut closed = weather();
    closed["inputSchema"]["additionalProperties"] = json!(false);
    let open = tool_over(
        &closed,
        &json!({
            "arguments": { "properties": { "city": {} }, "required": ["city"] },
            "set": { "units": "m" },
        }),
    );
    let unknown = "invalid arguments: `/more` is unknown";
    let arguments = json!({ "city": "Oslo", "more": 1 });
    assert_eq!(refusal(&open, &arguments), unknown);
}

#[test]
fn a_handler_that_names_no_arguments_gets_all_of_them() {
    let handler = json!({ "name": "get_weather", "inputSchema": { "type": "object" } });
    let handler = handler.as_object().expect("an object");
    let fixed = tool_over(handler, &json!({ "set": { "units": "metric" } }));
    assert_eq!(
        fixed.definition()["inputSchema"],
        json!({ "type": "object" })
    );
    assert_eq!(
        prepare(&fixed, &json!({ "city": "Oslo" })),
        Ok(Some(json!({ "city": "Oslo", "units": "metric" })))
    );
    let unknown = "invalid arguments: `/units` is unknown";
    assert_eq!(refusal(&fixed, &json!({ "units": "m" })), unknown);
    let mapped = json!({ "inputs": { "city": "${{ request.arguments.place }}", "units": "m" } });
    let mapped = tool_over(handler, &mapped);
    assert_eq!(
        prepare(&mapped, &json!({ "place": [1] })),
        Ok(Some(json!({ "city": [1], "units": "m" })))
    );
}

#[test]
fn an_input_without_a_value_ends_the_call() {
    let tool = tool(&json!({
        "arguments": { "properties": { "n": {} } },
        "inputs": { "city": "${{ 'a' + request.arguments.n }}", "units": "m" },
    }));
    let Refused::Error(error) = prepare(&tool, &json!({ "n": 31337 })).expect_err("refused") else {
        panic!("an error for the client");
    };
    let text = "tool `city_weather` cannot fill `inputs.city`: an operator or a function does not take these values";
    assert_eq!(error.message, text);
}

#[test]
fn results_are_mapped() {
    let tool = tool(&json!({
        "output": { "type": "object", "properties": { "celsius": { "type": "number" } } },
        "result": {
            "content": [{ "type": "text", "text": "${{ result.summary }} in ${{ request.arguments.city }}" }],
            "structuredContent": { "celsius": "${{ result.temperature }}" },
            "isError": "${{ result.isError }}",
            "_meta": { "acme/source": "weather" },
        },
    }));
    let arguments = json!({ "city": "Oslo", "units": "m" });
    let result =
        json!({ "content": [], "structuredContent": { "summary": "rain", "temperature": 7.50 } });
    assert_eq!(
        finish(&tool, &arguments, result),
        Ok(json!({
            "content": [{ "type": "text", "text": "rain in Oslo" }],
            "structuredContent": { "celsius": 7.5 },
            "_meta": { "acme/source": "weather" },
        }))
    );
    let failed = json!({ "content": [], "structuredContent": { "summary": "x", "temperature": "?" }, "isError": true });
    assert_eq!(
        finish(&tool, &arguments, failed).expect("a result")["isError"],
        json!(true)
    );
    // A failure that the mapping has no value for passes with its text.
    let text = json!([{ "type": "text", "text": "no such city" }]);
    let failed = json!({ "content": text, "isError": true });
    assert_eq!(finish(&tool, &arguments, failed.clone()), Ok(failed));
    for (result, code, at) in [
        (
            json!({ "content": [], "structuredContent": { "summary": "x", "temperature": "s3cret" } }),
            "RESULT_INVALID",
            "/structuredContent/celsius",
        ),
        (
            json!({ "content": [], "structuredContent": { "summary": "x" } }),
            "MAPPING_FAILED",
            "result.structuredContent.celsius",
        ),
    ] {
        let error = finish(&tool, &arguments, result).expect_err("an error");
        let data = error.data.clone().expect("data");
        assert_eq!(
            (error.code, &data["code"], &data["at"]),
            (-32603, &json!(code), &json!(at))
        );
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}

#[test]
fn an_absent_is_error_is_false() {
    let arguments = json!({ "city": "Oslo", "units": "m" });
    let tool = |is_error: &str| {
        let result = json!({ "content": [], "isError": is_error });
        tool(&json!({ "result": result }))
    };
    let good = json!({ "content": [], "structuredContent": { "summary": "rain" } });
    for is_error in ["${{ result.isError }}", "${{ result.temperature > 40 }}"] {
        assert_eq!(
            finish(&tool(is_error), &arguments, good.clone()),
            Ok(json!({ "content": [] })),
            "{is_error}"
        );
    }
    // A failure of the handler does not become a good result.
    let failed = json!({ "content": [], "isError": true, "_meta": { "a": 1 } });
    assert_eq!(
        finish(
            &tool("${{ result.temperature > 40 }}"),
            &arguments,
            failed.clone()
        ),
        Ok(failed)
    );
    // Other expressions without a value are errors.
    let error = finish(&tool("${{ int(result.summary) + 1 }}"), &arguments, good);
    assert!(error.is_err_and(|error| error.message.contains("cannot fill `result.isError`")));
}

#[test]
fn content_that_is_not_content_is_an_error() {
    let arguments = json!({ "city": "Oslo", "units": "m" });
    let tool = tool(&json!({ "result": { "content": "${{ result.structuredContent }}" } }));
    for (structured, at) in [
        (json!(7), "/content"),
        (json!([{ "type": "text" }]), "/content/0/text"),
        (json!([{ "type": "hologram" }]), "/content/0/type"),
        (
            json!([{ "type": "resource", "resource": { "uri": "a:b" } }]),
            "/content/0/resource",
        ),
    ] {
        let error = finish(
            &tool,
            &arguments,
            json!({ "structuredContent": structured }),
        )
        .expect_err("an error");
        assert_eq!(error.data.expect("data")["at"], at);
    }
    // Without a mapping for failures, they pass.
    let failed = json!({ "content": [], "isError": true });
    assert_eq!(finish(&tool, &arguments, failed.clone()), Ok(failed));
}

#[test]
fn results_copy_at_most_eight_mebibytes() {
    let arguments = json!({ "city": "Oslo", "units": "m" });
    let block = json!({ "type": "text", "text": "${{ result.content[0].text }}" });
    let tool = |blocks: usize| tool(&json!({ "result": { "content": vec![&block; blocks] } }));
    let result = |mebibytes: usize| {
        let text = "s3cret".repeat((mebibytes << 20) / 6);
        json!({ "content": [{ "type": "text", "text": text }] })
    };
    let copied = finish(&tool(1), &arguments, result(7));
    assert_eq!(copied, Ok(result(7)));
    let error = finish(&tool(3), &arguments, result(3)).expect_err("too large");
    let message = "tool `city_weather` cannot fill `result.content[2].text`: the paths of this call copy more than 8388608 bytes";
    assert_eq!(error.message, message);
    assert_eq!(error.data.expect("data")["code"], "MAPPING_FAILED");
}

fn thrown(kind: FailureKind, code: &str, number: i64) -> Thrown {
    Thrown {
        kind,
        code: code.to_owned(),
        number,
        message: "original".to_owned(),
        data: Some(json!({ "retry": 30 })),
        step: None,
    }
}

#[test]
fn the_first_catch_that_applies_makes_the_error() {
    let tool = tool(&json!({ "catches": [
        { "error": { "code": -32000, "message": "all others" } },
        { "code": "RATE_LIMITED", "when": "${{ error.data.retry < 60 }}", "error": { "code": -32001, "message": "${{ error.message }}!", "data": { "retry": "${{ error.data.retry }}" } } },
        { "code": "RATE_LIMITED", "error": { "code": -32002 } },
        { "kind": "timeout", "error": { "code": -32003, "message": "slow" } },
        { "code": -32602, "error": { "code": -32004, "message": "number" } },
        { "kind": "fault", "when": "${{ error.data.text }}", "error": { "code": -32005 } },
        { "kind": "trap", "error": { "code": -32006, "message": "${{ error.data.gone }}" } },
        { "kind": "panic", "error": { "code": -32008, "message": "${{ error.data.?gone }}" } },
        { "kind": "tool", "code": "T", "error": { "code": -32007, "message": "tool" } },
    ] }));
    let error = |code, message: &str| RpcError {
        code,
        message: message.to_owned(),
        data: None,
    };
    let limited = thrown(FailureKind::Fault, "RATE_LIMITED", -32010);
    let caught = catch(&tool, &limited).expect("caught");
    assert_eq!(
        (caught.code, caught.message.as_str(), caught.data),
        (-32001, "original!", Some(json!({ "retry": 30 })))
    );
    let mut later = limited.clone();
    later.data = Some(json!({ "retry": 600 }));
    for (thrown, expected) in [
        (later, Some(error(-32002, "original"))),
        (
            thrown(FailureKind::Timeout, "TIMEOUT", -32603),
            Some(error(-32003, "slow")),
        ),
        (
            thrown(FailureKind::Fault, "-32602", -32602),
            Some(error(-32004, "number")),
        ),
        // A condition that fails does not hold.
        (
            thrown(FailureKind::Fault, "X", -32010),
            Some(error(-32000, "all others")),
        ),
        // The original message is not sent if the one of the entry fails.
        (
            thrown(FailureKind::Trap, "TRAP", -32603),
            Some(error(-32006, "the tool failed")),
        ),
        // The same is true if the message of the entry is absent.
        (
            thrown(FailureKind::Panic, "PANIC", -32603),
            Some(error(-32008, "the tool failed")),
        ),
        (
            thrown(FailureKind::Tool, "T", -32603),
            Some(error(-32007, "tool")),
        ),
        // An error for the model stays one unless an entry names it.
        (thrown(FailureKind::Tool, "U", -32603), None),
    ] {
        assert_eq!(catch(&tool, &thrown), expected, "{thrown:?}");
    }
}

#[test]
fn a_request_to_open_a_url_is_only_caught_by_its_number() {
    let others = json!([
        { "kind": "remote", "error": { "code": -32001 } },
        { "code": "SERVER_ERROR", "error": { "code": -32002 } },
        { "when": "${{ true }}", "error": { "code": -32003 } },
        { "error": { "code": -32004 } },
    ]);
    let asks = thrown(FailureKind::Remote, "SERVER_ERROR", -32042);
    assert_eq!(catch(&tool(&json!({ "catches": others })), &asks), None);
    let own = json!([{ "code": -32042, "error": { "code": -32005 } }]);
    let caught = catch(&tool(&json!({ "catches": own })), &asks);
    assert_eq!(caught.map(|error| error.code), Some(-32005));
}

#[test]
fn an_error_result_with_a_code_can_be_caught() {
    let tool = tool(&json!({
        "catches": [{ "code": "not_found", "error": { "code": -32001, "message": "${{ error.message }}", "data": "${{ error.data }}" } }],
    }));
    let arguments = json!({ "city": "Oslo", "units": "m" });
    let result = |code: &str| {
        json!({
            "content": [{ "type": "text", "text": "no such city" }],
            "isError": true,
            "_meta": { "mcp-servlet/error": { "code": code, "data": { "id": 7 } } },
        })
    };
    let error = finish(&tool, &arguments, result("not_found")).expect_err("an error");
    assert_eq!(
        error,
        RpcError {
            code: -32001,
            message: "no such city".to_owned(),
            data: Some(json!({ "id": 7 }))
        }
    );
    assert_eq!(
        finish(&tool, &arguments, result("other")),
        Ok(result("other"))
    );
}

#[test]
fn a_retry_makes_the_same_inputs() {
    let names = ["south", "east", "west", "north", "up", "down"];
    let map: Vec<_> = names.iter().map(|name| format!("'{name}': 1")).collect();
    let tool = tool(&json!({
        "inputs": { "city": format!("${{{{ text({{{}}}) }}}}", map.join(", ")), "units": "m" },
        "arguments": {},
    }));
    // Maps of CEL have no order. If their members were not sorted, each run would make another text.
    let sorted = r#"{"down":1,"east":1,"north":1,"south":1,"up":1,"west":1}"#;
    for _ in 0..20 {
        let inputs = prepare(&tool, &json!({})).expect("inputs");
        assert_eq!(inputs, Some(json!({ "city": sorted, "units": "m" })));
    }
}
