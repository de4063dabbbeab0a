//! Every kind of error, and what its text says.

use std::error::Error as _;
use std::time::Duration;

use mcp_servlet_client::{Command, ErrorKind, Options, Retry, Session, Target};
use serde_json::{Value, json};

use crate::support::{ERAS, attach, attach_with, command};

#[tokio::test]
async fn each_json_rpc_code_has_its_kind() {
    let (session, _) = attach("errors").await;
    for (code, kind, exit) in [
        (-32700, ErrorKind::ParseError, 18),
        (-32600, ErrorKind::InvalidRequest, 15),
        (-32601, ErrorKind::MethodNotFound, 14),
        (-32602, ErrorKind::InvalidParams, 16),
        (-32603, ErrorKind::InternalError, 19),
        (-32001, ErrorKind::ServerError, 20),
        (-32021, ErrorKind::Protocol, 23),
        (7, ErrorKind::JsonRpcError, 21),
    ] {
        let error = session.call("any", json!({ "code": code })).await;
        let error = error.expect_err("an error");
        assert_eq!((error.kind(), error.kind().exit_code()), (kind, exit));
        assert_eq!(error.code(), Some(code));
        assert_eq!(error.data(), Some(&json!({ "b": 1, "a": 2 })));
        assert_eq!(error.message(), "as you wish");
        assert_eq!(
            error.to_string(),
            "as you wish: tools/call of `attached streams`"
        );
    }
}

#[tokio::test]
async fn an_error_with_a_code_that_is_no_number_is_a_protocol_error() {
    let (session, _) = attach("errors").await;
    let error = session.call("any", json!({ "code": "x" })).await;
    assert_eq!(error.expect_err("an error").kind(), ErrorKind::Protocol);
}

#[tokio::test]
async fn odd_responses_end_their_requests() {
    let (session, _) = attach("odd-responses").await;
    for text in ["id as text", "no version"] {
        let result = session.call("any", Value::Null).await;
        assert_eq!(result.expect("a result").text(), text);
    }
    for _ in 0..3 {
        let error = session.call("any", Value::Null).await;
        assert_eq!(
            error.expect_err("a wrong response").kind(),
            ErrorKind::Protocol
        );
    }
}

/// A session with a server that writes these lines before the answer to a call.
async fn answering(lines: impl IntoIterator<Item = String>) -> Session {
    let lines: Value = lines.into_iter().map(Value::from).collect();
    let replies = json!({ "tools/call": [{ "before": lines, "line": "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[]}}" }] });
    let script = json!({ "versions": ["2025-11-25"], "replies": replies });
    let puppet = puppet::Puppet::with(serde_json::from_value(script).expect("a script"));
    let (reader, writer) = puppet.pipe();
    let session = Session::attach(reader, writer, &Options::new()).await;
    session.expect("a session")
}

#[tokio::test]
async fn lines_of_a_log_do_not_answer_a_call() {
    let lines = (0..10).map(|id| format!(r#"{{"level":"error","error":"no","id":{id}}}"#));
    let session = answering(lines).await;
    let called = session.call("any", Value::Null).await;
    assert!(called.is_ok(), "{called:?}");
}

#[tokio::test]
async fn an_answer_that_is_no_json_is_an_error_at_once() {
    let lines = (0..10).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":NaN}}"#));
    let session = answering(lines).await;
    let error = session.call("any", Value::Null).await;
    let error = error.expect_err("a number that JSON does not have");
    assert_eq!(error.kind(), ErrorKind::ParseError, "{error}");
}

#[tokio::test]
async fn a_line_may_be_a_batch() {
    let ids = 0..10;
    let batch = ids.map(|id| json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": "batch" }] } }));
    let batch: Value = batch.collect();
    let session = answering([batch.to_string()]).await;
    let called = session.call("any", Value::Null).await;
    assert_eq!(called.expect("a result").text(), "batch");
}

#[tokio::test]
async fn a_resource_that_does_not_exist_has_an_invalid_uri() {
    let (session, _) = attach("errors").await;
    let error = session.read("file:///nowhere").await.expect_err("an error");
    assert_eq!(error.kind(), ErrorKind::InvalidUri);
    assert_eq!(error.kind().exit_code(), 17);
}

#[tokio::test]
async fn a_message_above_the_limit_fails_its_request_and_keeps_the_connection() {
    let (session, _) = attach("long-message").await;
    let error = session.call("any", Value::Null).await.expect_err("a limit");
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(
        error.message().contains("more than 16777216 bytes"),
        "{error}"
    );
    assert_eq!(error.limit(), Some("message"));
    session.ping().await.expect("the same connection");
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_named() {
    let target = Target::from(Command::new("no-such-program"));
    let error = Session::connect(&target).await.expect_err("no program");
    assert_eq!(error.kind(), ErrorKind::Connectivity);
    assert!(
        error
            .to_string()
            .starts_with("cannot start `no-such-program`: "),
        "{error}"
    );
    assert!(error.help().is_some_and(|help| help.contains("PATH")));
    assert!(error.source().is_some());
}

#[tokio::test]
async fn a_process_that_ends_is_quoted() {
    let target = Target::from(command("dies-at-start"));
    let error = Session::connect(&target).await.expect_err("it ended");
    assert_eq!(error.kind(), ErrorKind::Connectivity);
    assert!(
        error.message().contains("ended with exit status: 7"),
        "{error}"
    );
    assert!(
        error.to_string().ends_with("\n    a setting is missing"),
        "{error}"
    );
}

#[tokio::test]
async fn output_that_is_no_mcp_is_quoted() {
    let target = Target::from(command("only-noise"));
    let error = Session::connect(&target).await.expect_err("no server");
    let text = error.to_string();
    assert!(
        text.contains(
            "its output begins with `Usage: demo FILE`, `one`, `two`, and ends with `three`, instead"
        ),
        "{text}"
    );
}

#[tokio::test]
async fn lines_between_messages_are_ignored() {
    for era in ERAS {
        let (session, _) = attach_with("noise", &Options::new().era(era)).await;
        let lists = session.lists().await.expect("lists");
        assert_eq!(lists.tools.map(|tools| tools.len()), Some(1));
    }
}

#[tokio::test]
async fn a_server_that_answers_nothing_is_a_timeout() {
    let puppet = puppet::Puppet::new("slow-handshake");
    let (reader, writer) = puppet.pipe();
    let options = Options::new().connect_timeout(Duration::from_millis(50));
    let error = Session::attach(reader, writer, &options).await;
    let error = error.expect_err("a timeout");
    assert_eq!(error.kind(), ErrorKind::RequestTimeout);
    assert!(error.message().contains("within 50ms"), "{error}");
}

#[tokio::test]
async fn attempts_to_connect_are_counted() {
    let target: Target = "http://127.0.0.1:1".parse().expect("a URL");
    let start = std::time::Instant::now();
    let options = Options::new().retry(Retry::times(3, Duration::from_millis(100)));
    let error = Session::connect_with(&target, &options).await;
    let error = error.expect_err("a refused connection");
    assert_eq!(error.kind(), ErrorKind::RetryExhausted);
    assert_eq!(error.attempts(), Some(4));
    assert!(
        error.to_string().starts_with("4 attempts failed"),
        "{error}"
    );
    let source = error.source().expect("the last error").to_string();
    assert!(source.contains("cannot connect"), "{source}");
    let passed = start.elapsed();
    assert!(passed >= Duration::from_millis(300), "{passed:?}");
}

#[tokio::test]
async fn a_single_attempt_is_no_retry_whatever_its_pause() {
    let target: Target = "http://127.0.0.1:1".parse().expect("a URL");
    let options = Options::new().retry(Retry::times(0, Duration::from_secs(1)));
    let error = Session::connect_with(&target, &options).await;
    let error = error.expect_err("a refused connection");
    assert_eq!(error.kind(), ErrorKind::Connectivity);
    assert_eq!(error.attempts(), None);
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_not_tried_again() {
    let target = Target::from(Command::new("no-such-program"));
    let options = Options::new().retry(Retry::forever(Duration::from_mins(1)));
    let connecting = Session::connect_with(&target, &options);
    let error = tokio::time::timeout(Duration::from_secs(10), connecting).await;
    let error = error.expect("an end").expect_err("no program");
    assert_eq!(error.kind(), ErrorKind::Connectivity);
    assert_eq!(error.attempts(), None);
}

#[tokio::test]
async fn an_error_that_stays_is_not_tried_again() {
    let target = Target::from(command("two-versions-too-new"));
    let options = Options::new().retry(Retry::times(3, Duration::from_mins(1)));
    let error = Session::connect_with(&target, &options).await;
    let error = error.expect_err("no common version");
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(error.message().contains("2099-01-01"), "{error}");
}
