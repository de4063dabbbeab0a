//! What a tool reads about its client, and its notifications to it.

use mcp_servlet::prelude::*;
use mcp_servlet::testing::Client;
use serde_json::{Value, json};

#[tool]
fn who(context: &Context) -> String {
    let client = context.client();
    let name = client.map_or_else(
        || "nobody".to_owned(),
        |client| format!("{} {}", client.name, client.version),
    );
    let trace = context.meta_value("traceparent").map(RawJson::into_string);
    format!("{name}, {trace:?}")
}

#[tool]
fn able(context: &Context, name: String) -> Option<bool> {
    let capabilities = context.capabilities()?;
    Some(capabilities.has(&name) || capabilities.has_extension(&name))
}

#[tool]
fn work(context: &Context) -> Result<u32, ToolError> {
    context.progress(0, Some(100), "");
    context.progress(50, None, "half \"way\"");
    context.log_to_client(Level::Trace, "a");
    context.log_to_client(Level::Warn, "b");
    let calls = context.var_json("calls")?.unwrap_or(0) + 1;
    context.set_var_json("calls", &calls)?;
    Ok(calls)
}

mcp_servlet::export!(static SERVLET = { tools: [who, able, work] });

fn say(client: &Client, tool: &str, arguments: Value) -> Option<String> {
    let result = client.call(tool, arguments).unwrap();
    result.content.into_iter().next()?.text
}

#[test]
fn a_client_is_known_by_name() {
    let client = SERVLET
        .client()
        .with_client("ide", "1.2")
        .with_meta("traceparent", "00-1");
    assert_eq!(
        say(&client, "who", json!({})).unwrap(),
        r#"ide 1.2, Some("\"00-1\"")"#
    );
    assert_eq!(who(client.context()), r#"ide 1.2, Some("\"00-1\"")"#);
    assert_eq!(
        say(&SERVLET.client(), "who", json!({})).unwrap(),
        "nobody, None"
    );
    let meta: Value = serde_json::from_str(client.context().meta().unwrap().get()).unwrap();
    assert_eq!(meta["traceparent"], "00-1");
}

#[test]
fn client_capabilities_are_those_it_declares() {
    let client = SERVLET.client().with_capabilities(&["sampling"]);
    let able = |client: &Client, name: &str| say(client, "able", json!({ "name": name }));
    assert_eq!(able(&client, "sampling").as_deref(), Some("true"));
    assert_eq!(able(&client, "roots").as_deref(), Some("false"));
    let without = SERVLET.client().without_capabilities();
    assert_eq!(able(&without, "roots").as_deref(), Some("null"));
}

#[test]
fn progress_is_sent_only_on_request() {
    let client = SERVLET.client();
    say(&client, "work", json!({}));
    assert!(client.progress().is_empty());
    let client = client.with_meta("progressToken", 7);
    say(&client, "work", json!({}));
    let progress: Vec<_> = client
        .progress()
        .into_iter()
        .map(RawJson::into_string)
        .collect();
    assert_eq!(
        progress,
        [
            r#"{"progressToken":7,"progress":0,"total":100}"#,
            r#"{"progressToken":7,"progress":50,"message":"half \"way\""}"#,
        ]
    );
    let logs: Vec<_> = client
        .client_logs()
        .into_iter()
        .map(RawJson::into_string)
        .collect();
    assert_eq!(
        logs,
        [
            r#"{"level":"debug","data":"a"}"#,
            r#"{"level":"warning","data":"b"}"#
        ]
    );
}

#[test]
fn variables_hold_any_json() {
    let client = SERVLET.client();
    assert_eq!(say(&client, "work", json!({})).as_deref(), Some("1"));
    assert_eq!(say(&client, "work", json!({})).as_deref(), Some("2"));
    let client = SERVLET.client().with_var("calls", "\"many\"");
    assert_eq!(
        say(&client, "work", json!({})).as_deref(),
        Some("the variable `calls` holds something else than what is read from it")
    );
}
