//! Uses the examples through `servlet serve` with an MCP client over standard input and output.

use std::path::PathBuf;

use e2e::{Client, Era, Profile, fixture, servlet_command, wasm};
use mcp_servlet_host::Tool;
use mcp_servlet_runtime::block_on;
use serde_json::{Value, json};

use crate::calls::good_calls;
use crate::support::{EXAMPLES, example, object};

fn tuned(example: &str) -> PathBuf {
    wasm(example, Profile::Servlet)
}

fn serve(era: Era, files: &[PathBuf], options: &[&str]) -> Client {
    let mut command = servlet_command(["serve"]);
    command.args(files).args(options).env("RUST_LOG", "off");
    Client::start_in(era, command).expect("a server that speaks MCP")
}

/// The result of a call as JSON, or the error of the protocol: code, message, data.
fn call(client: &Client, tool: &str, arguments: Value) -> Result<Value, Value> {
    match client.call(tool, arguments) {
        Ok(result) => Ok(serde_json::to_value(result).expect("JSON")),
        Err(rmcp::ServiceError::McpError(error)) => Err(serde_json::to_value(error).expect("JSON")),
        Err(error) => panic!("{tool}: {error}"),
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn every_tool_returns_the_same_in_both_protocol_eras() {
    let files = EXAMPLES.map(tuned);
    for era in [Era::Handshake, Era::Stateless] {
        let client = serve(era, &files, &[]);
        for good in good_calls() {
            let direct =
                block_on(example(good.servlet).call(good.tool, Some(object(&good.arguments))));
            let mut result = call(&client, good.tool, good.arguments).expect("a result");
            // Since 2026-07-28 every result names its type and its server.
            let kind = object_mut(&mut result).shift_remove("resultType");
            assert!(kind.is_none_or(|kind| kind == "complete"));
            let meta = object_mut(&mut result).shift_remove("_meta");
            assert_eq!(meta.is_some(), era == Era::Stateless, "{meta:?}");
            let mut expected = Value::from(direct.expect("a result").into_json());
            if era == Era::Stateless {
                unwrap(&mut expected);
            }
            assert_eq!(result, expected);
            assert_eq!(text(&result), good.text);
        }
        client.stop().expect("an end");
    }
}

/// Since 2026-07-28, structured content can be any JSON. Before, a number is in the property `result` of an object.
fn unwrap(result: &mut Value) {
    let content = result.get_mut("structuredContent");
    let Some(content) =
        content.filter(|content| content.as_object().is_some_and(|all| all.len() == 1))
    else {
        return;
    };
    if let Some(inner) = content.get_mut("result") {
        *content = inner.take();
    }
}

/// A client in strict mode sends every property, with `null` for those that it has no value for.
#[test]
fn null_is_a_missing_argument_with_schemas_for_openai() {
    let files = EXAMPLES.map(tuned);
    let client = serve(Era::Handshake, &files, &["--schemas-for", "openai"]);
    let tools = client.tools().expect("a list");
    let mut added = 0;
    for good in good_calls() {
        let tool = tools.iter().find(|tool| tool.name == good.tool);
        let schema = json!(tool.expect("the tool").input_schema);
        let direct = block_on(example(good.servlet).call(good.tool, Some(object(&good.arguments))));
        let mut arguments = good.arguments;
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().expect("a name").to_owned();
            object_mut(&mut arguments).entry(name).or_insert_with(|| {
                added += 1;
                Value::Null
            });
        }
        let result = call(&client, good.tool, arguments).expect("a result");
        assert_eq!(result, Value::from(direct.expect("a result").into_json()));
    }
    assert!(added > 0);
    client.stop().expect("an end");
}

/// Inside arguments, serde accepts `null` only for `Option`.
#[test]
fn null_is_a_missing_field_with_schemas_for_openai() {
    let client = serve(
        Era::Handshake,
        &[fixture("defaults")],
        &["--schemas-for", "openai"],
    );
    let tools = client.tools().expect("a list");
    let property = json!(tools[0].input_schema)["properties"]["size"].take();
    assert_eq!(property["required"], json!(["width", "height"]));
    assert_eq!(
        property["properties"]["height"]["type"],
        json!(["integer", "null"])
    );
    let arguments = json!({ "size": { "width": 3, "height": null }, "unit": null });
    let result = call(&client, "area", arguments).expect("a result");
    assert_eq!(text(&result), "3 m");
    client.stop().expect("an end");
    let client = serve(Era::Handshake, &[fixture("defaults")], &[]);
    let arguments = json!({ "size": { "width": 3, "height": null } });
    let result = call(&client, "area", arguments).expect("a result");
    assert_eq!(result["isError"], true, "{result}");
    client.stop().expect("an end");
}

fn object_mut(value: &mut Value) -> &mut mcp_servlet_call::JsonObject {
    value.as_object_mut().expect("an object")
}

#[test]
fn tools_of_several_servlets_are_listed_in_order_with_their_schemas() {
    let client = serve(Era::Handshake, &EXAMPLES.map(tuned), &[]);
    let listed = client.tools().expect("a list");
    let expected: Vec<_> = EXAMPLES
        .iter()
        .flat_map(|name| example(name).tools())
        .map(Tool::json)
        .collect();
    let listed = serde_json::to_value(listed).expect("JSON");
    assert_eq!(listed, json!(expected));
    client.stop().expect("an end");
}

#[test]
fn a_single_servlet_introduces_itself_to_the_client() {
    for era in [Era::Handshake, Era::Stateless] {
        let client = serve(era, &[tuned("calculator")], &[]);
        let server = client.server();
        let info = json!({ "name": "calculator", "version": env!("CARGO_PKG_VERSION") });
        assert_eq!(server["serverInfo"], info, "{era:?}");
        let instructions = "Exact only as far as 64-bit floating point goes.";
        assert_eq!(server["instructions"], instructions, "{era:?}");
        client.stop().expect("an end");
    }
}

#[test]
fn bad_arguments_are_results_that_the_model_reads() {
    let client = serve(Era::Handshake, &[tuned("calculator")], &[]);
    let result = call(&client, "statistics", json!({ "numbers": [1, "two"] }));
    let expected = "invalid arguments: `/numbers/1` must match {\"type\":\"number\"}, got \"two\"\n\
        valid arguments: {\"numbers\":[1.5]}";
    assert_eq!(
        result,
        Ok(json!({ "content": [{ "type": "text", "text": expected }], "isError": true }))
    );
    client.stop().expect("an end");
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol() {
    let client = serve(Era::Handshake, &[tuned("greet")], &[]);
    let error = call(&client, "great", json!({ "name": "Ada" }));
    assert_eq!(
        error,
        Err(json!({
            "code": -32602,
            "message": "unknown tool `great`",
            "data": { "similar": "greet" },
        }))
    );
    client.stop().expect("an end");
}

#[test]
fn options_of_the_command_reach_the_servlet() {
    let options = ["--config", "currency=CHF"];
    let client = serve(Era::Handshake, &[tuned("catalogue")], &options);
    let delivery = json!({ "method": "pickup", "shop": 1 });
    let order = json!({ "itemId": 3, "quantity": 2, "delivery": delivery });
    let result = call(&client, "quote", order).expect("a result");
    assert_eq!(text(&result), "2 × Cap, at shop 1: 30.00 CHF");
    client.stop().expect("an end");
}

#[test]
fn a_fault_reaches_the_client_with_code_and_data() {
    let client = serve(Era::Handshake, &[fixture("probe")], &[]);
    let error = call(&client, "refuse", json!({ "data": { "page": 7 } }));
    assert_eq!(
        error,
        Err(json!({
            "code": -32002,
            "message": "there is no such page",
            "data": { "page": 7 },
        }))
    );
    client.stop().expect("an end");
}

#[test]
fn the_server_survives_a_panic_and_a_call_that_never_ends() {
    let client = serve(Era::Handshake, &[fixture("probe")], &["--timeout", "500ms"]);
    for (tool, arguments, snippet) in [
        ("fall", json!({ "why": "of rain" }), "fell because of rain"),
        ("spin", json!({}), "did not finish `call` within 500ms"),
    ] {
        let error = call(&client, tool, arguments).expect_err("an error");
        assert_eq!(error["code"], -32603);
        assert_eq!(
            error["data"],
            json!({ "servlet": "probe", "export": "call" })
        );
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(snippet), "{message}");
        let after = call(&client, "echo", json!({ "text": "still here" }));
        assert_eq!(text(&after.expect("a result")), "still here");
    }
    client.stop().expect("an end");
}
