//! HTTP requests that fail: a module that reads failures continues, any other module is stopped
//! with a clear message.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    time::Duration,
};

use mcp_servlet_call::{CallErrorKind, Limit};
use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::{LoadOptions, block_on};
use mcp_servlet_types::{HTTP_ERRORS, HttpErrorKind as Kind};

use crate::{arguments, assert_works, network::sender};

/// How a server answers.
#[derive(Clone, Copy)]
enum Answers {
    /// It sends these bytes.
    With(&'static str),
    /// It never answers.
    Never,
    /// It closes the connection.
    Closing,
}

fn server(answers: Answers) -> u16 {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in server.incoming() {
            let mut stream = stream.expect("a connection");
            let _ = stream.read(&mut [0; 1024]);
            match answers {
                Answers::With(bytes) => drop(stream.write_all(bytes.as_bytes())),
                Answers::Never => open.push(stream),
                Answers::Closing => {}
            }
        }
    });
    port
}

/// A port on which no server listens.
fn closed() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn options() -> LoadOptions {
    let mut options = LoadOptions::default();
    options.allowed_hosts = vec!["127.0.0.1".into(), "a*".into()];
    options.limits.http_response = Limit::At(9);
    options.limits.http_requests = Limit::At(2);
    options
}

/// Sends a request `times` times and returns the last status as its exit code.
fn reading(request: &str, times: usize, options: &LoadOptions) -> Servlet {
    let status = r#"(import "extism:host/env" "http_status_code" (func $status (result i32)))"#;
    let wat = sender(request, times, "(return (call $status))").import(status);
    let wat = wat.after(&format!("(@custom \"{HTTP_ERRORS}\" \"\\01\")"));
    wat.load_with(options).expect("a servlet")
}

#[test]
fn a_module_that_reads_failures_gets_the_kind_of_each() {
    let get = |url: String| format!(r#"{{"url":"{url}"}}"#);
    let at = |scheme: &str, port: u16| get(format!("{scheme}://127.0.0.1:{port}/"));
    let to = |answers| at("http", server(answers));
    let plain = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
    let large = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\n0123";
    let circle =
        "HTTP/1.1 302 Found\r\nLocation: /\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let away = "HTTP/1.1 302 Found\r\nLocation: http://b.example/\r\nContent-Length: 0\r\n\r\n";
    let file = "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n";
    for (request, times, kind) in [
        (at("http", closed()), 1, Kind::Connect),
        (to(Answers::Closing), 1, Kind::Connect),
        (to(Answers::With(short)), 1, Kind::Connect),
        (
            get(format!("http://{}.example/", "a".repeat(64))),
            1,
            Kind::Dns,
        ),
        (at("https", server(Answers::With(plain))), 1, Kind::Tls),
        (to(Answers::Never), 1, Kind::Timeout),
        (to(Answers::With(large)), 1, Kind::TooLarge),
        (to(Answers::With(plain)), 3, Kind::TooManyRequests),
        (to(Answers::With(circle)), 1, Kind::TooManyRedirects),
        (
            to(Answers::With("SSH-2.0-OpenSSH\r\n\r\n")),
            1,
            Kind::Protocol,
        ),
        (to(Answers::With(away)), 1, Kind::NotAllowed),
        (to(Answers::With(file)), 1, Kind::Request),
        (get("http://b.example/".into()), 1, Kind::NotAllowed),
        (get("http://".into()), 1, Kind::Request),
        (get("ftp://127.0.0.1/".into()), 1, Kind::Request),
        (
            r#"{"url":"http://127.0.0.1/","method":"TRACE"}"#.into(),
            1,
            Kind::Request,
        ),
        (
            r#"{"url":"http://127.0.0.1/","headers":{"a b":"c"}}"#.into(),
            1,
            Kind::Request,
        ),
    ] {
        let mut options = options();
        if kind == Kind::Timeout {
            options.limits.http_timeout = Limit::At(Duration::from_millis(300));
        }
        let servlet = reading(&request, times, &options);
        let error = block_on(servlet.call("t", Some(&arguments(1))));
        let error = error.expect_err("an exit code").to_string();
        let expected = format!("Returned non-zero exit code: {}", kind.code());
        assert_eq!(error, expected, "{kind:?}: {request}");
        assert_works(&servlet);
    }
}

#[test]
fn any_other_module_is_stopped_with_a_clear_text() {
    let port = closed();
    let url = format!("http://127.0.0.1:{port}/path?key=secret");
    let servlet = sender(&format!(r#"{{"url":"{url}"}}"#), 1, "");
    let servlet = servlet.load_with(&options()).expect("a servlet");
    let error = block_on(servlet.call("t", Some(&arguments(1)))).expect_err("a trap");
    assert!(
        matches!(error.kind, CallErrorKind::Trap { .. }),
        "{error:?}"
    );
    let text = error.to_string();
    let expected = format!("the connection to `http://127.0.0.1:{port}` failed: ");
    assert!(text.contains(&expected), "{text}");
    assert!(!text.contains("secret"), "{text}");
    assert_works(&servlet);
}

#[test]
fn the_deadline_of_the_call_ends_it_although_failures_are_read() {
    let request = format!(
        r#"{{"url":"http://127.0.0.1:{}/"}}"#,
        server(Answers::Never)
    );
    for http_timeout in [Limit::Unlimited, Limit::At(Duration::from_mins(1))] {
        let mut options = options();
        options.limits.timeout = Limit::At(Duration::from_millis(200));
        options.limits.http_timeout = http_timeout;
        let wat = sender(&request, 1, "").after(&format!("(@custom \"{HTTP_ERRORS}\" \"\\01\")"));
        let servlet = wat.load_with(&options).expect("a servlet");
        let error = block_on(servlet.call("t", Some(&arguments(1)))).expect_err("a timeout");
        assert!(
            matches!(error.kind, CallErrorKind::Timeout { .. }),
            "{error:?}"
        );
        assert_works(&servlet);
    }
}
