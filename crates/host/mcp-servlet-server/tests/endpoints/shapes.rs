//! Results and errors of virtual tools and remotes in each protocol version. The checks are written by hand from MCP's schemas,
//! which this repository does not contain.

use rmcp::model::{CallToolResult, ErrorData};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

use crate::{
    site::{PIPE, Site, WEB},
    wasm::{Reply, replies},
};

const MODERN: &str = "2026-07-28";
const VERSIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    MODERN,
];

/// A client of one protocol version that returns messages as the server sent them.
struct Client {
    version: &'static str,
    pipe: BufReader<DuplexStream>,
}

impl Client {
    async fn connect(site: &Site, version: &'static str) -> Self {
        let pipe = BufReader::new(site.pipe("pipe"));
        let mut client = Self { version, pipe };
        if version != MODERN {
            let opened = client.open().await;
            assert_eq!(opened["result"]["protocolVersion"], version, "{opened}");
        }
        client
    }

    async fn open(&mut self) -> Value {
        let info = json!({ "name": "c", "version": "1" });
        let params =
            json!({ "protocolVersion": self.version, "capabilities": {}, "clientInfo": info });
        let opened = self.ask("initialize", params).await;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        opened
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({ "name": tool, "arguments": arguments });
        if self.version == MODERN {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.ask("tools/call", params).await
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
            .await;
        let mut line = String::new();
        self.pipe.read_line(&mut line).await.expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let written = self.pipe.write_all(line.as_bytes()).await;
        written.expect("the server reads");
    }
}

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
    let is_modern = version == MODERN;
    has_only(result, &members[..if is_modern { 5 } else { 4 }]);
    for block in result["content"].as_array().expect("content") {
        has_only(block, &["type", "text"]);
        assert!(
            block["type"] == "text" && block["text"].is_string(),
            "{block}"
        );
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

/// Checks the error of a response, and returns it.
fn error(response: &Value) -> &Value {
    has_only(response, &["jsonrpc", "id", "error"]);
    let error = &response["error"];
    has_only(error, &["code", "message", "data"]);
    let typed: ErrorData = serde_json::from_value(error.clone()).expect("an error");
    assert_eq!(json!(typed), *error);
    error
}

/// A servlet whose tool `sum` returns a result, an error for the model, or a JSON-RPC error.
fn sum() -> Vec<u8> {
    let tools =
        json!([{ "name": "sum", "inputSchema": { "type": "object", "properties": { "n": {} } } }]);
    let good = r#"{"content":[{"type":"text","text":"ok"}],"structuredContent":{"list":[1,2]},"_meta":{"acme/a":1}}"#;
    let busy = r#"{"content":[{"type":"text","text":"slow down"}],"isError":true,"_meta":{"mcp-servlet/error":{"code":"RATE_LIMITED","data":{"retry":30}}}}"#;
    let gone = "gone\nmcp-fault: {\"code\":-32010,\"data\":{\"id\":7}}";
    replies(
        &tools,
        &[
            (r#""sum","arguments":{"n":1}"#, Reply::Output(good)),
            (r#""sum","arguments":{"n":2}"#, Reply::Output(busy)),
            (r#""sum","arguments":{"n":3}"#, Reply::Error(gone)),
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
"#;

#[tokio::test(flavor = "multi_thread")]
async fn results_and_errors_have_the_form_of_each_protocol_version() {
    let wasm = sum();
    let files: [(&str, &[u8]); 1] = [("sum.wasm", &wasm)];
    let near = "[servlet.near]\nsource = \"sum.wasm\"\ntools.prefix = \"name\"\n";
    let other = Site::start(
        &format!("{WEB}[servlet.sum]\nsource = \"sum.wasm\"\n"),
        &files,
    )
    .await;
    let url = other.url("web");
    let far = format!("[remote.far]\nurl = \"{url}\"\nrequired = true\ntools.prefix = \"name\"\n");
    let site = Site::start(&format!("{PIPE}{near}{far}{BUNDLE}"), &files).await;
    for version in VERSIONS {
        let mut client = Client::connect(&site, version).await;

        let mapped = client.call("mapped", json!({ "n": 1 })).await;
        let mapped = result(version, &mapped);
        assert_eq!(mapped["content"][0]["text"], "ok!", "{version}");
        assert_eq!(
            mapped["structuredContent"],
            json!({ "first": 1 }),
            "{version}"
        );
        assert_eq!(mapped["_meta"]["acme/source"], "sum", "{version}");

        let failed = client.call("mapped", json!({ "n": 2 })).await;
        let failed = result(version, &failed);
        assert_eq!(failed["isError"], true, "{version}");
        assert_eq!(failed["content"][0]["text"], "slow down!", "{version}");

        // Before 2026-07-28, structured content is an object.
        let list = client.call("list", json!({ "n": 1 })).await;
        let expected = match version {
            MODERN => json!([1, 2]),
            _ => json!({ "result": [1, 2] }),
        };
        assert_eq!(
            result(version, &list)["structuredContent"],
            expected,
            "{version}"
        );

        for tool in ["near_sum", "far_sum"] {
            let passed = client.call(tool, json!({ "n": 1 })).await;
            let passed = result(version, &passed);
            assert_eq!(
                passed["structuredContent"],
                json!({ "list": [1, 2] }),
                "{version} {tool}"
            );
            assert_eq!(passed["_meta"]["acme/a"], 1, "{version} {tool}");
        }

        let caught = client.call("caught", json!({ "n": 2 })).await;
        let expected = json!({ "code": -32001, "message": "busy", "data": { "retry": 30 } });
        assert_eq!(*error(&caught), expected, "{version}");
        let caught = client.call("caught_far", json!({ "n": 3 })).await;
        let expected = json!({ "code": -32002, "message": "gone there" });
        assert_eq!(*error(&caught), expected, "{version}");
        let passed = client.call("far_sum", json!({ "n": 3 })).await;
        let expected = json!({ "code": -32010, "message": "gone", "data": { "id": 7 } });
        assert_eq!(*error(&passed), expected, "{version}");
        let invalid = client.call("invalid", json!({ "n": 1 })).await;
        assert_eq!(error(&invalid)["code"], -32603, "{version}");
        let unknown = client.call("none", json!({})).await;
        assert_eq!(error(&unknown)["code"], -32602, "{version}");
    }
}
