//! Access to the host, as a test prepares it.

use std::time::{Duration, SystemTime};

use mcp_servlet::prelude::*;
use mcp_servlet::testing::Client;
use serde_json::json;

#[tool]
fn count(context: &Context, #[arg(default_str = "count")] key: String) -> String {
    let before = context.var(&key).map_or(0, |bytes| bytes[0]);
    context.set_var(&key, &[before + 1]);
    format!("{before}")
}

#[tool]
fn forget(context: &Context, key: String) {
    context.remove_var(&key);
}

#[tool]
fn configured(context: &Context, key: String) -> Option<String> {
    context.config_value(&key)
}

#[tool]
fn logged(context: &Context) -> Result<(), ToolError> {
    context.log(Level::Debug, "first");
    context.log(Level::Error, "second");
    Err(ToolError::new("after that"))
}

#[tool]
fn age(context: &Context) -> String {
    let age = context
        .now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    age.as_secs().to_string()
}

#[tool]
fn dice(context: &Context, many: usize) -> String {
    let mut bytes = vec![0; many];
    context.random(&mut bytes);
    format!("{bytes:?}")
}

mcp_servlet::export!(static SERVLET = { tools: [count, forget, configured, logged, age, dice] });

fn text(client: &Client, tool: &str, arguments: serde_json::Value) -> Option<String> {
    let result = client.call(tool, arguments).unwrap();
    result
        .content
        .into_iter()
        .next()
        .and_then(|block| block.text)
}

#[test]
fn a_variable_lives_as_long_as_its_client() {
    let client = SERVLET.client().with_var("other", [7]);
    let counts = || text(&client, "count", json!({}));
    assert_eq!(
        [counts(), counts(), counts()],
        ["0", "1", "2"].map(|count| Some(count.to_owned()))
    );
    assert_eq!(client.context().var("count"), Some(vec![3]));
    assert_eq!(
        text(&client, "count", json!({ "key": "other" })).as_deref(),
        Some("7")
    );
    text(&client, "forget", json!({ "key": "count" }));
    assert_eq!(client.context().var("count"), None);
    assert_eq!(
        text(&SERVLET.client(), "count", json!({})).as_deref(),
        Some("0")
    );
}

#[test]
fn configuration_is_what_the_test_set() {
    let client = SERVLET
        .client()
        .with_config("a", "1")
        .with_config("b", "")
        .with_config("a", "2");
    for (key, value) in [("a", Some("2")), ("b", None), ("c", None)] {
        assert_eq!(
            text(&client, "configured", json!({ "key": key })).as_deref(),
            value
        );
    }
}

#[test]
fn log_keeps_its_order_if_the_tool_fails() {
    let client = SERVLET.client();
    assert_eq!(
        text(&client, "logged", json!({})).as_deref(),
        Some("after that")
    );
    assert_eq!(
        client.logs(),
        [
            (Level::Debug, "first".to_owned()),
            (Level::Error, "second".to_owned())
        ]
    );
    assert!(Level::Trace < Level::Debug && Level::Warn < Level::Error);
}

#[test]
fn clock_can_be_fixed() {
    let client = SERVLET
        .client()
        .with_now(SystemTime::UNIX_EPOCH + Duration::from_secs(1000));
    assert_eq!(text(&client, "age", json!({})).as_deref(), Some("1000"));
    assert_eq!(client.context().now(), client.context().now());
    assert!(
        SERVLET.client().context().now()
            > SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    );
}

#[test]
fn random_numbers_repeat_only_with_a_seed() {
    let dice = |client: &Client| text(client, "dice", json!({ "many": 16 })).unwrap();
    let seeded = |seed| SERVLET.client().with_random_seed(seed);
    let (one, other) = (seeded(1), seeded(1));
    let (first, second) = (dice(&one), dice(&one));
    assert_eq!([&first, &second], [&dice(&other), &dice(&other)]);
    assert_ne!(first, second);
    assert_ne!(first, dice(&seeded(2)));
    assert_ne!(dice(&SERVLET.client()), dice(&SERVLET.client()));
}

#[cfg(feature = "http")]
mod http {
    use std::cell::RefCell;
    use std::rc::Rc;

    use mcp_servlet::prelude::*;
    use mcp_servlet::testing::Client;
    use mcp_servlet::{HttpError, HttpRequest, HttpResponse};
    use serde_json::json;

    #[tool]
    fn fetch(context: &Context, url: String, body: Option<String>) -> Result<String, ToolError> {
        let request = match body {
            Some(body) => HttpRequest::post(url, body).with_header("Content-Type", "text/plain"),
            None => HttpRequest::get(url),
        };
        let response = context.http(&request)?;
        Ok(format!("{}: {}", response.status, response.text()?))
    }

    mcp_servlet::export!(static SERVLET = { tools: [fetch] });

    fn fetched(client: &Client, arguments: serde_json::Value) -> (bool, String) {
        let result = client.call("fetch", arguments).unwrap();
        (result.is_error == Some(true), result.text())
    }

    #[test]
    fn a_test_answers_requests_and_sees_them() {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let requests = Rc::clone(&seen);
        let client = SERVLET.client().with_http(move |request| {
            requests.borrow_mut().push(request.clone());
            Ok(HttpResponse::new(404, format!("no {}", request.url)))
        });
        let get = fetched(&client, json!({ "url": "https://a/" }));
        let post = fetched(&client, json!({ "url": "https://b/", "body": "x" }));
        assert_eq!(get, (false, "404: no https://a/".to_owned()));
        assert_eq!(post, (false, "404: no https://b/".to_owned()));
        let seen = seen.borrow();
        assert_eq!(seen[0], HttpRequest::get("https://a/"));
        assert_eq!((&*seen[1].method, &*seen[1].body), ("POST", &b"x"[..]));
        assert_eq!(seen[1].headers["content-type"], "text/plain");
    }

    #[test]
    fn missing_response_is_an_error_for_the_model() {
        let failing = SERVLET
            .client()
            .with_http(|_| Err(HttpError::new("the line is dead")));
        let arguments = json!({ "url": "https://a/" });
        assert_eq!(
            fetched(&failing, arguments.clone()),
            (true, "the line is dead".to_owned())
        );
        let binary = SERVLET
            .client()
            .with_http(|_| Ok(HttpResponse::new(200, [0xff])));
        assert_eq!(
            fetched(&binary, arguments.clone()),
            (true, "the body is not UTF-8 text: status 200".to_owned())
        );
        let (is_error, text) = fetched(&SERVLET.client(), arguments);
        assert!(is_error && text.contains("Client::with_http"), "{text}");
    }
}
