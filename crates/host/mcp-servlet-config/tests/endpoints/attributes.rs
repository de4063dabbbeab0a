//! What servlets learn about a request.

use mcp_servlet_client::CallOptions;
use serde_json::{Value, json};

use crate::{
    site::{OLD, PIPE, Site, WAYS, WEB, Way},
    wasm::{echo, echo_features, echo_of_hyper_mcp},
};

async fn site() -> Site {
    let forward = "forward_headers = [\"X-Request-Id\"]\n";
    let config = format!("{WEB}{forward}{OLD}{forward}{PIPE}[servlet.echo]\nsource = \"e.wasm\"\n");
    Site::start(&config, &[("e.wasm", &echo(&["echo"]))]).await
}

/// The `_meta` that the servlet gets.
async fn meta(site: &Site, way: Way, endpoint: &str) -> [Value; 2] {
    let session = site.connect(way, endpoint).await;
    let mut all = Vec::new();
    for _ in 0..2 {
        let forged = json!({ "mcp-servlet/session": "forged", "mcp-servlet/request": "forged", "mcp-servlet/x": 1, "acme/y": 2, "baggage": "user=ann" });
        let options = CallOptions::new().meta(forged.as_object().cloned().expect("an object"));
        let called = session.call_with("echo", json!({}), &options).await;
        let raw = json!(called.expect("a result").raw);
        all.push(raw["structuredContent"]["params"]["_meta"].clone());
    }
    session.close().await;
    all.try_into().expect("two calls")
}

#[tokio::test(flavor = "multi_thread")]
async fn servlets_read_the_session_of_each_transport() {
    let site = site().await;
    for (way, endpoint) in WAYS {
        let [first, second] = meta(&site, way, endpoint).await;
        let session = first["mcp-servlet/session"].as_str();
        let session = session.unwrap_or_else(|| panic!("{way:?}: {first}"));
        assert_eq!(session.is_empty(), way == Way::HttpModern, "{way:?}");
        assert_eq!(second["mcp-servlet/session"], session, "{way:?}");
        let [request, next] = [&first, &second].map(|meta| &meta["mcp-servlet/request"]);
        assert!(request.is_u64(), "{way:?}: {first}");
        assert_ne!(request, next, "{way:?}");
        let [other, _] = meta(&site, way, endpoint).await;
        let is_same = other["mcp-servlet/session"] == session;
        assert_eq!(is_same, way == Way::HttpModern, "{way:?}");
        assert_ne!(session, "forged", "{way:?}");
        assert_eq!(
            (
                first.get("mcp-servlet/x"),
                first.get("baggage"),
                &first["acme/y"]
            ),
            (None, None, &json!(2))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servlets_read_the_headers_that_the_endpoint_forwards() {
    let site = site().await;
    for (way, endpoint) in WAYS {
        let [meta, _] = meta(&site, way, endpoint).await;
        let headers = meta.get("mcp-servlet/headers");
        let expected = json!({ "x-request-id": "r-1" });
        let is_http = !matches!(way, Way::PipeLegacy | Way::PipeModern);
        assert_eq!(headers, is_http.then_some(&expected), "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_for_hyper_mcp_read_the_id_of_the_request() {
    let config = format!("{WEB}{OLD}{PIPE}[servlet.echo]\nsource = \"e.wasm\"\n");
    let site = Site::start(&config, &[("e.wasm", &echo_of_hyper_mcp(&["echo"]))]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let mut ids = Vec::new();
        for _ in 0..2 {
            let called = session.call("echo", json!({})).await.expect("a result");
            let context = json!(called.raw)["structuredContent"]["context"].clone();
            let id = &context["id"];
            assert!(id.is_string() || id.is_number(), "{way:?}: {context}");
            ids.push(id.clone());
            let is_empty = context["_meta"]["mcp-servlet/session"] == "";
            assert_eq!(is_empty, way == Way::HttpModern, "{way:?}: {context}");
        }
        assert_ne!(ids[0], ids[1], "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_and_prompts_read_the_same_attributes() {
    let forward = "forward_headers = [\"X-Request-Id\"]\n";
    let config = format!("{WEB}{forward}{OLD}{forward}{PIPE}[servlet.a]\nsource = \"a.wasm\"\n");
    let site = Site::start(&config, &[("a.wasm", &echo_features())]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let read = session.read_result("x:").await.expect("contents");
        let prompt = session.prompt("p", [("a", "b"); 0]).await;
        let results = [json!(read.raw), json!(prompt.expect("messages").raw)];
        let metas = results.map(|raw| raw["_meta"]["params"]["_meta"].clone());
        let id = metas[0]["mcp-servlet/session"].clone();
        assert_eq!(id == "", way == Way::HttpModern, "{way:?}: {metas:?}");
        let is_http = !matches!(way, Way::PipeLegacy | Way::PipeModern);
        let headers = json!({ "x-request-id": "r-1" });
        for meta in &metas {
            assert_eq!(meta["mcp-servlet/session"], id, "{way:?}: {meta}");
            let found = meta.get("mcp-servlet/headers");
            assert_eq!(found, is_http.then_some(&headers), "{way:?}: {meta}");
        }
    }
}
