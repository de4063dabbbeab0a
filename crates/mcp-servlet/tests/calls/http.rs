//! HTTP, as a test prepares it.

use mcp_servlet::prelude::*;
use mcp_servlet::testing::TestContext;
use mcp_servlet::{HttpRequest, HttpResponse};
use serde_json::json;

#[derive(Deserialize)]
struct Weather {
    degrees: i8,
}

#[tool]
fn weather(context: &Context, city: String) -> Result<i8, ToolError> {
    let request = HttpRequest::new("POST", "https://weather.example/").with_json(&[city])?;
    let answer = context.http(&request)?.success()?.within(100)?;
    Ok(answer.json::<Weather>()?.degrees)
}

mcp_servlet::export!(static SERVLET = { tools: [weather] });

fn say(status: u16, body: &str) -> String {
    let answer = HttpResponse::new(status, body).with_header("Content-Type", "application/json");
    assert_eq!(answer.header("CONTENT-type"), Some("application/json"));
    let context =
        TestContext::new().with_recorded_http([("POST https://weather.example/", answer)]);
    let result = SERVLET
        .call_with(&context, "weather", json!({ "city": "Rome" }))
        .unwrap();
    let sent = &context.requests()[0];
    assert_eq!(sent.body, br#"["Rome"]"#);
    assert_eq!(sent.headers["content-type"], "application/json");
    result.content[0].text.clone().unwrap()
}

#[test]
fn an_answer_is_read_by_the_type_that_is_asked_for() {
    assert_eq!(say(200, r#"{"degrees":21}"#), "21");
}

#[test]
fn what_is_wrong_with_an_answer_is_said() {
    for (status, body, says) in [
        (
            503,
            " try later\n",
            "the server answered with status 503: try later",
        ),
        (404, "", "the server answered with status 404"),
        (
            200,
            r#"{"degrees":"hot"}"#,
            "the body does not fit at byte 11, in `/degrees`",
        ),
        (200, "<html>", "the body does not fit at byte 0"),
    ] {
        assert_eq!(say(status, body), says);
    }
    assert_eq!(
        say(200, &"x".repeat(101)),
        "the body has 101 bytes, and 100 are the most"
    );
    let long = say(500, &"ä".repeat(1000));
    assert_eq!(long.chars().filter(|c| *c == 'ä').count(), 200);
}

#[test]
fn what_is_no_address_of_http_is_sent_nowhere() {
    let context = TestContext::new();
    for url in ["ftp://example.com/", "example.com", "file:///etc/hosts", ""] {
        let error = context.http(&HttpRequest::get(url)).unwrap_err();
        let message = format!("`{url}` does not begin with http:// or https://");
        assert_eq!(error.to_string(), message);
    }
    assert!(context.requests().is_empty());
    let error = context.http(&HttpRequest::get("HTTPS://example.com/"));
    assert!(error.unwrap_err().to_string().contains("with_http"));
}

#[test]
fn a_header_takes_the_place_of_one_with_the_same_name() {
    let request = HttpRequest::new("PATCH", "https://a.example")
        .with_header("Content-Type", "text/plain")
        .with_json(&[1])
        .unwrap();
    assert_eq!(request.headers.len(), 1);
    let request = request.with_header("CONTENT-TYPE", "application/merge-patch+json");
    let headers: Vec<_> = request.headers.into_iter().collect();
    let (name, value) = ("content-type", "application/merge-patch+json");
    assert_eq!(headers, [(name.to_owned(), value.to_owned())]);
}

#[test]
fn a_media_type_is_read_without_its_parameters() {
    let typed = |header: &str| HttpResponse::new(200, "").with_header("Content-Type", header);
    for (header, media_type) in [
        ("text/html", "text/html"),
        ("Text/HTML ;charset=utf-8", "text/html"),
        ("", ""),
    ] {
        assert_eq!(typed(header).media_type().as_deref(), Some(media_type));
    }
    assert_eq!(HttpResponse::new(200, "").media_type(), None);
}
