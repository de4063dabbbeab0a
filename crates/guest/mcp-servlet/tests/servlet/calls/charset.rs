//! Text of responses in any charset.

use mcp_servlet::HttpResponse;

fn decoded(content_type: &str, body: &[u8]) -> String {
    let response = HttpResponse::new(200, body).with_header("content-type", content_type);
    let text = response.decode();
    text.unwrap_or_else(|error| error.to_string())
}

#[test]
fn charset_is_read_from_the_header() {
    for (content_type, body, text) in [
        ("text/plain; charset=UTF-8", "é".as_bytes(), "é"),
        ("text/plain; charset=ISO-8859-1", b"\xe9", "é"),
        ("text/plain;Charset=\"windows-1252\"", b"\x80", "€"),
        ("text/plain; charset=gbk", b"\xc4\xe3", "你"),
        (
            "text/html; charset=latin1",
            b"<meta charset=utf-8>\xe9",
            "<meta charset=utf-8>é",
        ),
    ] {
        assert_eq!(decoded(content_type, body), text, "{content_type}");
    }
}

#[test]
fn byte_order_mark_has_priority() {
    assert_eq!(decoded("text/plain; charset=gbk", b"\xff\xfea\0"), "a");
    assert_eq!(decoded("application/json", b"\xef\xbb\xbf{}"), "{}");
}

#[test]
fn charset_is_read_from_html_and_xml() {
    for (content_type, beginning) in [
        ("text/html", "<meta charset='iso-8859-1'>"),
        (
            "text/html",
            "<title>charset</title><meta charset='iso-8859-1'>",
        ),
        (
            "text/html",
            "<META http-equiv=Content-Type content=\"text/html; charset=latin1\">",
        ),
        (
            "application/xml",
            "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>",
        ),
        (
            "application/rss+xml",
            "<?xml version='1.0' encoding = 'latin1'?>",
        ),
    ] {
        let body = [beginning.as_bytes(), b"caf\xe9"].concat();
        let text = decoded(content_type, &body);
        assert_eq!(text, format!("{beginning}café"), "{content_type}");
    }
}

#[test]
fn a_page_that_can_be_read_as_ascii_is_not_utf_16() {
    for (content_type, page) in [
        ("text/html", "<meta charset=utf-16>café"),
        (
            "text/xml",
            "<?xml version='1.0' encoding='UTF-16'?><a>é</a>",
        ),
    ] {
        assert_eq!(decoded(content_type, page.as_bytes()), page);
    }
}

#[test]
fn text_is_utf_8_if_nothing_says_otherwise() {
    let json = br#"{"charset=":"latin1"}"#;
    assert_eq!(
        decoded("application/json", json).as_bytes(),
        json,
        "JSON says nothing of itself"
    );
    assert_eq!(decoded("text/plain; charset=unheard-of", b"\xc3\xa9"), "é");
    assert_eq!(decoded("text/plain", b"\xe9"), "\u{fffd}");
    assert_eq!(HttpResponse::new(200, "é").decode().unwrap(), "é");
}

#[test]
fn error_for_binary_body_names_the_media_type() {
    let document = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    for media_type in ["image/png", "application/octet-stream", document] {
        let message = format!("the body is `{media_type}`, which is not text");
        assert_eq!(decoded(media_type, b"PK"), message);
    }
    for media_type in ["image/svg+xml", "application/x-yaml", "application/ld+json"] {
        assert_eq!(decoded(media_type, b"PK"), "PK");
    }
}
