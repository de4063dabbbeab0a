//! Calls with Rust types.

use mcp_servlet_client::{CallOptions, ErrorKind, Options, Session, TypedCallError};
use puppet::Puppet;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize)]
struct Arguments {
    city: &'static str,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Weather {
    days: Vec<Day>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Day {
    rain: u64,
}

/// The result of a typed call that the server answers like this.
async fn call<R: DeserializeOwned>(result: Value) -> Result<R, TypedCallError> {
    let script = json!({ "replies": { "tools/call": [{ "result": result }] } });
    let puppet = Puppet::with(serde_json::from_value(script).expect("a script"));
    let (reader, writer) = puppet.pipe();
    let session = Session::attach(reader, writer, &Options::new()).await;
    let session = session.expect("a session");
    let arguments = Arguments { city: "Oslo" };
    let options = CallOptions::new();
    let result = session.call_as("weather", &arguments, &options);
    let result = result.await;
    let log = puppet.log();
    let call = log.iter().find(|one| one["method"] == "tools/call");
    let params = &call.expect("the call")["params"];
    assert_eq!(params["arguments"], json!({ "city": "Oslo" }));
    result
}

/// The error of a result that does not match.
async fn mismatch(result: Value) -> mcp_servlet_client::Error {
    match call::<Weather>(result).await {
        Err(TypedCallError::Client(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn structured_content_is_read_into_the_type() {
    let structured = json!({ "days": [{ "rain": u64::MAX }], "more": 1 });
    let weather: Weather = call(json!({ "content": [], "structuredContent": structured }))
        .await
        .expect("a value");
    let days = vec![Day { rain: u64::MAX }];
    assert_eq!(weather, Weather { days });
}

#[tokio::test]
async fn a_single_text_that_is_json_is_read_into_the_type() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let json = text(r#"{ "days": [] }"#);
    let weather: Weather = call(json!({ "content": [json] })).await.expect("a value");
    assert_eq!(weather, Weather { days: Vec::new() });
    let trailing = text(r#"{ "days": [] } and more"#);
    for content in [json!([json, json]), json!([]), json!([trailing])] {
        let error = mismatch(json!({ "content": content })).await;
        assert_eq!(error.kind(), ErrorKind::Schema, "{error}");
    }
}

#[tokio::test]
async fn a_wrapped_value_is_unwrapped() {
    let result = |meta: Value| json!({ "content": [], "structuredContent": { "result": [1, 2] }, "_meta": meta });
    let wrapped = json!({ "fastmcp": { "wrap_result": true } });
    let list: Vec<u8> = call(result(wrapped)).await.expect("a value");
    assert_eq!(list, [1, 2]);
    assert!(call::<Vec<u8>>(result(json!({}))).await.is_err());
}

#[tokio::test]
async fn a_value_that_does_not_match_is_named_with_its_place() {
    let structured = json!({ "days": [{ "rain": 1 }, { "rain": "much" }] });
    let error = mismatch(json!({ "content": [], "structuredContent": structured })).await;
    assert_eq!(
        (error.kind(), error.kind().exit_code()),
        (ErrorKind::Schema, 25)
    );
    assert_eq!(
        error.to_string(),
        "the result does not match at `/days/1/rain`: invalid type: string \"much\", expected u64: \
         tools/call of `attached streams`; compare the type with the output schema of the tool"
    );
    assert_eq!(error.data(), Some(&structured));
}

#[tokio::test]
async fn a_failure_of_the_tool_is_its_own_error() {
    let content = json!([{ "type": "text", "text": "no such city" }]);
    let failed = call::<Weather>(json!({ "content": content, "isError": true })).await;
    let error = failed.expect_err("a failure");
    assert_eq!(error.to_string(), "no such city");
    assert!(matches!(error, TypedCallError::Tool(result) if result.is_error));
}
