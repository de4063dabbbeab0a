//! Sessions over HTTP+SSE.

use std::error::Error as _;

use mcp_servlet_client::{Era, ErrorKind, Http, HttpTransport, Options, Session};
use puppet::Puppet;
use serde_json::{Value, json};

use crate::support::{arrived, attach_with, ends_during_a_call, lists_json};

async fn sse(script: &str) -> (Http, Puppet) {
    let puppet = Puppet::new(script);
    let address = puppet.http().await;
    let http = Http::new(&format!("http://{address}")).expect("a URL");
    (http.transport(HttpTransport::Sse), puppet)
}

#[tokio::test]
async fn lists_over_sse_are_those_over_streams() {
    for script in ["plain", "exact", "five-pages", "odd-capabilities"] {
        let (http, _) = sse(script).await;
        let session = Session::connect(&http.into()).await.expect("a session");
        let (pipe, _) = attach_with(script, &Options::new().era(Era::Handshake)).await;
        assert_eq!(
            lists_json(&session).await,
            lists_json(&pipe).await,
            "{script}"
        );
        session.close().await;
    }
}

#[tokio::test]
async fn a_call_over_sse_has_a_result() {
    let (http, _) = sse("plain").await;
    let session = Session::connect(&http.into()).await.expect("a session");
    let result = session.call("weather", json!({ "city": "Oslo" })).await;
    assert_eq!(result.expect("a result").text(), "Oslo");
}

#[tokio::test]
async fn a_server_without_streamable_http_is_found_at_its_url() {
    let (http, puppet) = sse("plain").await;
    let address = http_address(&http);
    let url = format!("http://{address}/sse");
    let http = Http::new(&url).expect("a URL");
    let session = Session::connect(&http.clone().into())
        .await
        .expect("a session");
    assert_eq!(session.server().protocol, "2025-11-25");
    assert_eq!(puppet.received("initialize"), 1);
    let only = http.transport(HttpTransport::Streamable);
    let error = Session::connect(&only.into())
        .await
        .expect_err("no streamable HTTP");
    assert_eq!(error.http_status(), Some(405));
}

fn http_address(http: &Http) -> String {
    let target = mcp_servlet_client::Target::from(http.clone()).to_string();
    let rest = target.trim_start_matches("http://");
    rest.split('/').next().expect("an address").to_owned()
}

#[tokio::test]
async fn messages_never_go_to_another_origin() {
    let (http, puppet) = sse("sse-foreign-endpoint").await;
    let error = Session::connect(&http.into()).await.expect_err("an error");
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(
        error.message().contains("`http://127.0.0.2:9/messages`"),
        "{error}"
    );
    assert_eq!(puppet.received("initialize"), 0);
}

#[tokio::test]
async fn an_endpoint_may_be_a_whole_url() {
    let puppet = Puppet::new("plain");
    let address = puppet.http().await;
    let script = json!({ "endpoint": format!("http://{address}/messages/1") });
    let foreign = Puppet::with(serde_json::from_value(script).expect("a script"));
    let foreign_address = foreign.http().await;
    let http = Http::new(&format!("http://{foreign_address}")).expect("a URL");
    let error = Session::connect(&http.transport(HttpTransport::Sse).into()).await;
    assert_eq!(error.expect_err("another port").kind(), ErrorKind::Protocol);
}

#[tokio::test]
async fn a_stream_that_ends_is_a_broken_connection() {
    let (http, puppet) = sse("dies-in-call").await;
    let session = Session::connect(&http.into()).await.expect("a session");
    ends_during_a_call(&session, &puppet).await;
}

#[tokio::test]
async fn a_url_without_events_is_refused() {
    let puppet = Puppet::new("plain");
    let address = puppet.http().await;
    let http = Http::new(&format!("http://{address}/mcp")).expect("a URL");
    let error = Session::connect(&http.transport(HttpTransport::Sse).into()).await;
    let error = error.expect_err("no events");
    assert_eq!(error.http_status(), Some(405));
    assert!(
        error.help().is_some_and(|help| help.contains("`/sse`")),
        "{error}"
    );
}

#[tokio::test]
async fn a_post_without_a_response_blocks_no_other_message() {
    let (http, puppet) = sse("hangs-on-post").await;
    let session = Session::connect(&http.into()).await.expect("a session");
    tokio::select! {
        _ = session.call("any", Value::Null) => panic!("it never answers"),
        _ = arrived(&puppet, "tools/call") => {}
    }
    arrived(&puppet, "notifications/cancelled").await;
    session.ping().await.expect("an answer");
}

#[tokio::test]
async fn a_url_where_neither_transport_works_has_both_causes() {
    let puppet = Puppet::new("plain");
    let address = puppet.http().await;
    let http = Http::new(&format!("http://{address}/elsewhere")).expect("a URL");
    let error = Session::connect(&http.into()).await.expect_err("neither");
    assert_eq!(error.http_status(), Some(404));
    assert_eq!(
        error.message(),
        "the server answered with HTTP 404 Not Found, and over HTTP+SSE: the server answered with HTTP 404 Not Found"
    );
    assert!(error.source().is_some());
}
