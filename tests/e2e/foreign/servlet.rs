//! The tests of the servlet, run natively and against the wasm in a host.

use foreign::SERVLET;
use mcp_servlet::testing::Client;
use serde_json::{Value, json};

/// The description of a tool.
fn tool(client: &Client, name: &str) -> Value {
    let all = client.request("describe", "").expect("a description");
    let all: Value = serde_json::from_str(&all).expect("JSON");
    let tools = all["tools"].as_array().expect("tools").iter();
    let mut tools = tools.filter(|tool| tool["name"] == name);
    tools.next().expect("a tool of that name").clone()
}

fn order() -> Value {
    let mut stop = address("");
    stop.as_object_mut()
        .expect("an object")
        .remove("description");
    stop["type"] = json!(["object", "null"]);
    json!({
        "type": "object",
        "description": "What to send, and where.",
        "properties": {
            "item": { "type": "string", "description": "what to send" },
            "howMany": { "type": "integer", "minimum": 0, "maximum": 255, "description": "how many" },
            "note": { "type": "string", "description": "note" },
            "urgent": { "type": "boolean", "default": false, "description": "urgent" },
            "size": {
                "type": "string",
                "enum": ["large", "small"],
                "description": "How large it is.\n- `small`: fits into a letter box",
            },
            "to": address("to"),
            "stops": {
                "type": "array",
                "items": stop,
                "description": "the places on the way, in this order; null is any place",
            },
            "extra": { "description": "extra" },
            "range": {
                "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2, "description": "range",
            },
        },
        "required": ["item", "howMany", "size", "extra", "range"],
    })
}

fn address(description: &str) -> Value {
    json!({
        "type": "object",
        "description": description,
        "properties": {
            "city": { "type": "string", "description": "city" },
            "zip": { "type": "integer", "minimum": 0, "description": "zip" },
        },
        "required": ["city"],
    })
}

#[mcp_servlet::test]
fn arguments_have_schemas_by_the_rules_of_all_others(client: &Client) {
    let mut input = tool(client, "send")["inputSchema"].take();
    let size = &mut input["properties"]["order"]["properties"]["size"]["enum"];
    size.as_array_mut()
        .expect("an enum")
        .sort_by_key(Value::to_string);
    let expected = json!({
        "type": "object",
        "properties": { "order": order(), "via": address("via") },
        "required": ["order"],
        "additionalProperties": false,
    });
    assert_eq!(input, expected, "{input:#}");
}

#[mcp_servlet::test]
fn a_flattened_argument_is_the_root(client: &Client) {
    let mut input = tool(client, "send_it")["inputSchema"].take();
    let size = &mut input["properties"]["size"]["enum"];
    size.as_array_mut()
        .expect("an enum")
        .sort_by_key(Value::to_string);
    assert_eq!(input, order(), "{input:#}");
}

#[mcp_servlet::test]
fn no_schema_has_what_some_clients_refuse(client: &Client) {
    let text = &client.request("describe", "").expect("a description");
    for refused in [
        "$schema",
        "$ref",
        "$defs",
        "oneOf",
        "prefixItems",
        "\"format\":\"uint",
    ] {
        assert!(!text.contains(refused), "{refused}: {text}");
    }
    let shape = tool(client, "measure")["inputSchema"]["properties"]["shape"].take();
    assert_eq!(shape["type"], "object", "{shape:#}");
    assert_eq!(shape["description"], "what to measure");
    let family = tool(client, "names")["inputSchema"]["properties"]["family"].take();
    let children = &family["properties"]["children"]["items"];
    assert_eq!(children["type"], "object", "a recursion ends: {family:#}");
}

#[mcp_servlet::test]
fn results_are_structured(client: &Client) {
    let output = tool(client, "send")["outputSchema"].take();
    assert_eq!(output["type"], "object");
    assert_eq!(
        output["properties"]["note"]["type"],
        json!(["string", "null"])
    );
    let wrapped = json!({
        "type": "object",
        "properties": { "result": { "type": "array", "items": { "type": "string" } } },
        "required": ["result"],
        "x-fastmcp-wrap-result": true,
    });
    assert_eq!(tool(client, "names")["outputSchema"], wrapped);
    let shape = tool(client, "same")["outputSchema"]["properties"]["result"].take();
    assert!(shape["anyOf"].is_array(), "{shape:#}");
    let arguments = json!({
        "order": { "item": "a book", "howMany": 1, "size": "small", "stops": [null], "extra": [1, null], "range": [1, 2] },
        "via": { "city": "Ulm" },
    });
    let result = client.call("send", arguments).expect("a result");
    let structured = result.structured_content.expect("an object");
    let structured: Value = serde_json::from_str(structured.get()).expect("JSON");
    assert_eq!(structured["to"], json!({ "city": "Ulm", "zip": null }));
    assert_eq!(structured["stops"], json!([null]));
    assert_eq!(structured["extra"], json!([1, null]));
    let family = json!({ "name": "Ada", "children": [{ "name": "Bob", "children": [] }] });
    let result = client
        .call("names", json!({ "family": family }))
        .expect("a result");
    assert_eq!(result.text(), r#"["Ada","Bob"]"#);
    let structured = result.structured_content.expect("an object");
    assert_eq!(structured.get(), r#"{"result":["Ada","Bob"]}"#);
    // An object, where the schema also accepts other types.
    let result = client.call("same", json!({ "either": { "b": 1 } }));
    let structured = result.expect("a result").structured_content;
    let structured = structured.expect("an object");
    assert_eq!(structured.get(), r#"{"result":{"b":1}}"#);
}

#[mcp_servlet::test]
fn a_wrong_argument_is_reported_with_its_part_of_the_schema(client: &Client) {
    let order =
        json!({ "item": "a book", "howMany": 300, "size": "small", "extra": {}, "range": [1, 2] });
    let result = client
        .call("send", json!({ "order": order }))
        .expect("a result");
    let text = result.text();
    assert!(
        text.contains("`/order/howMany` must match") && text.contains("255"),
        "{text}"
    );
}

#[mcp_servlet::test]
fn types_of_known_crates_need_no_schemars(client: &Client) {
    let plan = tool(client, "plan");
    let properties = &plan["inputSchema"]["properties"];
    for (name, format) in [
        ("id", "uuid"),
        ("at", "date-time"),
        ("day", "date"),
        ("link", "uri"),
    ] {
        assert_eq!(properties[name]["format"], format);
        assert_eq!(properties[name]["type"], "string");
    }
    assert_eq!(plan["inputSchema"]["required"], json!(["id", "at", "data"]));
    assert_eq!(plan["outputSchema"]["properties"]["day"]["enum"][0], "Mon");
    let id = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    let arguments = json!({ "id": id, "at": "2026-03-01T12:00:00+01:00", "link": "https://example.com", "data": 7 });
    let result = client.call("plan", arguments).expect("a result");
    let text = result.text();
    let plan: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(plan["at"], "2026-03-01T11:00:00Z");
    assert_eq!(plan["day"], "Sun");
    assert_eq!(plan["link"], "https://example.com/");
    assert_eq!((&plan["id"], &plan["data"]), (&json!(id), &json!(7)));
    let arguments = json!({ "id": "none", "at": "2026-03-01T12:00:00Z", "data": null });
    let result = client.call("plan", arguments).expect("a result");
    assert_eq!(result.is_error, Some(true));
}
