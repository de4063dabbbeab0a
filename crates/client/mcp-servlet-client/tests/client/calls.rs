//! Calls, resources, prompts, completion and pings.

use mcp_servlet_client::{CallOptions, Content, Options, ResourceData, Session};
use serde_json::{Map, Value, json};

use crate::support::{ERAS, attach, attach_with};

async fn in_both_eras(script: &str) -> Vec<Session> {
    let mut sessions = Vec::new();
    for era in ERAS {
        sessions.push(attach_with(script, &Options::new().era(era)).await.0);
    }
    sessions
}

fn parsed(raw: &serde_json::value::RawValue) -> Value {
    serde_json::from_str(raw.get()).expect("JSON")
}

#[tokio::test]
async fn a_call_sends_arguments_and_metadata_apart() {
    for session in in_both_eras("plain").await {
        let meta = Map::from_iter([("k".to_owned(), json!(1))]);
        let options = CallOptions::new().meta(meta);
        let result = session
            .call_with("weather", json!({ "city": "Oslo" }), &options)
            .await;
        let result = result.expect("a result");
        assert_eq!(result.text(), "Oslo");
        let got = &parsed(&result.structured.expect("structured content"))["got"];
        assert_eq!(got["arguments"], json!({ "city": "Oslo" }));
        assert_eq!(got["_meta"]["k"], 1);
    }
}

#[tokio::test]
async fn a_call_without_arguments_sends_none() {
    let (session, _) = attach("echo-client").await;
    let result = session.call("any", Value::Null).await.expect("a result");
    let structured = parsed(&result.structured.expect("structured content"));
    assert_eq!(structured["params"].get("arguments"), None);
}

#[tokio::test]
async fn the_server_learns_name_and_version_of_the_client() {
    for era in ERAS {
        let options = Options::new().era(era).client("a", "9");
        let (session, _) = attach_with("echo-client", &options).await;
        let result = session.call("any", Value::Null).await.expect("a result");
        let structured = parsed(&result.structured.expect("structured content"));
        assert_eq!(
            structured["client"],
            json!({ "name": "a", "version": "9" }),
            "{era:?}"
        );
    }
}

#[tokio::test]
async fn every_kind_of_content_is_read_and_new_ones_are_kept() {
    let (session, _) = attach("contents").await;
    let result = session.call("any", Value::Null).await.expect("a result");
    assert!(result.is_error);
    assert_eq!(result.text(), "hi");
    assert_eq!(result.meta, Some(json!({ "k": 1 })));
    assert_eq!(
        result.structured.expect("structured content").get(),
        r#"{"b":1.1,"a":2}"#
    );
    assert_eq!(parsed(&result.raw)["vendor"], 1);
    let [text, image, audio, link, resource, hologram, broken] = &result.content[..] else {
        panic!("seven blocks, not {:?}", result.content);
    };
    let Content::Text { annotations, .. } = text else {
        panic!("{text:?}")
    };
    assert_eq!(
        annotations.audience.as_deref(),
        Some(&["user".to_owned()][..])
    );
    assert_eq!(annotations.priority, Some(0.5));
    let Content::Image {
        data, mime_type, ..
    } = image
    else {
        panic!("{image:?}")
    };
    assert_eq!(
        (data.as_slice(), mime_type.as_str()),
        (&[0, 1, 2][..], "image/png")
    );
    assert!(
        matches!(audio, Content::Audio { data, .. } if data == &[3, 4]),
        "{audio:?}"
    );
    assert!(
        matches!(link, Content::ResourceLink { uri, .. } if uri == "a:b"),
        "{link:?}"
    );
    let Content::Resource { resource, .. } = resource else {
        panic!("{resource:?}")
    };
    assert_eq!(resource.data, ResourceData::Text("inside".to_owned()));
    assert_eq!(
        hologram,
        &Content::Other(json!({ "type": "hologram", "depth": 3 }))
    );
    assert!(matches!(broken, Content::Other(_)), "{broken:?}");
}

#[tokio::test]
async fn a_resource_is_text_or_decoded_bytes() {
    for session in in_both_eras("plain").await {
        let contents = session.read("file:///readme").await.expect("contents");
        assert_eq!(contents[0].data, ResourceData::Text("hello".to_owned()));
        assert_eq!(contents[0].mime_type.as_deref(), Some("text/plain"));
        assert_eq!(contents[1].bytes(), [0, 1, 2, 255]);
    }
}

#[tokio::test]
async fn a_prompt_has_messages() {
    for session in in_both_eras("plain").await {
        let prompt = session.prompt("review", [("code", "fn main() {}")]).await;
        let prompt = prompt.expect("a prompt");
        assert_eq!(prompt.description.as_deref(), Some("A review."));
        assert_eq!(prompt.messages[0].role, "user");
        let content = &prompt.messages[0].content;
        assert!(matches!(content, Content::Text { text, .. } if text == "fn main() {}"));
    }
}

#[tokio::test]
async fn completion_suggests_values() {
    for session in in_both_eras("plain").await {
        let others = json!({ "lang": "en" });
        let prompt = session
            .complete_prompt("review", "code", "Os", others)
            .await;
        let prompt = prompt.expect("a completion");
        assert_eq!(prompt.values, ["Oslo", "Osaka"]);
        assert_eq!((prompt.total, prompt.has_more), (Some(2), false));
        let template = session
            .complete_template("city://{name}", "name", "Os", Value::Null)
            .await;
        assert_eq!(template.expect("a completion"), prompt);
    }
}

#[tokio::test]
async fn completion_sends_reference_argument_and_context() {
    let (session, puppet) = attach("plain").await;
    let others = json!({ "lang": "en" });
    session
        .complete_prompt("review", "code", "Os", others)
        .await
        .expect("a completion");
    let log = puppet.log();
    let request = log
        .iter()
        .find(|one| one["method"] == "completion/complete");
    let params = &request.expect("the request")["params"];
    assert_eq!(
        params["ref"],
        json!({ "type": "ref/prompt", "name": "review" })
    );
    assert_eq!(params["argument"], json!({ "name": "code", "value": "Os" }));
    assert_eq!(params["context"], json!({ "arguments": { "lang": "en" } }));
}

#[tokio::test]
async fn a_ping_is_a_request_of_the_protocol_generation() {
    for (era, method) in ERAS.into_iter().zip(["ping", "server/discover"]) {
        let (session, puppet) = attach_with("plain", &Options::new().era(era)).await;
        let before = puppet.received(method);
        session.ping().await.expect("an answer");
        assert_eq!(puppet.received(method), before + 1);
    }
}

#[tokio::test]
async fn requests_may_run_at_once() {
    let (session, _) = attach("plain").await;
    let calls = (0..50).map(|number| {
        let session = &session;
        async move {
            let city = number.to_string();
            let result = session.call("weather", json!({ "city": city })).await;
            assert_eq!(result.expect("a result").text(), city);
        }
    });
    futures_util::future::join_all(calls).await;
    assert_eq!(session.waiting(), 0);
}
