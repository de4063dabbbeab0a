//! Remotes behind an endpoint with a search, and with shapes of their results.

use mcp_servlet_client::Session;
use serde_json::{Value, json};

use crate::{
    site::{OLD, PIPE, Site, WAYS, WEB, definitions, tools},
    support::script,
    virtual_tools::remote,
};

const SEARCH: &str = "tools = { search = true }\n";

fn tool(name: &str, annotations: Value) -> Value {
    let properties = json!({ "x": { "type": "string" } });
    let schema = json!({ "type": "object", "properties": properties, "required": ["x"] });
    json!({ "name": name, "annotations": annotations, "inputSchema": schema })
}

async fn call(session: &Session, via: &str, name: &str, arguments: Value) -> (bool, String) {
    let params = json!({ "name": name, "arguments": arguments });
    let result = session.call(via, params).await.expect("a result");
    (result.is_error, result.text())
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_remotes_are_found_and_called() {
    let tools_of_remote = json!([
        tool("read_page", json!({ "readOnlyHint": true })),
        tool("move_page", json!({})),
    ]);
    let failure =
        json!({ "content": [{ "type": "text", "text": "no such page" }], "isError": true });
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {} },
        "replies": {
            "tools/list": [{ "result": { "tools": tools_of_remote } }],
            "tools/call": [{ "result": failure }],
        },
    }));
    let wiki = remote("wiki", &puppet, "").await;
    let config = format!("{WEB}{SEARCH}{OLD}{SEARCH}{PIPE}{SEARCH}{wiki}");
    let site = Site::start(&config, &[]).await;
    let schema = &tool("", json!({}))["inputSchema"];
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await.len(), 3, "{way:?}");
        let found = session
            .call("find_tools", json!({ "query": "pages" }))
            .await;
        let text = found.expect("a result").text();
        assert!(
            text.starts_with(
                "2 of 2 tools match \"pages\":\n- wiki_read_page (read-only)\n- wiki_move_page\n"
            ),
            "{text}"
        );
        let arguments = || json!({ "x": "a" });
        let failed = (true, "no such page".to_owned());
        let called = call(&session, "call_tool", "wiki_move_page", arguments()).await;
        assert_eq!(called, failed, "{way:?}");
        let called = call(
            &session,
            "call_read_only_tool",
            "wiki_read_page",
            arguments(),
        )
        .await;
        assert_eq!(called, failed, "{way:?}");
        let refused = call(
            &session,
            "call_read_only_tool",
            "wiki_move_page",
            arguments(),
        )
        .await;
        assert_eq!(
            refused.1,
            "wiki_move_page is not declared read-only; use call_tool"
        );
        let explained = call(&session, "call_tool", "wiki_read_page", json!({})).await;
        let expected = format!("no such page\nArguments of wiki_read_page: {schema}");
        assert_eq!(explained, (true, expected), "{way:?}");
    }
    // The refused calls have not reached it.
    assert_eq!(puppet.received("tools/call"), 3 * WAYS.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_remotes_have_the_shape_of_the_configuration() {
    let mut list = tool("list_pages", json!({}));
    list["outputSchema"] = json!({ "type": "object" });
    let pages = json!({ "pages": [{ "id": 1, "text": "a" }, { "id": 2, "text": "b" }], "next": 2 });
    let result = json!({
        "content": [{ "type": "text", "text": pages.to_string() }],
        "structuredContent": pages,
        "_meta": { "mcp-servlet/cut": "only the host says so", "its": 1 },
    });
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {} },
        "replies": {
            "tools/list": [{ "result": { "tools": [list] } }],
            "tools/call": [{ "result": result }],
        },
    }));
    let shape = "tool.list_pages.shape = { take = [\"/pages/*/id\"], most = 1, more = \"x\" }\n";
    let wiki = remote("wiki", &puppet, shape).await;
    let config = format!("{WEB}{OLD}{PIPE}{wiki}");
    let site = Site::start(&config, &[]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let listed = definitions(&session).await;
        assert_eq!(listed[0].get("outputSchema"), None, "{way:?}");
        let result = session.call("wiki_list_pages", json!({ "x": "a" })).await;
        let result = json!(result.expect("a result").raw);
        let left = json!({ "pages": [{ "id": 1 }] });
        assert_eq!(result["structuredContent"], left, "{way:?}");
        let said = "/pages has 1 of 2 items; ask with \"x\" for more";
        let texts = [&result["content"][0]["text"], &result["content"][1]["text"]];
        assert_eq!(texts, [&json!(left.to_string()), &json!(said)], "{way:?}");
        let meta = &result["_meta"];
        let cut = json!({ "/pages": 1 });
        assert_eq!(
            (&meta["mcp-servlet/cut"], &meta["its"]),
            (&cut, &json!(1)),
            "{way:?}"
        );
    }
}
