//! HTTP requests with prepared responses.

use mcp_servlet::prelude::*;
use mcp_servlet::{HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use serde_json::json;

#[derive(Debug, Deserialize)]
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
    let client = SERVLET
        .client()
        .with_recorded_http([("POST https://weather.example/", answer)]);
    let result = client.call("weather", json!({ "city": "Rome" })).unwrap();
    let sent = &client.requests()[0];
    assert_eq!(sent.body, br#"["Rome"]"#);
    assert_eq!(sent.headers["content-type"], "application/json");
    result.text()
}

#[test]
fn response_is_decoded_as_the_requested_type() {
    assert_eq!(say(200, r#"{"degrees":21}"#), "21");
}

#[test]
fn explains_invalid_responses() {
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
            "the body is not the expected JSON: wrong type, expected a number at offset 11 in `/degrees`; \
            status 200, media type application/json, body: {\"degrees\":\"hot\"}",
        ),
        (
            200,
            "<html>\n",
            "the body is not the expected JSON: expected a value at offset 0; \
            status 200, media type application/json, body: <html>",
        ),
        (
            200,
            "{}",
            "the body is not the expected JSON: missing field `degrees` at offset 0; \
            status 200, media type application/json, body: {}",
        ),
    ] {
        assert_eq!(say(status, body), says);
    }
    assert_eq!(
        say(200, &"x".repeat(101)),
        "the body has 101 bytes, the limit is 100"
    );
    for (status, length) in [(500, 200), (200, 80)] {
        let long = HttpResponse::new(status, "ä".repeat(1000)).success();
        let error = long.and_then(|long| long.json::<Weather>()).unwrap_err();
        let shown = error.to_string();
        assert_eq!(shown.chars().filter(|c| *c == 'ä').count(), length);
    }
    let picture = HttpResponse::new(200, b"\x89PNG").with_header("Content-Type", "image/png");
    assert_eq!(
        picture.json::<Weather>().unwrap_err().to_string(),
        "the body is not UTF-8 text: status 200, media type image/png"
    );
}

#[test]
fn each_error_has_a_kind() {
    let body = |status, body: &str| HttpResponse::new(status, body);
    let not_utf8 = HttpResponse::new(200, b"\xff");
    for (error, kind) in [
        (body(404, "").success().unwrap_err(), HttpErrorKind::Status),
        (
            body(200, "ab").within(1).unwrap_err(),
            HttpErrorKind::TooLarge,
        ),
        (
            body(200, "").json::<Weather>().err().unwrap(),
            HttpErrorKind::Body,
        ),
        (not_utf8.text().unwrap_err(), HttpErrorKind::Body),
        (HttpError::new("it broke"), HttpErrorKind::Other),
    ] {
        assert_eq!(error.kind(), kind, "{error}");
    }
}

#[test]
fn a_recorded_failure_of_any_kind_reaches_the_tool() {
    for kind in HttpErrorKind::ALL {
        let client = SERVLET
            .client()
            .with_recorded_http([("POST https://weather.example/", kind)]);
        let error = client
            .context()
            .http(&HttpRequest::post("https://weather.example/", ""));
        assert_eq!(error.unwrap_err().kind(), kind);
        let result = client.call("weather", json!({ "city": "Rome" }));
        assert_eq!(result.unwrap().is_error, Some(true), "{kind:?}");
    }
}

#[test]
#[should_panic(
    expected = "the test has no response to `GET https://example.com/`; the recorded ones are at crates/guest/mcp-servlet/tests/servlet/calls/http.rs:"
)]
fn a_request_without_a_recording_names_the_test() {
    let answer = HttpResponse::new(200, "{}");
    let client = SERVLET
        .client()
        .with_recorded_http([("POST https://weather.example/", answer)]);
    let _ = client
        .context()
        .http(&HttpRequest::get("https://example.com/"));
}

#[test]
fn a_test_reads_the_headers_of_a_request() {
    let request = HttpRequest::get("https://example.com/").with_header("Accept", "text/html");
    assert_eq!(request.header("accept"), Some("text/html"));
    assert_eq!(request.header("accept-language"), None);
}

#[test]
fn native_tests_refuse_what_the_host_refuses() {
    let client = SERVLET.client();
    let get = || HttpRequest::get("https://example.com/");
    for (request, says) in [
        (
            get().with_header("Host", "a"),
            "invalid HTTP request: the header `host` is set by the host",
        ),
        (
            HttpRequest::new("TRACE", "https://example.com/"),
            "invalid HTTP request: the method `TRACE` cannot be sent",
        ),
    ] {
        let error = client.context().http(&request).unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::Request);
        assert_eq!(error.to_string(), says);
    }
}

#[test]
fn urls_are_built_from_any_text() {
    let at = |url: &str| HttpRequest::get(url);
    for (request, url) in [
        (
            at("https://a/").with_query("q", "a b&c=d"),
            "https://a/?q=a%20b%26c%3Dd",
        ),
        (at("https://a?").with_query("ä", ""), "https://a?%C3%A4="),
        (
            at("https://a?b=1#end").with_query("c", 2.5),
            "https://a?b=1&c=2.5#end",
        ),
        (
            at("https://a").with_segment("b c/d?e#f").unwrap(),
            "https://a/b%20c%2Fd%3Fe%23f",
        ),
        (
            at("https://a/b?c#d").with_segment("e").unwrap(),
            "https://a/b/e?c#d",
        ),
        (
            at("https://a/b/").with_segment("...%2e").unwrap(),
            "https://a/b/...%252e",
        ),
    ] {
        assert_eq!(request.url, url);
    }
    for segment in ["", ".", ".."] {
        let error = at("https://a/b").with_segment(segment).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{segment}` is not a segment of a path")
        );
        assert_eq!(error.kind(), HttpErrorKind::Request);
    }
}

#[test]
fn requests_to_other_urls_than_http_are_not_sent() {
    let client = SERVLET.client();
    for url in ["ftp://example.com/", "example.com", "file:///etc/hosts", ""] {
        let error = client.context().http(&HttpRequest::get(url)).unwrap_err();
        let message = format!("`{url}` does not begin with http:// or https://");
        assert_eq!(error.to_string(), message);
    }
    assert!(client.requests().is_empty());
    let error = client
        .context()
        .http(&HttpRequest::get("HTTPS://example.com/"));
    assert!(error.unwrap_err().to_string().contains("with_http"));
}

#[test]
fn header_replaces_one_with_the_same_name() {
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
