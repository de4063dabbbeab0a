//! Paths, response forms, headers and limits of endpoints over streamable HTTP.

use mcp_servlet_client::Session;
use puppet::eventually;
use serde_json::json;
use wire::{Http, message::initialized};

use crate::{
    site::{Site, Way, tools},
    support::Wat,
    wasm::servlet,
};

const A: &str = "[servlet.a]\nsource = \"a.wasm\"\n";

const TWO: &str = "[listener.l]\naddress = \"127.0.0.1:0\"\n\
    [endpoint.one]\nkind = \"http\"\nlistener = \"l\"\npath = \"/one/mcp\"\nbundles = [\"a\"]\n\
    [endpoint.two]\nkind = \"http\"\nlistener = \"l\"\npath = \"/two\"\nbundles = [\"b\"]\n\
    [servlet.a]\nsource = \"a.wasm\"\n[servlet.b]\nsource = \"b.wasm\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_share_a_listener() {
    let files = [
        ("a.wasm", servlet(&["x"], "a")),
        ("b.wasm", servlet(&["y"], "b")),
    ];
    let files: Vec<_> = files.iter().map(|(name, wasm)| (*name, &**wasm)).collect();
    let site = Site::start(TWO, &files).await;
    for way in [Way::HttpLegacy, Way::HttpModern] {
        for (endpoint, tool) in [("one", "x"), ("two", "y")] {
            let session = site.connect(way, endpoint).await;
            assert_eq!(tools(&session).await, [tool], "{way:?}");
        }
    }
    let two = site.http("two");
    let other = two.at("/mcp").get();
    assert_eq!(other.status(), 404);
    assert_eq!(
        other.text(),
        "this is an MCP server, and its endpoints are /one/mcp, /two\n"
    );
    let health = two.at("/health").get().message();
    assert_eq!(health, json!({ "status": "ok", "servlets": 2, "tools": 2 }));
    // A session belongs to one endpoint.
    let session = site.http("one").open();
    let elsewhere = two.in_session(session.session());
    assert_eq!(elsewhere.ask("tools/list", json!({})).status(), 404);
}

/// A servlet that sends progress before its answer, if the client asked for it.
pub(crate) fn progressing() -> Vec<u8> {
    let params = json!({ "progressToken": "p", "progress": 1 });
    let import = r#"(import "extism:host/user" "notify_progress" (func $progress (param i64)))"#;
    let answer = r#"{"content":[{"type":"text","text":"a"}]}"#;
    let text = json!(params).to_string();
    let body = format!(
        "(call $progress (call $block (i32.const 0) (i32.const {}))) (call $output {{}}) (i32.const 0)",
        text.len()
    );
    let wat = Wat::new().import(import).text(&text);
    wat.describe(&crate::wasm::describe(&["t"]))
        .export("call", answer, &body)
        .wasm()
}

async fn forms(response: &str) -> Vec<Option<String>> {
    let config = format!(
        "[listener.l]\naddress = \"127.0.0.1:0\"\n[endpoint.web]\nkind = \"http\"\nlistener = \"l\"\n{response}{A}"
    );
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let web = site.http("web");
    let form = |client: &Http| {
        let listed = client.ask("tools/list", json!({}));
        listed.header("content-type").map(str::to_owned)
    };
    vec![form(&web.open()), form(&web)]
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_are_json_or_events() {
    let json = Some("application/json".to_owned());
    let events = Some("text/event-stream".to_owned());
    for response in ["", "response = \"json\"\n"] {
        assert_eq!(
            forms(response).await,
            [json.clone(), json.clone()],
            "{response}"
        );
    }
    assert_eq!(
        forms("response = \"sse\"\n").await,
        [events.clone(), events]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_understand_both_forms() {
    for response in ["json", "sse"] {
        let config = format!(
            "[listener.l]\naddress = \"127.0.0.1:0\"\n[endpoint.web]\nkind = \"http\"\nlistener = \"l\"\nresponse = \"{response}\"\n{A}"
        );
        let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
        for way in [Way::HttpLegacy, Way::HttpModern] {
            let session: Session = site.connect(way, "web").await;
            let called = session.call("t", json!({})).await;
            assert_eq!(called.expect("a result").text(), "a", "{response} {way:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn successful_responses_have_the_endpoints_headers() {
    let config = format!(
        "[listener.l]\naddress = \"127.0.0.1:0\"\nbody = \"10KiB\"\n\
         [endpoint.web]\nkind = \"http\"\nlistener = \"l\"\nheaders = {{ x-served-by = \"acme\", x-none = \"${{NO_SUCH_VARIABLE_HERE:-no}}\" }}\n{A}"
    );
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let web = site.http("web");
    let opened = web.with("origin", "http://localhost:3000").initialize();
    assert_eq!(opened.status(), 200);
    assert_eq!(opened.header("x-served-by"), Some("acme"));
    assert_eq!(opened.header("x-none"), Some("no"));
    let exposed = opened.header("access-control-expose-headers");
    assert_eq!(exposed, Some("Mcp-Session-Id, x-none, x-served-by"));
    let session = web.with("mcp-session-id", &opened.session());
    let ready = session.post(&initialized());
    assert_eq!(
        (ready.status(), ready.header("x-served-by")),
        (202, Some("acme"))
    );
    for (status, response) in [
        (400, web.post_text("{")),
        (403, web.with("host", "evil.example").initialize()),
        (404, web.with("mcp-session-id", "unknown").initialize()),
        (413, web.post_text(&"x".repeat(20 << 10))),
    ] {
        assert_eq!(response.status(), status);
        assert_eq!(response.header("x-served-by"), None, "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_can_depend_on_the_request() {
    let config = format!(
        "[listener.l]\naddress = \"127.0.0.1:0\"\n\
         [endpoint.web]\nkind = \"http\"\nlistener = \"l\"\n\
         headers = {{ x-session = \"${{{{ session.id }}}}\", x-text = \"id-${{{{ session.id }}}}\", \
         x-request = \"${{{{ request.method }}}} ${{{{ request.id }}}}\" }}\n{A}"
    );
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let web = site.http("web");
    let opened = web.initialize();
    let session = &*opened.session();
    let ready = web.with("mcp-session-id", session).post(&initialized());
    for response in [&opened, &ready] {
        assert_eq!(response.header("x-session"), Some(session));
        assert_eq!(response.header("x-text"), Some(&*format!("id-{session}")));
    }
    assert_eq!(opened.header("x-request"), Some("initialize 0"));
    let method = Some("notifications/initialized");
    assert_eq!(ready.header("x-request"), method);
    let listed = web.ask("tools/list", json!({}));
    assert_eq!(listed.status(), 200);
    assert_eq!(listed.header("x-request"), Some("tools/list 1"));
    assert_eq!(listed.header("x-session"), None);
    assert_eq!(listed.header("x-text"), Some("id-"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_without_a_valid_value_is_an_internal_error() {
    for (value, wrong) in [
        ("${{ 'a\\\\nb' + session.id }}", true),
        ("${{ int(session.id) }}", true),
        ("${{ session.?id.orValue('-') }}", false),
    ] {
        let config = format!(
            "[listener.l]\naddress = \"127.0.0.1:0\"\n\
             [endpoint.web]\nkind = \"http\"\nlistener = \"l\"\nheaders = {{ x-a = \"{value}\" }}\nsession.most = 1\n{A}"
        );
        let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
        let opened = site.http("web").initialize();
        let status = if wrong { 500 } else { 200 };
        assert_eq!(opened.status(), status, "{value}");
        if wrong {
            assert_eq!(
                opened.text(),
                "the header `x-a` of the endpoint has no valid value\n"
            );
            assert_eq!(opened.header("mcp-session-id"), None);
            // The server has not kept the session: there is room for one.
            let again = site.http("web").initialize();
            assert_eq!(again.status(), 500, "{value}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_host_is_told_which_key_allows_it() {
    let config = format!(
        "[listener.l]\naddress = \"127.0.0.1:0\"\n[endpoint.web]\nkind = \"http\"\nlistener = \"l\"\nhosts = [\"mcp.example\"]\n{A}"
    );
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let named = |host| site.http("web").with("host", host);
    assert_eq!(named("mcp.example").initialize().status(), 200);
    let refused = named("evil.example:80").initialize();
    let help = "help: set `hosts = [\"evil.example\"]` in `[endpoint.web]`";
    assert!(refused.text().contains(help), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_endpoint_has_its_own_limits_of_sessions() {
    let config = format!("{TWO}\n[http]\nsession_idle = \"none\"\n");
    let config = config.replace(
        "bundles = [\"a\"]\n",
        "bundles = [\"a\"]\nsession = { most = 1, idle = \"300ms\" }\n",
    );
    let files = [
        ("a.wasm", servlet(&["x"], "a")),
        ("b.wasm", servlet(&["y"], "b")),
    ];
    let files: Vec<_> = files.iter().map(|(name, wasm)| (*name, &**wasm)).collect();
    let site = Site::start(&config, &files).await;
    let open = |endpoint| site.http(endpoint).initialize().status();
    assert_eq!((open("one"), open("one")), (200, 503));
    assert_eq!((open("two"), open("two")), (200, 200));
    // The idle session makes room.
    eventually("an idle session ends", async || open("one") == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_before_the_answer_makes_a_stream() {
    let config = format!(
        "[listener.l]\naddress = \"127.0.0.1:0\"\n[endpoint.web]\nkind = \"http\"\nlistener = \"l\"\nresponse = \"json\"\n{A}"
    );
    let site = Site::start(&config, &[("a.wasm", &progressing())]).await;
    let web = site.http("web");
    let session = web.open();
    for (meta, expected) in [
        (json!({}), "application/json"),
        (json!({ "progressToken": "p" }), "text/event-stream"),
    ] {
        for client in [&session, &web] {
            let params = json!({ "name": "t", "_meta": meta });
            let response = client.ask("tools/call", params);
            assert_eq!(response.status(), 200, "{meta}");
            assert_eq!(response.header("content-type"), Some(expected), "{meta}");
        }
    }
}
