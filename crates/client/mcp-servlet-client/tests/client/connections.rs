//! How sessions over HTTP use their connections.

use futures_util::future::join_all;
use mcp_servlet_client::{ErrorKind, Http, Options, Session, Tls};
use puppet::{PATIENCE, Proxy, Puppet, eventually};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::authority::Authority;
use crate::support::ERAS;

/// A server whose calls and lists get this reply.
fn server(reply: &Value) -> Puppet {
    let script = json!({
        "capabilities": { "tools": {} },
        "replies": {
            "tools/call": [reply],
            "tools/list": [{ "result": { "tools": [] } }],
            "resources/read": [{ "result": { "contents": [] } }],
        },
    });
    Puppet::with(serde_json::from_value(script).expect("a script"))
}

fn text(sse: bool) -> Value {
    json!({ "sse": sse, "result": { "content": [{ "type": "text", "text": "ran" }] } })
}

/// A session through a proxy.
async fn connect(puppet: &Puppet, options: &Options) -> (Session, Proxy) {
    let proxy = Proxy::start(puppet.http().await).await;
    let target = format!("http://{}/mcp", proxy.address()).parse();
    let session = Session::connect_with(&target.expect("a URL"), options).await;
    (session.expect("a session"), proxy)
}

#[tokio::test]
async fn calls_share_connections() {
    for era in ERAS {
        for sse in [false, true] {
            let (session, proxy) = connect(&server(&text(sse)), &Options::new().era(era)).await;
            let call = async || session.call("any", Value::Null).await.expect("a result");
            for _ in 0..100 {
                call().await;
            }
            assert!(proxy.connections() <= 4, "{era:?} {sse}: {proxy:?}");
            for _ in 0..25 {
                join_all((0..4).map(|_| call())).await;
            }
            assert!(proxy.connections() <= 16, "{era:?} {sse}: {proxy:?}");
        }
    }
}

#[tokio::test]
async fn an_idle_connection_that_the_server_has_closed_is_not_used() {
    let puppet = server(&text(false));
    let (session, proxy) = connect(&puppet, &Options::new()).await;
    for _ in 0..10 {
        session.call("any", Value::Null).await.expect("a result");
        proxy.close_all();
        eventually("the client learns it", async || proxy.open() == 0).await;
    }
    assert_eq!(puppet.received("tools/call"), 10);
}

#[tokio::test]
async fn requests_that_only_read_are_sent_again_once_if_their_connection_breaks() {
    let puppet = server(&text(false));
    let (session, proxy) = connect(&puppet, &Options::new()).await;
    proxy.drop_responses(1);
    session.lists().await.expect("lists");
    proxy.drop_responses(1);
    session.read("any:thing").await.expect("contents");
    proxy.drop_responses(1);
    session.ping().await.expect("an answer");
    assert_eq!(puppet.received("tools/list"), 2);
    assert_eq!(puppet.received("resources/read"), 2);

    proxy.drop_responses(2);
    let error = session.read("any:thing").await.expect_err("a connection");
    assert_eq!(error.kind(), ErrorKind::Connectivity, "{error}");
    assert_eq!(puppet.received("resources/read"), 4);
}

#[tokio::test]
async fn a_call_whose_connection_breaks_is_not_sent_again() {
    let puppet = server(&text(false));
    let (session, proxy) = connect(&puppet, &Options::new()).await;
    proxy.drop_responses(1);
    let error = session.call("any", Value::Null).await;
    let error = error.expect_err("a connection");
    assert_eq!(error.kind(), ErrorKind::Connectivity, "{error}");
    assert_eq!(puppet.received("tools/call"), 1);
    session.call("any", Value::Null).await.expect("a result");
}

/// A session over TLS through a proxy.
async fn connect_tls(puppet: &Puppet, protocols: &[&str]) -> (Session, Proxy) {
    let authority = Authority::new();
    let server = authority.serve_puppet(puppet, protocols, false).await;
    let proxy = Proxy::start(server).await;
    let tls = Tls::default().roots(authority.roots());
    let http = Http::new(&format!("https://{}", proxy.address())).expect("a URL");
    let http = http.tls(tls.expect("a certificate"));
    let session = Session::connect(&http.into()).await;
    (session.expect("a session"), proxy)
}

#[tokio::test]
async fn a_server_with_http_2_gets_all_requests_on_one_connection() {
    let (session, proxy) = connect_tls(&server(&text(false)), &["h2", "http/1.1"]).await;
    let before = proxy.connections();
    let calls = (0..100).map(|_| session.call("any", Value::Null));
    for result in join_all(calls).await {
        assert_eq!(result.expect("a result").text(), "ran");
    }
    assert_eq!(proxy.connections(), before);
}

#[tokio::test]
async fn a_call_after_the_first_takes_one_round_trip() {
    for protocols in [&["http/1.1"][..], &["h2"]] {
        let puppet = server(&text(false));
        let (session, proxy) = connect_tls(&puppet, protocols).await;
        session.call("any", Value::Null).await.expect("a result");
        // The client needs nothing from the server before the request,
        proxy.hold_responses(true);
        let mut call = std::pin::pin!(session.call("any", Value::Null));
        tokio::select! {
            ended = &mut call => panic!("{ended:?}"),
            () = eventually("a request", async || puppet.received("tools/call") == 2) => {}
        }
        // and the server nothing from the client before the end of the response.
        proxy.hold_requests(true);
        proxy.hold_responses(false);
        let ended = timeout(PATIENCE, call).await.expect("a response");
        ended.expect("a result");
    }
}
