//! MCP over a pipe, line by line.

use std::time::Duration;

use mcp_servlet_call::Limit;
use mcp_servlet_host::{Host, Introduction, Servlet};
use mcp_servlet_runtime::{LoadOptions, Source};
use mcp_servlet_server::ServeOptions;
use serde_json::{Value, json};
use wire::message::{
    HANDSHAKE, cancelled, initialize, initialized, notification, numbered, request, stateless,
};

use crate::{
    attached::attach,
    client::start,
    support::{DESCRIPTION, Wat},
};

/// Sends requests in the 2025-11-25 revision, closes the input and collects the responses by id.
pub(crate) async fn talk(host: Host, requests: &[Value]) -> Vec<Value> {
    let mut lines = vec![initialize(HANDSHAKE), initialized()];
    for (at, request) in requests.iter().enumerate() {
        let mut request = request.clone();
        request["jsonrpc"] = "2.0".into();
        request["id"] = json!(at + 1);
        lines.push(request);
    }
    exchange(host, &lines).await
}

pub(crate) async fn exchange(host: Host, lines: &[Value]) -> Vec<Value> {
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    exchange_text(host, &format!("{}\n", lines.join("\n"))).await
}

async fn exchange_text(host: Host, text: &str) -> Vec<Value> {
    let service = start(host, ServeOptions::default()).await;
    let (mut client, serving) = attach(&service);
    client.write(text.as_bytes()).await;
    client.close().await;
    let mut responses = client.rest().await;
    serving.await.expect("no panic").expect("a graceful end");
    responses.sort_by_key(|response| response["id"].as_u64());
    responses
}

fn host(description: &str, answer: &str) -> Host {
    let servlet = Wat::new()
        .describe(description)
        .answer(answer)
        .load()
        .expect("a servlet");
    Host::new(vec![servlet])
}

fn call(params: &Value) -> Value {
    json!({"method": "tools/call", "params": params})
}

#[tokio::test]
async fn introduces_itself_as_the_single_servlet_does() {
    let described = r#"{"tools":[],"serverInfo":{"name":"Weather","version":"3.1.4","title":"W"},"instructions":"Ask."}"#;
    let responses = talk(host(described, "{}"), &[]).await;
    let result = &responses[0]["result"];
    assert_eq!(
        result["serverInfo"],
        json!({"name": "Weather", "version": "3.1.4", "title": "W"})
    );
    assert_eq!(result["instructions"], "Ask.");
    assert_eq!(
        result["capabilities"],
        json!({"tools": {"listChanged": true}})
    );
    assert_eq!(result["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn a_name_of_the_operator_keeps_the_version() {
    let described = r#"{"tools":[],"serverInfo":{"name":"Weather","version":"3.1.4","title":"W"}}"#;
    let mut introduction = Introduction::default();
    introduction.name = Some("mine".to_owned());
    let host = host(described, "{}").introduced(introduction);
    let responses = talk(host, &[]).await;
    assert_eq!(
        responses[0]["result"]["serverInfo"],
        json!({"name": "mine", "version": "3.1.4"})
    );
}

#[tokio::test]
async fn declares_the_capabilities_of_the_exports() {
    let reads = json!({"listChanged": true, "subscribe": true});
    let lists = json!({"listChanged": true});
    let declared = async |exports: &[(&str, &str)]| {
        let tools = Wat::new().describe(DESCRIPTION).answer("{}");
        let wat = exports.iter().fold(tools, |wat, (name, json)| {
            wat.export(name, json, "(call $output {}) (i32.const 0)")
        });
        let host = Host::new(vec![wat.load().expect("a servlet")]);
        let capabilities = talk(host, &[]).await[0]["result"]["capabilities"].clone();
        ["resources", "prompts", "completions"].map(|name| capabilities[name].clone())
    };
    let none = Value::Null;
    let listed = (
        "list_resources",
        r#"{"resources":[{"uri":"a:b","name":"b"}]}"#,
    );
    assert_eq!(
        declared(&[]).await,
        [none.clone(), none.clone(), none.clone()]
    );
    // Without `read_resource`, clients could not read what is listed.
    assert_eq!(declared(&[listed]).await[0], none);
    assert_eq!(declared(&[listed, ("read_resource", "")]).await[0], reads);
    assert_eq!(declared(&[("read_resource", "")]).await[0], reads);
    let prompts = ("list_prompts", r#"{"prompts":[{"name":"p"}]}"#);
    assert_eq!(declared(&[prompts]).await[1], lists);
    assert_eq!(declared(&[("complete", "")]).await[2], json!({}));
}

#[tokio::test]
async fn lists_tools_as_they_were_described() {
    let described = json!({"tools": [
        {"name": "b", "inputSchema": {"type": "object", "properties": {"z": {}, "a": {}}}, "title": "B",
         "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "x": 1},
         "icons": [{"src": "data:,"}], "_meta": {"k": 1}, "execution": {"taskSupport": "optional"}},
        {"name": "a", "inputSchema": {"type": "object"}},
    ]});
    let responses = talk(
        host(&described.to_string(), "{}"),
        &[json!({"method": "tools/list"})],
    )
    .await;
    assert_eq!(responses[1]["result"].to_string(), described.to_string());
}

#[tokio::test]
async fn input_schemas_without_a_type_are_those_of_objects() {
    let described = r#"{"tools":[{"name":"a","inputSchema":{"properties":{}}}]}"#;
    let list = [json!({"method": "tools/list"})];
    let responses = talk(host(described, "{}"), &list).await;
    let schema = &responses[1]["result"]["tools"][0]["inputSchema"];
    assert_eq!(*schema, json!({"properties": {}, "type": "object"}));
}

#[tokio::test]
async fn passes_results_through_with_fields_it_does_not_know() {
    let answer = json!({
        "content": [{"type": "text", "text": "t", "annotations": {"priority": 0.5}}, {"type": "hologram"}],
        "structuredContent": {"n": 0.1}, "isError": true, "_meta": {"k": 1}, "vendor": true,
    });
    let responses = talk(
        host(DESCRIPTION, &answer.to_string()),
        &[call(&json!({"name": "t"}))],
    )
    .await;
    assert_eq!(responses[1]["result"], answer);
}

#[tokio::test]
async fn answers_wrong_calls_with_invalid_params() {
    let requests = [
        call(&json!({"name": "nope"})),
        call(&json!({"arguments": {}})),
        json!({"method": "tools/call"}),
        call(&json!({"name": "t", "arguments": [1]})),
        json!({"method": "tools/brew"}),
    ];
    let responses = talk(host(DESCRIPTION, "{}"), &requests).await;
    let errors: Vec<_> = responses[1..]
        .iter()
        .map(|response| &response["error"])
        .collect();
    assert_eq!(
        errors[0],
        &json!({"code": -32602, "message": "unknown tool `nope`"})
    );
    for error in &errors[1..4] {
        assert_eq!(error["code"], -32602, "{error}");
        let message = error["message"].as_str().expect("a message");
        assert!(
            message.starts_with("invalid params of `tools/call`: "),
            "{message}"
        );
    }
    assert_eq!(
        errors[4],
        &json!({"code": -32601, "message": "unknown method `tools/brew`"})
    );
}

#[tokio::test]
async fn sends_faults_with_their_code_and_data() {
    let text = "gone\nmcp-fault: {\"code\":-32002,\"data\":{\"uri\":\"a:\"}}";
    let servlet =
        Wat::new()
            .describe(DESCRIPTION)
            .export("call", text, "(call $error {}) (i32.const 1)");
    let host = Host::new(vec![servlet.load().expect("a servlet")]);
    let responses = talk(host, &[call(&json!({"name": "t"}))]).await;
    assert_eq!(
        responses[1]["error"],
        json!({"code": -32002, "message": "gone", "data": {"uri": "a:"}})
    );
}

#[tokio::test]
async fn serves_several_servlets_in_order() {
    let load = |name: &str| {
        let description = format!(r#"{{"name":"{name}","inputSchema":{{}}}}"#);
        let wasm = Wat::new()
            .describe(&description)
            .answer(&json!({"content": [{"type": "text", "text": name}]}).to_string())
            .wasm();
        Servlet::load(
            Source::Bytes {
                name: name.into(),
                wasm,
            },
            &LoadOptions::default(),
        )
        .expect("a servlet")
    };
    let host = Host::new(vec![load("zebra"), load("ant")]);
    let responses = talk(
        host,
        &[
            json!({"method": "tools/list"}),
            call(&json!({"name": "ant"})),
        ],
    )
    .await;
    assert_eq!(responses[0]["result"]["serverInfo"]["name"], "mcp-servlet");
    let names: Vec<_> = responses[1]["result"]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["zebra", "ant"]);
    assert_eq!(responses[2]["result"]["content"][0]["text"], "ant");
}

#[tokio::test]
async fn serves_the_stateless_protocol_version() {
    let lines = [
        numbered(1, stateless("server/discover", json!({}))),
        numbered(2, stateless("tools/list", json!({}))),
        numbered(3, stateless("tools/call", json!({"name": "t"}))),
    ];
    let responses = exchange(host(DESCRIPTION, r#"{"content":[],"vendor":1}"#), &lines).await;
    assert_eq!(
        responses[0]["result"]["capabilities"],
        json!({
            "extensions": {"io.modelcontextprotocol/tasks": {}},
            "tools": {"listChanged": true},
        })
    );
    let list = &responses[1]["result"];
    assert_eq!(
        (&list["resultType"], &list["ttlMs"]),
        (&json!("complete"), &json!(60_000))
    );
    assert_eq!(list["tools"][0]["name"], "t");
    assert_eq!(
        responses[2]["result"],
        json!({
            "content": [], "vendor": 1, "resultType": "complete",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "test", "version": "0.0.0"}},
        })
    );
}

#[tokio::test]
async fn invalid_lines_get_an_error_and_later_lines_are_read() {
    let ping = |id: u64| numbered(id, request("ping", json!({})));
    let open = initialize(HANDSHAKE);
    let long = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, "x".repeat(17 << 20));
    let wrong = [
        ("nonsense", -32700),
        ("{\"jsonrpc\":\"2.0\",", -32700),
        ("\u{1}\u{fffd}", -32700),
        ("[]", -32600),
        ("{\"foo\":\"bar\"}", -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (&*long, -32600),
    ];
    for (line, code) in wrong {
        let start = line.get(..20).unwrap_or(line);
        let (before, after) = (ping(1), ping(2));
        let text = format!("{open}\n\u{feff}{before}\n{line}\n\n{after}\r\n");
        let responses = exchange_text(host(DESCRIPTION, "{}"), &text).await;
        let [refusal, opened, rest @ ..] = responses.as_slice() else {
            panic!("{start}: {responses:?}");
        };
        assert_eq!(
            (&refusal["id"], refusal["error"]["code"].as_i64()),
            (&Value::Null, Some(code)),
            "{start}"
        );
        assert!(
            refusal
                .as_object()
                .is_some_and(|message| message.contains_key("id")),
            "{start}"
        );
        assert_eq!(opened["id"], 0, "{start}");
        let answered: Vec<_> = rest.iter().map(|response| &response["id"]).collect();
        assert_eq!(answered, [&json!(1), &json!(2)], "{start}");
    }
}

#[tokio::test]
async fn ignores_other_messages_before_the_first_request() {
    let modern = |id: u64, method: &str| numbered(id, stateless(method, json!({})));
    let unknown = json!({
        "io.modelcontextprotocol/protocolVersion": "2525-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for first in [
        initialized(),
        cancelled(1),
        notification("notifications/unheard-of", json!({})),
        json!({"jsonrpc": "2.0", "id": 7, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "m"}}),
    ] {
        for before in [
            modern(1, "server/discover"),
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": unknown}}),
        ] {
            let lines = [
                first.clone(),
                before,
                first.clone(),
                modern(2, "tools/list"),
            ];
            let responses = exchange(host(DESCRIPTION, "{}"), &lines).await;
            assert_eq!(responses.len(), 2, "{first}: {responses:?}");
            assert!(
                responses[1]["result"]["tools"].is_array(),
                "{first}: {responses:?}"
            );
        }
    }
}

#[tokio::test]
async fn reports_invalid_params_to_the_caller() {
    let host = || host(DESCRIPTION, "{}");
    let request = |method: &str, params: Value| numbered(5, request(method, params));
    for (line, message) in [
        (
            request("ping", json!([1])),
            "invalid params of `ping`: expected an object",
        ),
        (
            request("tools/call", json!({"name": "t", "_meta": [1]})),
            "invalid params of `tools/call`: expected an object in `_meta`",
        ),
        (
            request("tools/list", json!({"cursor": 5})),
            "invalid params of `tools/list`: expected a string in `cursor`, found a number",
        ),
        (
            request("tools/call", json!({})),
            "invalid params of `tools/call`: `name` is missing",
        ),
        (
            request("tools/call", json!({"name": "t", "arguments": [1]})),
            "invalid params of `tools/call`: expected an object in `arguments`, found an array",
        ),
        (
            request(
                "completion/complete",
                json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": "a"}),
            ),
            "invalid params of `completion/complete`: expected an object in `argument`, found a string",
        ),
    ] {
        let responses = exchange(host(), &[initialize(HANDSHAKE), line]).await;
        let error = &responses[1]["error"];
        assert_eq!(responses[1]["id"], 5, "{responses:?}");
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(-32602), &json!(message))
        );
    }
    let ping = stateless("ping", json!({}));
    let responses = exchange(host(), &[ping]).await;
    assert_eq!(responses[0]["error"]["code"], -32601);
    let mut wrong = initialize(HANDSHAKE);
    wrong["params"]["capabilities"] = 5.into();
    let responses = exchange(host(), &[wrong]).await;
    assert_eq!(
        responses[0]["error"]["message"],
        "invalid params of `initialize`: expected an object in `capabilities`"
    );
    // Valid JSON, but the number is too large for rmcp.
    let text = format!(
        "{}\n{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\",\"params\":{{\"a\":1e400}}}}\n",
        initialize(HANDSHAKE)
    );
    let responses = exchange_text(host(), &text).await;
    assert_eq!(responses[1]["id"], 5, "{responses:?}");
}

#[tokio::test]
async fn the_last_line_needs_no_end() {
    let ping = request("ping", json!({}));
    let text = format!("{}\n{ping}", initialize(HANDSHAKE));
    let responses = exchange_text(host(DESCRIPTION, "{}"), &text).await;
    assert_eq!(responses[1]["result"], json!({}));
    let half = text.trim_end_matches('}');
    let responses = exchange_text(host(DESCRIPTION, "{}"), half).await;
    assert_eq!(responses[0]["error"]["code"], -32700);
}

#[tokio::test]
async fn a_client_may_disconnect_at_once() {
    assert_eq!(
        exchange(host(DESCRIPTION, "{}"), &[]).await,
        [] as [Value; 0]
    );
}

#[tokio::test]
async fn a_server_that_is_stopped_leaves_its_client() {
    let service = start(host(DESCRIPTION, "{}"), ServeOptions::default()).await;
    let (mut client, serving) = attach(&service);
    client.ask(initialize(HANDSHAKE)).await;
    service.begin_stop();
    serving.await.expect("no panic").expect("a graceful end");
    assert_eq!(client.try_next().await, None);
}

#[tokio::test]
async fn stopping_server_ends_calls_and_refuses_requests() {
    let wait = "(loop $on (br_if $on (i32.const 1))) (i32.const 0)";
    let servlet = Wat::new().describe(DESCRIPTION).export("call", "", wait);
    let mut options = LoadOptions::default();
    options.limits.timeout = Limit::At(Duration::from_secs(1));
    let servlet = servlet.load_with(&options).expect("a servlet");
    let service = start(Host::new(vec![servlet]), ServeOptions::default()).await;
    let (mut client, serving) = attach(&service);
    for message in [
        initialize(HANDSHAKE),
        initialized(),
        request("tools/call", json!({"name": "t"})),
        numbered(2, request("ping", json!({}))),
    ] {
        client.send(message).await;
    }
    assert_eq!(client.next().await["id"], 0);
    assert_eq!(client.next().await["id"], 2, "earlier requests have begun");
    service.begin_stop();
    let late = numbered(3, request("tools/list", json!({})));
    let refused = client.ask(late).await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(3), &json!(-32000))
    );
    let ended = client.next().await;
    assert_eq!(ended["id"], 1);
    let message = ended["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("did not finish"), "{ended}");
    serving.await.expect("no panic").expect("a graceful end");
}
