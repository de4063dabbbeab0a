//! What servlets offer in addition to tools: their lists, and their results for resources, prompts
//! and completion.

mod support;

use mcp_servlet_call::{CallError, CallErrorKind, JsonObject};
use mcp_servlet_host::{Listed, LoadError, Servlet};
use mcp_servlet_runtime::block_on;
use serde_json::{Value, json};
use support::{DESCRIPTION, Wat};

/// A servlet whose exports, apart from those for tools, return these JSON values.
fn wat(exports: &[(&str, &Value)]) -> Wat {
    let tools = Wat::new().describe(DESCRIPTION).answer("{}");
    exports.iter().fold(tools, |wat, (name, json)| {
        wat.export(name, &json.to_string(), "(call $output {}) (i32.const 0)")
    })
}

fn servlet(exports: &[(&str, &Value)]) -> Servlet {
    wat(exports).load().expect("a servlet")
}

fn object(value: &Value) -> &JsonObject {
    value.as_object().expect("an object")
}

/// The result of reading a resource if the servlet returns this value.
fn read(answer: &Value) -> Result<Value, CallError> {
    let servlet = servlet(&[("read_resource", answer)]);
    let result = block_on(servlet.read_resource("a:b"))?;
    Ok(result.into_json().into())
}

/// The error if the servlet fails with this text.
fn read_failing(text: &str) -> CallError {
    let wat = wat(&[]).export("read_resource", text, "(call $error {}) (i32.const 1)");
    let servlet = wat.load().expect("a servlet");
    block_on(servlet.read_resource("a:b")).expect_err("an error")
}

fn is_unknown(error: &CallError) -> bool {
    matches!(&error.kind, CallErrorKind::UnknownResource { uri, .. } if uri == "a:b")
}

#[test]
fn keeps_all_fields_of_listed_entries() {
    let ui = json!({ "ui": { "csp": { "connectDomains": ["https://a.example"] } } });
    let resource = json!({
        "uri": "ui://a", "name": "a", "icons": [{ "src": "data:," }], "_meta": ui,
        "annotations": { "priority": 0.1 }, "vendor": 1,
    });
    let template = json!({ "uriTemplate": "a:{b}", "name": "t", "mimeType": "x/y" });
    let prompt = json!({ "name": "p", "arguments": [{ "name": "x", "required": true }] });
    let servlet = servlet(&[
        ("list_resources", &json!({ "resources": [resource] })),
        (
            "list_resource_templates",
            &json!({ "resourceTemplates": [template] }),
        ),
        ("list_prompts", &json!({ "prompts": [prompt] })),
    ]);
    for (listed, expected) in [
        (servlet.resources(), resource),
        (servlet.resource_templates(), template),
        (servlet.prompts(), prompt),
    ] {
        let listed: Vec<_> = listed.iter().map(Listed::json).collect();
        assert_eq!(listed, [object(&expected)]);
    }
}

#[test]
fn lists_only_exported_features() {
    let servlet = servlet(&[]);
    assert_eq!(servlet.resources(), []);
    assert_eq!(servlet.resource_templates(), []);
    assert_eq!(servlet.prompts(), []);
    let error = block_on(servlet.read_resource("a:b")).expect_err("no resources");
    assert!(is_unknown(&error), "{error:?}");
    let error = block_on(servlet.get_prompt("p", None)).expect_err("no prompts");
    assert_eq!(error.to_string(), "unknown prompt `p`");
    let nothing = block_on(servlet.complete(&JsonObject::new())).expect("no suggestions");
    assert_eq!(nothing.json()["completion"], json!({ "values": [] }));
}

#[test]
fn reports_the_position_in_an_invalid_list() {
    let entry = json!({ "uri": "a:b", "name": "b" });
    for (answer, expected) in [
        (
            json!([]),
            "line 1 column 0: invalid type: sequence, expected a map",
        ),
        (json!({}), "/resources: expected an array, found nothing"),
        (
            json!({ "resources": [1] }),
            "/resources/0: expected an object, found an integer",
        ),
        (
            json!({ "resources": [{ "name": "b" }] }),
            "/resources/0/uri: expected a string, found nothing",
        ),
        (
            json!({ "resources": [entry, entry] }),
            "/resources/1: `a:b` is listed twice",
        ),
    ] {
        let error = wat(&[("list_resources", &answer)]).load();
        let error = error.expect_err("a wrong list");
        assert!(matches!(error, LoadError::BadList { .. }), "{error:?}");
        assert!(error.to_string().ends_with(expected), "{error}");
    }
}

#[test]
fn contents_are_text_or_bytes_and_never_both() {
    let contents = json!({
        "contents": [
            { "uri": "a:b", "mimeType": "text/plain", "text": "t", "_meta": { "k": 1 } },
            { "uri": "a:c", "blob": "AA==" },
        ],
        "_meta": { "x": 2 },
    });
    assert_eq!(read(&contents).expect("contents"), contents);
    let nulls = json!({ "_meta": null, "isError": false, "contents": [
        { "uri": "a:b", "mimeType": null, "text": "t", "blob": null },
    ] });
    let without = json!({ "contents": [{ "uri": "a:b", "text": "t" }] });
    assert_eq!(read(&nulls).expect("contents"), without);

    for (contents, expected) in [
        (json!(null), "resource not found: a:b"),
        (json!("t"), "/contents: expected an array, found a string"),
        (
            json!(["t"]),
            "/contents/0: expected an object, found a string",
        ),
        (
            json!([{ "text": "t" }]),
            "/contents/0/uri: expected a string, found nothing",
        ),
        (
            json!([{ "uri": "a:b" }]),
            "/contents/0/text: expected a string, found nothing",
        ),
        (
            json!([{ "uri": "a:b", "blob": 7 }]),
            "/contents/0/blob: expected a string, found an integer",
        ),
        (
            json!([{ "uri": "a:b", "text": "t", "blob": "AA==" }]),
            "/contents/0: both `text` and `blob`",
        ),
    ] {
        let error = read(&json!({ "contents": contents })).expect_err("wrong contents");
        assert!(error.to_string().ends_with(expected), "{error}");
    }
}

#[test]
fn contents_that_are_an_error_become_one_of_the_protocol() {
    let error = read(&json!({ "isError": true, "contents": [
        { "uri": "a:b", "text": "the disk is full" }, { "uri": "a:c", "text": "and slow" },
    ] }));
    let fault = error.expect_err("an error").to_rpc_error();
    assert_eq!(fault.code, -32603);
    assert_eq!(fault.message, "the disk is full\nand slow");
    let data = json!({ "servlet": "test", "export": "read_resource" });
    assert_eq!(fault.data, Some(data));
}

#[test]
fn an_unknown_resource_is_the_same_error_in_every_form() {
    let empty = read(&json!({ "contents": [] })).expect_err("no contents");
    let by_old_code = read_failing("gone\nmcp-fault: {\"code\":-32002}");
    let by_new_code = read_failing("gone\nmcp-fault: {\"code\":-32602,\"data\":{\"uri\":\"a:b\"}}");
    for error in [empty, by_old_code, by_new_code] {
        assert!(is_unknown(&error), "{error:?}");
    }
    let other = read_failing("not so\nmcp-fault: {\"code\":-32602}");
    assert_eq!(other.to_string(), "not so");
    let other = read_failing("the disk is full").to_rpc_error();
    assert_eq!(
        (other.code, other.message.as_str()),
        (-32603, "the disk is full")
    );
}

#[test]
fn prompts_have_messages() {
    let prompts = json!({ "prompts": [{ "name": "p" }] });
    let get = |answer: &Value| {
        let servlet = servlet(&[("list_prompts", &prompts), ("get_prompt", answer)]);
        let result = block_on(servlet.get_prompt("p", None))?;
        Ok::<_, CallError>(Value::from(result.into_json()))
    };
    let right =
        json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "t" } }] });
    assert_eq!(get(&right).expect("messages"), right);
    let error = get(&json!({ "messages": "t" })).expect_err("no messages");
    let problem = "output of `get_prompt`, /messages: expected an array, found a string";
    assert!(error.to_string().ends_with(problem), "{error}");
}

#[test]
fn clients_get_as_many_suggestions_as_mcp_allows() {
    let complete = |completion: Value| {
        let servlet = servlet(&[("complete", &json!({ "completion": completion }))]);
        block_on(servlet.complete(&JsonObject::new()))
    };
    let values: Vec<_> = (0..101).map(|at| at.to_string()).collect();
    let suggested = complete(json!({ "values": values })).expect("suggestions");
    assert!(suggested.values().eq(&values[..100]));
    assert!(suggested.has_more());
    let error = complete(json!({})).expect_err("no values");
    let problem = "/completion/values: expected an array, found nothing";
    assert!(error.to_string().ends_with(problem), "{error}");
}
