//! Tests with recorded responses: `cargo test` runs them natively, `servlet test` against the wasm module.

use mcp_servlet::HttpResponse;
use mcp_servlet::testing::Client;
use serde_json::{Value, json};

const URL: &str = "https://example.com/page";

fn page(content_type: &str, body: impl Into<Vec<u8>>) -> HttpResponse {
    HttpResponse::new(200, body).with_header("content-type", content_type)
}

/// What is fetched from a server with this page, and whether it is an error.
fn fetch(client: &Client, page: HttpResponse, mut arguments: Value) -> (String, bool) {
    let client = client.with_recorded_http([("GET https://example.com/page", page)]);
    arguments["url"] = URL.into();
    let result = client.call("fetch", arguments).unwrap();
    let text = result.text();
    (text, result.is_error == Some(true))
}

fn text(client: &Client, page: HttpResponse, arguments: Value) -> String {
    let (text, is_error) = fetch(client, page, arguments);
    assert!(!is_error, "{text}");
    text
}

fn error(client: &Client, page: HttpResponse, arguments: Value) -> String {
    let (text, is_error) = fetch(client, page, arguments);
    assert!(is_error, "{text}");
    text
}

const HTML: &str = "<html><head><title>T</title><style>p {}</style></head><body><h1>Bread</h1>\
    <p>Flour, <a href=\"/water\">water</a> &amp; <b>salt</b>.</p><script>track()</script>\
    <ul><li>knead</li><li>bake</li></ul></body></html>";

#[mcp_servlet::test]
fn converts_html_to_markdown_without_invisible_parts(client: &Client) {
    let markdown = text(client, page("text/html; charset=utf-8", HTML), json!({}));
    assert_eq!(
        markdown,
        "# Bread\n\nFlour, [water](/water) & **salt**.\n\n*   knead\n*   bake"
    );
}

#[mcp_servlet::test]
fn html_comes_as_it_is_if_asked(client: &Client) {
    assert_eq!(
        text(client, page("text/html", HTML), json!({ "raw": true })),
        HTML
    );
}

#[mcp_servlet::test]
fn other_text_comes_as_it_is(client: &Client) {
    for (media_type, body) in [
        ("application/json", r#"{"a": "<b>"}"#),
        ("application/problem+json", "{}"),
        ("text/plain", "# no *Markdown*"),
        ("image/svg+xml", "<svg/>"),
        ("application/rss+xml", "<rss/>"),
    ] {
        assert_eq!(text(client, page(media_type, body), json!({})), body);
    }
    let unnamed = HttpResponse::new(200, "words");
    assert_eq!(text(client, unnamed, json!({})), "words");
}

#[mcp_servlet::test]
fn a_long_text_comes_in_parts(client: &Client) {
    let parts = |start, length| {
        let arguments = json!({ "start_index": start, "max_length": length });
        text(client, page("text/plain", "grüße 🦀!"), arguments)
    };
    assert_eq!(parts(0, 8), "grüße 🦀!");
    assert_eq!(
        parts(6, 1),
        "🦀\n\n[7 of 8 characters: go on with `start_index` 7]"
    );
    assert_eq!(parts(7, 5), "!");
    let beyond = error(
        client,
        page("text/plain", "abc"),
        json!({ "start_index": 3 }),
    );
    assert_eq!(
        beyond,
        "there are only 3 characters, so nothing begins at 3"
    );
    assert_eq!(text(client, page("text/plain", ""), json!({})), "");
}

#[mcp_servlet::test]
fn texts_of_any_charset_are_read(client: &Client) {
    let meta = b"<meta charset='iso-8859-1'><p>caf\xe9</p>";
    let http_equiv =
        b"<meta http-equiv=Content-Type content=\"text/html; charset=shift_jis\">\x93\xfa";
    for (content_type, body, expected) in [
        ("text/plain; charset=UTF-8", "é".as_bytes(), "é"),
        ("text/plain; charset=ISO-8859-1", b"\xe9", "é"),
        ("text/plain; charset=\"windows-1252\"", b"\x80", "€"),
        ("text/plain; charset=gbk", b"\xc4\xe3", "你"),
        ("text/plain; charset=unheard-of", b"\xc3\xa9", "é"),
        ("text/plain", b"\xff\xfea\0", "a"),
        ("text/plain", b"\xe9", "\u{fffd}"),
        ("text/html", meta, "café"),
        ("text/html", http_equiv, "日"),
    ] {
        assert_eq!(
            text(client, page(content_type, body), json!({})),
            expected,
            "{content_type}"
        );
    }
}

#[mcp_servlet::test]
fn refuses_a_body_that_is_not_text(client: &Client) {
    let message = error(client, page("image/png", [0x89]), json!({}));
    assert!(message.contains("`image/png`"), "{message}");
}

#[mcp_servlet::test]
fn reports_an_error_status_with_the_body(client: &Client) {
    let gone =
        HttpResponse::new(410, "moved to the attic").with_header("content-type", "text/html");
    let message = error(client, gone, json!({}));
    assert_eq!(
        message,
        "the server answered with status 410: moved to the attic"
    );
}

#[mcp_servlet::test]
fn what_cannot_be_fetched_is_refused_before_anyone_is_asked(client: &Client) {
    for (arguments, expected) in [
        (
            json!({ "url": "example.com" }),
            "`example.com` does not begin with",
        ),
        (
            json!({ "url": "file:///etc/passwd" }),
            "does not begin with http",
        ),
        (
            json!({ "url": URL, "max_length": 0 }),
            "`/max_length` must match",
        ),
        (
            json!({ "url": URL, "start_index": -1 }),
            "`/start_index` must match",
        ),
        (json!({}), "`/url` is missing"),
    ] {
        let result = client.call("fetch", &arguments).unwrap();
        assert_eq!(result.is_error, Some(true), "{arguments}");
        let text = result.text();
        assert!(text.contains(expected), "{arguments}: {text}");
    }
}
