//! Tests of targets.

use super::*;

#[test]
fn a_url_without_a_path_means_mcp() {
    for (text, streamable, sse) in [
        (
            "http://127.0.0.1:1",
            "http://127.0.0.1:1/mcp",
            "http://127.0.0.1:1/sse",
        ),
        (
            "http://localhost/",
            "http://localhost/mcp",
            "http://localhost/sse",
        ),
        (
            "https://example.com/x",
            "https://example.com/x",
            "https://example.com/x",
        ),
    ] {
        let http = Http::new(text).expect("a server");
        assert_eq!(http.url().as_str(), streamable);
        assert_eq!(http.sse_url().as_str(), sse);
    }
}

#[test]
fn a_url_without_a_scheme_is_refused_with_the_probable_one() {
    for (text, suggestion) in [
        ("localhost:8080", "http://localhost:8080/mcp"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/mcp"),
        ("mcp.example.com", "https://mcp.example.com/mcp"),
        ("mcp.example.com/x?token=1", "https://mcp.example.com/x"),
        ("me:token@localhost:1", "http://…@localhost:1/mcp"),
    ] {
        let error = text.parse::<Target>().expect_err("no scheme").to_string();
        assert!(error.ends_with(&format!("write `{suggestion}`")), "{error}");
        assert!(!error.contains("token"));
    }
}

#[test]
fn http_to_another_machine_has_to_be_allowed() {
    let error = Http::new("http://example.com").expect_err("another machine");
    assert!(matches!(error, TargetError::PlainHttp { .. }));
    assert!(Http::without_encryption("http://example.com").is_ok());
    for local in [
        "http://localhost",
        "http://127.0.0.2",
        "http://[::1]:1",
        "http://a.localhost",
    ] {
        assert!(Http::new(local).is_ok(), "{local}");
    }
}

#[test]
fn other_schemes_are_refused() {
    let error = Http::new("ftp://example.com").expect_err("no HTTP");
    assert_eq!(
        error.to_string(),
        "expected a URL with `http` or `https`, found `ftp`"
    );
    assert!(matches!(
        Http::new("http://"),
        Err(TargetError::InvalidUrl { .. })
    ));
}

#[test]
fn headers_of_the_protocol_are_refused() {
    let http = || Http::new("http://localhost").expect("a server");
    for name in [
        "Accept",
        "mcp-session-id",
        "Content-Type",
        "Mcp-Param-Region",
    ] {
        let error = http().header(name, "x").expect_err("reserved");
        assert!(
            matches!(error, TargetError::ReservedHeader { .. }),
            "{name}"
        );
    }
    for (name, value) in [("a b", "x"), ("x-a", "two\nlines")] {
        let error = http().header(name, value).expect_err("invalid");
        assert!(matches!(error, TargetError::InvalidHeader { .. }), "{name}");
    }
}

#[test]
fn variables_in_headers_are_replaced() {
    let path = std::env::var("PATH").expect("a path");
    let http = Http::new("http://localhost").expect("a server");
    let http = http.header("x-a", "<${PATH}>${PATH}").expect("a header");
    assert_eq!(http.headers()["x-a"], format!("<{path}>{path}"));
    let missing = http.clone().header("x-b", "${NO_SUCH_VARIABLE}");
    assert!(
        missing
            .expect_err("no variable")
            .to_string()
            .contains("`NO_SUCH_VARIABLE` is not set")
    );
    assert!(matches!(
        http.header("x-b", "${PATH"),
        Err(TargetError::OpenVariable { .. })
    ));
}

#[test]
fn a_literal_header_keeps_placeholders() {
    let http = Http::new("http://localhost").expect("a server");
    let http = http.literal_header("x-a", "${PATH}").expect("a header");
    assert_eq!(http.headers()["x-a"], "${PATH}");
    let error = http.literal_header("accept", "x").expect_err("reserved");
    assert!(matches!(error, TargetError::ReservedHeader { .. }));
}

#[test]
fn secrets_are_not_shown() {
    let http = Http::new("https://user:hunter2@example.com/mcp?key=hunter2#hunter2");
    let http = http
        .expect("a server")
        .header("x-a", "hunter2")
        .expect("a header");
    let command = Command::new("server")
        .args(["--token", "hunter2"])
        .env("TOKEN", "hunter2");
    for target in [Target::from(http), Target::from(command)] {
        let shown = format!("{target} {target:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn errors_of_urls_do_not_show_passwords() {
    for text in [
        "me:hunter2@example.com/mcp",
        "http://me:hunter2/x@example.com/mcp",
        "http://me:hunter2@exa mple.com",
        "http://example.com:x/?key=hunter2",
        "ftp://me:hunter2@example.com",
        "http://me:hunter2@example.com/mcp",
    ] {
        let error = text.parse::<Target>().expect_err("an error");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn a_command_is_shown_as_its_program() {
    let target = Target::from(Command::new("node").args(["server.js"]));
    assert_eq!(target.to_string(), "node …");
    assert_eq!(Target::from(Command::new("node")).to_string(), "node");
}
