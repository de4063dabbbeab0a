//! Results and errors of virtual tools and remotes, over each transport and in each protocol version. The checks are written by
//! hand from MCP's schemas, which this repository does not contain.

use rmcp::model::{CallToolResult, ErrorData};
use serde_json::{Value, json};
use wire::message::STATELESS;

use crate::{
    raw::Client,
    site::{OLD, PIPE, Site, WEB},
    wasm::{Reply, replies},
};

/// The members of a value, which may have no others than these.
fn has_only(value: &Value, members: &[&str]) {
    let object = value.as_object().expect("an object");
    let is_known = |key: &String| members.contains(&&**key);
    assert!(object.keys().all(is_known), "{value}");
}

/// Checks the result of a response, and returns it. Versions before 2025-06-18 have no `structuredContent`, and allow other
/// members in results.
fn result<'v>(version: &str, response: &'v Value) -> &'v Value {
    has_only(response, &["jsonrpc", "id", "result"]);
    let result = &response["result"];
    let members = [
        "content",
        "structuredContent",
        "isError",
        "_meta",
        "resultType",
    ];
    let is_modern = version == STATELESS;
    has_only(result, &members[..if is_modern { 5 } else { 4 }]);
    for block in result["content"].as_array().expect("content") {
        check_block(block);
    }
    let is_or_absent = |key: &str, is: fn(&Value) -> bool| result.get(key).is_none_or(is);
    assert!(is_or_absent("isError", Value::is_boolean), "{result}");
    assert!(is_or_absent("_meta", Value::is_object), "{result}");
    if is_modern {
        assert_eq!(result["resultType"], "complete", "{result}");
    } else {
        let is_object = is_or_absent("structuredContent", Value::is_object);
        assert!(is_object, "{result}");
    }
    let typed: CallToolResult = serde_json::from_value(result.clone()).expect("a result");
    assert_eq!(json!(typed.content), result["content"]);
    result
}

/// Checks a content block. Blocks may have other members, but those of these tests have none.
fn check_block(block: &Value) {
    let members: &[_] = match block["type"].as_str() {
        Some("text") => &["text"],
        Some("image" | "audio") => &["data", "mimeType"],
        Some("resource_link") => &["uri", "name"],
        Some("resource") => {
            has_only(block, &["type", "resource"]);
            let contents = &block["resource"];
            let has_text = contents.get("text").is_some();
            return has_strings(contents, &["uri", if has_text { "text" } else { "blob" }]);
        }
        _ => panic!("{block}"),
    };
    has_strings(block, &[&["type"], members].concat());
}

/// Checks that a value has exactly these members, and that they are strings.
fn has_strings(value: &Value, members: &[&str]) {
    has_only(value, members);
    let is_string = |key: &&str| value[*key].is_string();
    assert!(members.iter().all(is_string), "{value}");
}

/// Checks the error of a response, and returns it.
fn error(response: &Value) -> &Value {
    has_only(response, &["jsonrpc", "id", "error"]);
    let error = &response["error"];
    has_only(error, &["code", "message", "data"]);
    let typed: ErrorData = serde_json::from_value(error.clone()).expect("an error");
    assert_eq!(json!(typed), *error);
    error
}

/// A content block of each type, and a resource with bytes.
fn blocks() -> Value {
    json!([
        { "type": "text", "text": "one" },
        { "type": "image", "data": "aW1hZ2U=", "mimeType": "image/png" },
        { "type": "audio", "data": "YXVkaW8=", "mimeType": "audio/wav" },
        { "type": "resource_link", "uri": "x://link", "name": "link" },
        { "type": "resource", "resource": { "uri": "x://text", "text": "two" } },
        { "type": "resource", "resource": { "uri": "x://blob", "blob": "Ynl0ZXM=" } },
    ])
}

/// A servlet whose tool `sum` returns a result, an error for the model, a JSON-RPC error, or blocks of all types.
fn sum() -> Vec<u8> {
    let tools =
        json!([{ "name": "sum", "inputSchema": { "type": "object", "properties": { "n": {} } } }]);
    let good = r#"{"content":[{"type":"text","text":"ok"}],"structuredContent":{"list":[1,2]},"_meta":{"acme/a":1}}"#;
    let busy = r#"{"content":[{"type":"text","text":"slow down"}],"isError":true,"_meta":{"mcp-servlet/error":{"code":"RATE_LIMITED","data":{"retry":30}}}}"#;
    let gone = "gone\nmcp-fault: {\"code\":-32010,\"data\":{\"id\":7}}";
    let all = json!({ "content": blocks() }).to_string();
    replies(
        &tools,
        &[
            (r#""sum","arguments":{"n":1}"#, Reply::Output(good)),
            (r#""sum","arguments":{"n":2}"#, Reply::Output(busy)),
            (r#""sum","arguments":{"n":3}"#, Reply::Error(gone)),
            (r#""sum","arguments":{"n":4}"#, Reply::Output(&all)),
        ],
    )
}

const BUNDLE: &str = r#"
[bundle.ops.tool.mapped]
handler = "near:sum"
[bundle.ops.tool.mapped.result]
content = [{ type = "text", text = "${{ result.content[0].text }}!" }]
structuredContent = { first = "${{ result.?structuredContent.?list[?0] }}" }
isError = "${{ result.?isError }}"
_meta = { "acme/source" = "sum" }
[bundle.ops.tool.list]
handler = "near:sum"
output = { type = "array", items = { type = "integer" } }
[bundle.ops.tool.list.result]
content = []
structuredContent = "${{ result.structuredContent.list }}"
[bundle.ops.tool.caught]
handler = "near:sum"
[[bundle.ops.tool.caught.catches]]
code = "RATE_LIMITED"
error = { code = -32001, message = "busy", data = { retry = "${{ error.data.retry }}" } }
[bundle.ops.tool.caught_far]
handler = "far:sum"
[[bundle.ops.tool.caught_far.catches]]
code = "SERVER_ERROR"
error = { code = -32002, message = "${{ error.message }} there" }
[bundle.ops.tool.invalid]
handler = "near:sum"
[bundle.ops.tool.invalid.result]
content = "${{ result.structuredContent }}"
[bundle.ops.tool.blocks]
handler = "near:sum"
[bundle.ops.tool.blocks.result]
content = [
    "${{ result.content[0] }}",
    { type = "image", data = "${{ result.content[1].data }}", mimeType = "${{ result.content[1].mimeType }}" },
    { type = "audio", data = "${{ result.content[2].data }}", mimeType = "audio/mpeg" },
    { type = "resource_link", uri = "${{ result.content[3].uri }}/2", name = "mapped" },
    { type = "resource", resource = { uri = "x://mapped", text = "${{ result.content[4].resource.text }}!" } },
    "${{ result.content[5] }}",
]
"#;

/// A server with virtual tools over a servlet and over a remote, and the remote.
async fn sites() -> (Site, Site) {
    let wasm = sum();
    let files: [(&str, &[u8]); 1] = [("sum.wasm", &wasm)];
    let near = "[servlet.near]\nsource = \"sum.wasm\"\ntools.prefix = \"name\"\n";
    let far = Site::start(
        &format!("{WEB}[servlet.sum]\nsource = \"sum.wasm\"\n"),
        &files,
    )
    .await;
    let url = far.url("web");
    let remote =
        format!("[remote.far]\nurl = \"{url}\"\nrequired = true\ntools.prefix = \"name\"\n");
    let config = format!("{WEB}{OLD}{PIPE}{near}{remote}{BUNDLE}");
    (Site::start(&config, &files).await, far)
}

#[tokio::test(flavor = "multi_thread")]
async fn results_have_the_form_of_each_protocol_version() {
    let (site, _far) = sites().await;
    for mut client in Client::all(&site).await {
        let (name, version) = (client.name.clone(), client.version);

        let mapped = client.call("mapped", json!({ "n": 1 })).await;
        let mapped = result(version, &mapped);
        assert_eq!(mapped["content"][0]["text"], "ok!", "{name}");
        assert_eq!(mapped["structuredContent"], json!({ "first": 1 }), "{name}");
        assert_eq!(mapped["_meta"]["acme/source"], "sum", "{name}");

        let failed = client.call("mapped", json!({ "n": 2 })).await;
        let failed = result(version, &failed);
        assert_eq!(failed["isError"], true, "{name}");
        assert_eq!(failed["content"][0]["text"], "slow down!", "{name}");

        // Before 2026-07-28, structured content is an object.
        let list = client.call("list", json!({ "n": 1 })).await;
        let expected = match version {
            STATELESS => json!([1, 2]),
            _ => json!({ "result": [1, 2] }),
        };
        let list = result(version, &list);
        assert_eq!(list["structuredContent"], expected, "{name}");

        for tool in ["near_sum", "far_sum"] {
            let passed = client.call(tool, json!({ "n": 1 })).await;
            let passed = result(version, &passed);
            let expected = json!({ "list": [1, 2] });
            assert_eq!(passed["structuredContent"], expected, "{name} {tool}");
            assert_eq!(passed["_meta"]["acme/a"], 1, "{name} {tool}");
        }
    }
}

/// Versions before 2025-03-26 have no audio, and those before 2025-06-18 have no links. Their clients get such blocks all the
/// same: the server leaves none out, and does not replace them.
#[tokio::test(flavor = "multi_thread")]
async fn content_blocks_are_the_same_in_each_protocol_version() {
    let mut expected = blocks();
    expected[2]["mimeType"] = "audio/mpeg".into();
    expected[3] = json!({ "type": "resource_link", "uri": "x://link/2", "name": "mapped" });
    expected[4]["resource"] = json!({ "uri": "x://mapped", "text": "two!" });
    let (site, _far) = sites().await;
    for mut client in Client::all(&site).await {
        for (tool, expected) in [
            ("blocks", &expected),
            ("near_sum", &blocks()),
            ("far_sum", &blocks()),
        ] {
            let called = client.call(tool, json!({ "n": 4 })).await;
            let content = &result(client.version, &called)["content"];
            assert_eq!(content, expected, "{} {tool}", client.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_the_form_of_each_protocol_version() {
    let (site, _far) = sites().await;
    for mut client in Client::all(&site).await {
        let name = client.name.clone();
        let caught = client.call("caught", json!({ "n": 2 })).await;
        let expected = json!({ "code": -32001, "message": "busy", "data": { "retry": 30 } });
        assert_eq!(*error(&caught), expected, "{name}");
        let caught = client.call("caught_far", json!({ "n": 3 })).await;
        let expected = json!({ "code": -32002, "message": "gone there" });
        assert_eq!(*error(&caught), expected, "{name}");
        let passed = client.call("far_sum", json!({ "n": 3 })).await;
        let expected = json!({ "code": -32010, "message": "gone", "data": { "id": 7 } });
        assert_eq!(*error(&passed), expected, "{name}");
        let invalid = client.call("invalid", json!({ "n": 1 })).await;
        let invalid = error(&invalid);
        assert_eq!(invalid["code"], -32603, "{name}");
        assert_eq!(invalid["data"]["code"], "RESULT_INVALID", "{name}");
        let unknown = client.call("none", json!({})).await;
        assert_eq!(error(&unknown)["code"], -32602, "{name}");
    }
}
