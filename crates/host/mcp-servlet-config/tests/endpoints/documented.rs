//! The examples of the guide.

use mcp_servlet_client::{CallResult, Http, Options, Session};
use mcp_servlet_config::Config;
use serde_json::{Value, json};
use wire::message::{HANDSHAKE, initialize};

use crate::{
    issuer::{ISSUER, Issuer, payload},
    site::{OLD, PIPE, Site, WAYS, WEB, Way, tools},
    wasm::{Reply, echo_as, replies, servlet},
};

/// The block after a heading of a page, with a free port.
fn example(page: &str, heading: &str) -> String {
    let (_, page) = page.split_once(heading).expect("the heading");
    let (_, example) = page.split_once("```toml\n").expect("an example");
    let (example, _) = example.split_once("```").expect("the end of the example");
    example.replace("127.0.0.1:8080", "127.0.0.1:0")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_of_the_guide_runs() {
    let config = example(include_str!("../../../../../docs/endpoints.md"), "# ");
    let weather = servlet(&["get_weather", "get_alerts"], "sunny");
    let files = [
        ("weather.wasm", weather),
        ("notes.wasm", servlet(&["add_note"], "added")),
    ];
    let files: Vec<_> = files.iter().map(|(name, wasm)| (*name, &**wasm)).collect();
    let site = Site::start(&config, &files).await;
    let all = ["get_weather", "get_alerts", "add_note"];
    let expected: [(Way, &str, &[&str]); 5] = [
        (Way::HttpModern, "team", &all),
        (Way::HttpLegacy, "team", &all),
        (Way::HttpModern, "public", &all[..2]),
        (Way::Sse, "old", &all[..2]),
        (Way::PipeModern, "pipe", &all),
    ];
    for (way, endpoint, names) in expected {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, names, "{endpoint}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_of_a_search_runs() {
    let page = include_str!("../../../../../docs/endpoints.md");
    let tool = |name: &str, description: &str, argument: &str| {
        let properties = json!({ argument: { "type": "string" } });
        json!({
            "name": name,
            "description": description,
            "inputSchema": { "type": "object", "properties": properties },
            "annotations": { "readOnlyHint": name != "add_note" },
        })
    };
    let weather = json!([
        tool("get_weather", "Returns the weather.", "place"),
        tool("get_alerts", "Returns warnings of storms.", "place"),
    ]);
    let notes = json!([
        tool("add_note", "Adds a note.", "text"),
        tool("find_notes", "Finds notes by their text.", "text"),
    ]);
    let files = [("weather.wasm", weather), ("notes.wasm", notes)];
    let files = files.map(|(name, tools)| (name, echo_as(&json!({ "tools": tools }).to_string())));
    let files: Vec<_> = files.iter().map(|(name, wasm)| (*name, &**wasm)).collect();
    let site = Site::start(&example(page, "## Search"), &files).await;
    let session = site.connect(Way::HttpModern, "assistant").await;
    let listed = [
        "find_tools",
        "call_read_only_tool",
        "call_tool",
        "get_weather",
    ];
    assert_eq!(tools(&session).await, listed);
    let query = json!({ "query": "find notes about a city" });
    let found = session.call("find_tools", query).await.expect("a result");
    let (_, text) = page
        .split_once("a model reads:\n\n```text\n")
        .expect("a result");
    let (text, _) = text.split_once("\n```").expect("its end");
    assert_eq!(found.text(), text);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_of_callers_runs() {
    let page = include_str!("../../../../../docs/access.md");
    let issuer = Issuer::new();
    let keys = json!({ "keys": issuer.keys() }).to_string();
    let files = [
        ("weather.wasm", &*servlet(&["get_weather"], "sunny")),
        ("bank.wasm", &*servlet(&["refund"], "refunded")),
        ("keys.json", keys.as_bytes()),
    ];
    let config = example(page, "# ") + &example(page, "## Scopes of tools");
    let config = config.replace("https://login.acme.example", ISSUER);
    let site = Site::start(&config, &files).await;
    let token = issuer.token(&json!({ "aud": "https://mcp.acme.example/mcp" }));
    let (_, key) = page.split_once("\nkey     ").expect("a key");
    let (key, _) = key.split_once('\n').expect("the end of the line");
    for credential in [&*token, key] {
        let http = Http::new(site.url("main")).expect("a URL");
        let http = http.header("authorization", &format!("Bearer {credential}"));
        let http = http.expect("a header");
        let session = Session::connect_with(&http.into(), &Options::new()).await;
        let session = session.expect("a session");
        assert_eq!(tools(&session).await, ["get_weather", "refund"]);
        let refused = session.call("refund", json!({})).await;
        let error = refused.map(drop).expect_err("no scope `pay`").to_string();
        assert!(error.contains("scope"), "{error}");
        session.close().await;
    }
    let nobody = Http::new(site.url("main")).expect("a URL").into();
    let refused = Session::connect_with(&nobody, &Options::new()).await;
    refused.map(drop).expect_err("a refusal");
}

/// The URL of the endpoint in the examples of issuers.
const PROTECTED: &str = "https://mcp.acme.example/mcp";

/// The headings of the examples of issuers, and the claims of their tokens. Entra ID writes scopes that only rules read.
fn issuers() -> [(&'static str, bool, Value); 3] {
    let entra = json!({ "aud": "11111111-2222-3333-4444-555555555555", "scp": "mcp", "oid": "o", "ver": "2.0" });
    let auth0 = json!({ "aud": [PROTECTED, "https://acme.eu.auth0.com/userinfo"], "scope": "openid mcp", "permissions": ["pay"] });
    let keycloak = json!({ "aud": [PROTECTED, "account"], "scope": "mcp email", "realm_access": { "roles": ["admin"] } });
    [
        ("### Microsoft Entra ID", true, entra),
        ("### Auth0", false, auth0),
        ("### Keycloak", false, keycloak),
    ]
}

/// The `iss` of an example, and its configuration with keys of our own.
fn issuer_example(heading: &str, has_rules: bool) -> (String, String) {
    let page = include_str!("../../../../../docs/access.md");
    let block = example(page, heading);
    let (_, iss) = block.split_once("\nissuer = \"").expect("an issuer");
    let (iss, _) = iss.split_once('"').expect("its end");
    let written = format!("issuer = \"{iss}\"");
    let with_keys = block.replace(&written, &format!("{written}\njwks = \"keys.json\""));
    let rules = if has_rules {
        let (_, after) = page.split_once(heading).expect("the heading");
        let (_, after) = after.split_once("Require the scope with").expect("a rule");
        example(after, "").replace("endpoint.main", "endpoint.web")
    } else {
        String::new()
    };
    let config = format!(
        "{WEB}auth = \"corp\"\nurl = \"{PROTECTED}\"\n{rules}{with_keys}[servlet.a]\nsource = \"a.wasm\"\n"
    );
    (iss.to_owned(), config)
}

/// The status of a list that is requested with this token, and whether it has the tool `t`.
fn listed(site: &Site, token: &str) -> (u16, bool) {
    let authorization = format!("Bearer {token}");
    let client = site.http("web").with("authorization", &authorization);
    let listed = client.ask("tools/list", json!({}));
    let has_tool = listed.text().contains("\"name\":\"t\"");
    (listed.status(), has_tool)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_issuers_accept_their_tokens() {
    let issuer = Issuer::new();
    let keys = json!({ "keys": issuer.keys() }).to_string();
    for (heading, has_rules, claims) in issuers() {
        let (iss, config) = issuer_example(heading, has_rules);
        let wasm = servlet(&["t"], "a");
        let files = [("a.wasm", &*wasm), ("keys.json", keys.as_bytes())];
        let site = Site::start(&config, &files).await;
        let tools = |changed: &Value| {
            let mut all = json!({ "iss": iss, "scope": null });
            let objects = [&claims, changed].into_iter().filter_map(Value::as_object);
            for (name, value) in objects.flatten() {
                all[name] = value.clone();
            }
            let head = json!({ "alg": "RS256", "kid": "rsa", "typ": "JWT" });
            listed(&site, &issuer.sign(&head, &payload(&all)))
        };
        assert_eq!(tools(&json!({})), (200, true), "{heading}");
        for refused in [
            json!({ "aud": "another" }),
            json!({ "iss": "https://evil.example" }),
        ] {
            assert_eq!(tools(&refused), (401, false), "{heading}");
        }
        let status = if has_rules { 200 } else { 403 };
        let without = json!({ "scope": "openid", "scp": null });
        assert_eq!(tools(&without), (status, false), "{heading}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_of_new_sessions_runs() {
    let page = include_str!("../../../../../docs/access.md");
    let (_, answer) = page
        .split_once("with structured content:\n\n```json\n")
        .expect("an answer");
    let (answer, _) = answer.split_once("\n```").expect("its end");
    let refuse = format!("{{\"content\":[],\"structuredContent\":{answer}}}");
    let tools = json!([{ "name": "admit", "inputSchema": { "type": "object", "properties": { "headers": { "type": "object" } } } }]);
    let begin = "\"admit\",\"arguments\":{\"headers\":{\"x-forwarded-for\":\"192.0.2.7\"";
    let accept = "{\"content\":[],\"structuredContent\":{\"accept\":true}}";
    let gate = replies(
        &tools,
        &[
            (begin, Reply::Output(&refuse)),
            (
                "\"admit\",\"arguments\":{\"headers\":",
                Reply::Output(accept),
            ),
        ],
    );
    let listener = "[listener.local]\naddress = \"127.0.0.1:0\"\n";
    let config = format!("{listener}{}", example(page, "## New sessions"));
    let site = Site::start(&config, &[("gate.wasm", &gate)]).await;
    let main = site.http("main");
    assert_eq!(main.initialize().status(), 200);
    let mut old = initialize(HANDSHAKE);
    old["params"]["clientInfo"]["name"] = "old-bot".into();
    assert_eq!(main.post(&old).status(), 410);
    let poor = main.with("x-forwarded-for", "192.0.2.7").initialize();
    assert_eq!((poor.status(), poor.header("x-price")), (402, Some("7")));
}

/// The servlet of the complete example of bundles. It traps if it gets other arguments than these.
fn search() -> Vec<u8> {
    let text = json!({ "type": "string" });
    let tools = json!([{
        "name": "search",
        "title": "Search",
        "description": "Searches a site.",
        "inputSchema": {
            "type": "object",
            "properties": { "query": text, "site": text },
            "required": ["query", "site"],
        },
        "outputSchema": {
            "type": "object",
            "properties": { "total": { "type": "integer" }, "pages": { "type": "array" } },
        },
    }]);
    let found =
        r#"{"content":[],"structuredContent":{"total":2,"pages":[{"title":"A"},{"title":"B"}]}}"#;
    let busy = r#"{"content":[{"type":"text","text":"slow down"}],"isError":true,"_meta":{"mcp-servlet/error":{"code":"RATE_LIMITED","data":{"retry":30}}}}"#;
    replies(
        &tools,
        &[
            (
                r#""search","arguments":{"query":"rust wasm","site":"docs.example.com"}"#,
                Reply::Output(found),
            ),
            (
                r#""search","arguments":{"query":"rust wasm","site":"www.example.com"}"#,
                Reply::Output(found),
            ),
            (
                r#""search","arguments":{"query":"busy","site":"docs.example.com"}"#,
                Reply::Output(busy),
            ),
            (
                r#""search","arguments":{"query":"busy","site":"www.example.com"}"#,
                Reply::Output(busy),
            ),
        ],
    )
}

/// A result as the server sent it.
fn json(result: &CallResult) -> Value {
    serde_json::from_str(result.raw.get()).expect("JSON")
}

/// The only tool that a client sees.
async fn tool(session: &Session) -> Value {
    let tools = session.lists().await.expect("lists").tools;
    let tools = json!(tools.expect("tools").iter().collect::<Vec<_>>());
    assert_eq!(tools.as_array().map(Vec::len), Some(1), "{tools}");
    tools[0].clone()
}

async fn check_the_tool_of_the_team(session: &Session) {
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    let object = |name: &str| json!({ "type": "object", "properties": { name: strings }, "required": [name] });
    assert_eq!(
        tool(session).await,
        json!({
            "name": "find",
            "title": "Search",
            "description": "Finds pages of our documentation.",
            "inputSchema": object("words"),
            "outputSchema": object("titles"),
        })
    );
    let call = |words: Value| session.call("find", json!({ "words": words }));
    let found = call(json!(["rust", "wasm"])).await.expect("a result");
    if !session.server().is_stateless() {
        let expected = r#"{"content":[{"type":"text","text":"2 pages"}],"structuredContent":{"titles":["A","B"]}}"#;
        assert_eq!(found.raw.get(), expected);
    }
    let mut found = json(&found);
    // What results since 2026-07-28 have in addition.
    for member in ["resultType", "_meta"] {
        found.as_object_mut().expect("an object").remove(member);
    }
    assert_eq!(
        found,
        json!({
            "content": [{ "type": "text", "text": "2 pages" }],
            "structuredContent": { "titles": ["A", "B"] },
        })
    );
    let error = call(json!(["busy"])).await.expect_err("an error");
    assert_eq!(
        (error.code(), error.message()),
        (Some(-32001), "busy, try again in 30 s")
    );
    assert_eq!(error.data(), Some(&json!({ "retry": 30 })));
    let wrong = call(json!("rust")).await.expect("a result for the model");
    assert!(
        wrong.is_error && wrong.text().contains("words"),
        "{}",
        wrong.text()
    );
}

async fn check_the_tool_of_everyone(session: &Session) {
    let tool = tool(session).await;
    assert_eq!(tool["description"], "Searches a site.");
    assert_eq!(
        tool["inputSchema"],
        json!({
            "type": "object",
            "properties": { "query": { "type": "string" } },
            "required": ["query"],
            "additionalProperties": false,
        })
    );
    let call = |query: &str| session.call("find", json!({ "query": query }));
    let found = call("rust wasm").await.expect("a result");
    assert_eq!(json(&found)["structuredContent"]["total"], 2);
    let busy = call("busy").await.expect("a result");
    assert!(busy.is_error && busy.text() == "slow down");
    let forbidden = json!({ "query": "rust wasm", "site": "docs.example.com" });
    let forbidden = session.call("find", forbidden).await.expect("a result");
    assert!(forbidden.is_error && forbidden.text().contains("site"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_complete_example_of_bundles_does_what_the_guide_says() {
    let guide = include_str!("../../../../../docs/bundles.md");
    let config = example(guide, "## A complete example");
    assert!(config.lines().count() <= 30, "it fits on a screen");
    let site = Site::start(&config, &[("web.wasm", &search())]).await;
    for way in [
        Way::HttpLegacy,
        Way::HttpModern,
        Way::PipeLegacy,
        Way::PipeModern,
    ] {
        check_the_tool_of_the_team(&site.connect(way, "team").await).await;
    }
    for way in [Way::PipeLegacy, Way::PipeModern] {
        check_the_tool_of_everyone(&site.connect(way, "public").await).await;
    }
}

/// The other blocks of the chapter about bundles, with a servlet as it describes it.
#[tokio::test(flavor = "multi_thread")]
async fn the_bundle_of_the_guide_runs() {
    let guide = include_str!("../../../../../docs/bundles.md");
    let (guide, _) = guide.split_once("## A complete example").expect("its end");
    let blocks = guide.split("```toml\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().expect("a block"));
    let bundle = blocks
        .collect::<Vec<_>>()
        .join("\n")
        .replace("${SEARCH_KEY}", "k");
    let config = format!("{WEB}{OLD}{PIPE}{bundle}");
    let property = json!({ "type": "string" });
    let tools = json!([{
        "name": "search",
        "inputSchema": { "type": "object", "properties": { "query": property, "site": property, "key": property } },
        "outputSchema": { "type": "object", "properties": { "total": {}, "pages": {} } },
    }]);
    let found = r#"{"content":[],"structuredContent":{"total":1,"pages":[{"title":"A"}]}}"#;
    let busy =
        "slow down\nmcp-fault: {\"code\":-32010,\"data\":{\"code\":\"RATE_LIMITED\",\"retry\":30}}";
    let gone = "gone\nmcp-fault: {\"code\":-32010}";
    let wasm = replies(
        &tools,
        &[
            (r#""search","arguments":{"query":"q""#, Reply::Output(found)),
            (
                r#""search","arguments":{"query":"busy""#,
                Reply::Error(busy),
            ),
            (
                r#""search","arguments":{"query":"gone""#,
                Reply::Error(gone),
            ),
        ],
    );
    let site = Site::start(&config, &[("web.wasm", &wasm)]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let call = |query: &str| session.call("find", json!({ "query": query }));
        let result = json(&call("q").await.expect("a result"));
        assert_eq!(result["content"][0]["text"], "1 pages for q", "{way:?}");
        assert_eq!(
            result["structuredContent"],
            json!({ "pages": ["A"] }),
            "{way:?}"
        );
        let busy = call("busy").await.expect_err("an error");
        assert_eq!(
            (busy.code(), busy.message()),
            (Some(-32001), "busy, try again"),
            "{way:?}"
        );
        assert_eq!(busy.data(), Some(&json!({ "retry": 30 })), "{way:?}");
        let gone = call("gone").await.expect_err("an error");
        assert_eq!(gone.message(), "the search is not available", "{way:?}");
    }
}

#[test]
fn one_endpoint_cannot_have_both_tools_of_the_complete_example() {
    let guide = include_str!("../../../../../docs/bundles.md");
    let config = example(guide, "## A complete example");
    let config = config.replace("bundles = [\"team\"]", "bundles = [\"team\", \"public\"]");
    let error = Config::parse("servlet.toml".as_ref(), &config).expect_err("two tools");
    let error = error.to_string();
    let expected = "servlet.toml:27:21: endpoint `team` would have two tools `find`: \
        of bundle `public` here, and of bundle `team` at line 14, column 19";
    assert!(error.contains(expected), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_of_several_machines_runs() {
    let config = example(include_str!("../../../../../docs/machines.md"), "# ");
    let config = config.replace("mcp.example.com", "127.0.0.1");
    let wasm = servlet(&["get_weather"], "sunny");
    let key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
    let files = [("weather.wasm", &*wasm), ("state.key", key.as_bytes())];
    let [first, second] = [
        Site::start(&config, &files).await,
        Site::start(&config, &files).await,
    ];
    let id = first.http("main").initialize().session();
    let session = second.http("main").with("mcp-session-id", &id);
    let called = session.ask("tools/call", json!({ "name": "get_weather" }));
    assert_eq!(called.status(), 200);
}

#[test]
fn the_example_of_a_store_is_valid() {
    let page = include_str!("../../../../../docs/machines.md");
    let endpoint = "[endpoint.main]\nkind = \"http\"\nlistener = \"l\"";
    let config = example(page, "## Redis").replace("[endpoint.main]", endpoint);
    let config = format!(
        "{config}[listener.l]\naddress = \"127.0.0.1:0\"\n[server]\nstate_keys = [\"${{file:./state.key}}\"]\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    for (name, text) in [("state.key", key), ("redis.password", "s3cret\n")] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let checked = Config::parse(&folder.path().join("servlet.toml"), &config);
    checked.unwrap_or_else(|error| panic!("{error}"));
}
