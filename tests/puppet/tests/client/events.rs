//! What servers report without being asked.

use mcp_servlet_client::{Event, Options};
use serde_json::Value;

use crate::support::{ERAS, attach, attach_with};

#[tokio::test]
async fn a_resource_is_watched_in_both_protocol_generations() {
    for era in ERAS {
        let (session, puppet) = attach_with("watch", &Options::new().era(era)).await;
        let mut events = session.watch(["file:///log"]).await.expect("events");
        session.call("change", Value::Null).await.expect("a result");
        let event = events.next().await.expect("an event").expect("an update");
        let uri = "file:///log".to_owned();
        assert_eq!(event, Event::ResourceUpdated { uri }, "{era:?}");
        let method = if session.server().is_stateless() {
            "subscriptions/listen"
        } else {
            "resources/subscribe"
        };
        assert_eq!(puppet.received(method), 1);
        session
            .unwatch("file:///log")
            .await
            .expect("the end of updates");
    }
}

#[tokio::test]
async fn events_end_with_the_session() {
    let (session, _) = attach("plain").await;
    let mut events = session.events();
    session.close().await;
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn the_level_of_the_log_is_sent() {
    let (session, puppet) = attach("plain").await;
    session.set_log_level("debug").await.expect("a level");
    let log = puppet.log();
    let request = log.iter().find(|one| one["method"] == "logging/setLevel");
    assert_eq!(request.expect("the request")["params"]["level"], "debug");
}
