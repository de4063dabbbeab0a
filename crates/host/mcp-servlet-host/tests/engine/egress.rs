//! Requests that a servlet must not send, tested with real servers that would see them.

use std::{
    io::{Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use mcp_servlet_call::{CallError, CallErrorKind};
use mcp_servlet_runtime::{LoadOptions, block_on};

use crate::{
    arguments,
    network::{sender, sender_with_body},
    support::Wat,
};

/// A server that gives every request the same answer and records the requests.
pub(crate) struct Server {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start(answer: &str) -> Self {
        Self::at(Ipv4Addr::LOCALHOST.into(), answer).expect("a port")
    }

    fn at(address: IpAddr, answer: &str) -> std::io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::new(address, 0))?;
        let port = listener.local_addr()?.port();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&requests);
        let answer = format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let request = read_request(&mut stream).to_lowercase();
                kept.lock().expect("no panic").push(request);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Ok(Self { port, requests })
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }
}

/// Reads a request to the end of its body, which may arrive after its head.
fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut part = [0; 4096];
    while !is_complete(&String::from_utf8_lossy(&request)) {
        match stream.read(&mut part) {
            Ok(length) if length > 0 => request.extend(&part[..length]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&request).into_owned()
}

fn is_complete(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else {
        return false;
    };
    let head = head.to_ascii_lowercase();
    let length = head.split_once("\r\ncontent-length:");
    let length = length.and_then(|(_, rest)| rest.lines().next()?.trim().parse().ok());
    body.len() >= length.unwrap_or(0)
}

pub(crate) fn allowing(hosts: &[&str]) -> LoadOptions {
    let mut options = LoadOptions::default();
    options.allowed_hosts = hosts.iter().map(|&host| host.to_owned()).collect();
    options
}

fn send(request: &str, options: &LoadOptions) -> Result<(), CallError> {
    let servlet = sender(request, 1, "")
        .load_with(options)
        .expect("a servlet");
    block_on(servlet.call("t", Some(&arguments(1)))).map(drop)
}

pub(crate) fn get(url: &str, options: &LoadOptions) -> Result<(), CallError> {
    send(&format!(r#"{{"url":"{url}"}}"#), options)
}

#[test]
fn secrets_are_not_sent_after_a_redirect_to_another_origin() {
    for status in ["302 Found", "307 Temporary Redirect"] {
        let other = Server::start("200 OK");
        let answer = format!("{status}\r\nLocation: http://127.0.0.1:{}/", other.port);
        let first = Server::start(&answer);
        let request = format!(
            r#"{{"url":"http://127.0.0.1:{}/","headers":{{"Accept":"text/html","X-Api-Key":"secret",
            "Authorization":"Bearer secret","Cookie":"a=secret","X-Anything":"secret"}}}}"#,
            first.port
        );
        send(&request, &allowing(&["127.0.0.1"])).expect("an answer");
        assert_eq!(first.requests()[0].matches("secret").count(), 4);
        let [redirected] = &other.requests()[..] else {
            panic!("{:?}", other.requests());
        };
        assert!(!redirected.contains("secret"), "{redirected}");
        assert!(redirected.contains("accept: text/html"), "{redirected}");
    }
}

fn post(url: &str) -> Result<(), CallError> {
    let request = format!(r#"{{"url":"{url}","method":"POST"}}"#);
    let servlet = sender_with_body(&request, "client_secret=s3cr3t")
        .load_with(&allowing(&["127.0.0.1"]))
        .expect("a servlet");
    block_on(servlet.call("t", Some(&arguments(1)))).map(drop)
}

#[test]
fn body_is_not_sent_after_a_redirect_to_another_origin() {
    for status in ["307 Temporary Redirect", "308 Permanent Redirect"] {
        let other = Server::start("200 OK");
        let answer = format!("{status}\r\nLocation: http://127.0.0.1:{}/x", other.port);
        let first = Server::start(&answer);
        let error = post(&format!("http://127.0.0.1:{}/", first.port));
        let error = error.expect_err("a redirect").to_string();
        let expected = format!(
            "`http://127.0.0.1:{}` redirects the request and its body to another origin, \
             `http://127.0.0.1:{}`; send the request there if it may have the body",
            first.port, other.port
        );
        assert!(error.contains(&expected), "{error}");
        assert!(first.requests()[0].ends_with("client_secret=s3cr3t"));
        assert_eq!(other.requests(), [""; 0]);
    }
}

#[test]
fn a_redirect_that_becomes_a_get_is_followed_without_the_body() {
    let other = Server::start("200 OK");
    let answer = format!(
        "303 See Other\r\nLocation: http://127.0.0.1:{}/x",
        other.port
    );
    let first = Server::start(&answer);
    post(&format!("http://127.0.0.1:{}/", first.port)).expect("an answer");
    let [redirected] = &other.requests()[..] else {
        panic!("{:?}", other.requests());
    };
    assert!(redirected.starts_with("get /x ") && !redirected.contains("s3cr3t"));
}

#[test]
fn headers_of_the_servlet_stay_on_a_redirect_to_the_same_origin() {
    let server = Server::start("302 Found\r\nLocation: /next");
    let request = format!(
        r#"{{"url":"http://127.0.0.1:{}/","headers":{{"X-Api-Key":"secret"}}}}"#,
        server.port
    );
    let error = send(&request, &allowing(&["127.0.0.1"])).expect_err("it never ends");
    assert!(
        error.to_string().contains("more than 10 redirects"),
        "{error}"
    );
    let requests = server.requests();
    assert_eq!(requests.len(), 11);
    assert!(requests.iter().all(|request| request.contains("secret")));
}

#[test]
fn headers_and_methods_of_the_connection_are_refused() {
    let server = Server::start("200 OK");
    let refused = |method: &str, header: &str| {
        let request = format!(
            r#"{{"url":"http://127.0.0.1:{}/","method":"{method}","headers":{{"{header}":"1"}}}}"#,
            server.port
        );
        let error = send(&request, &allowing(&["127.0.0.1"]));
        error.expect_err(header).to_string()
    };
    for header in [
        "Host",
        "CONTENT-LENGTH",
        "transfer-encoding",
        "Connection",
        "keep-alive",
        "Upgrade",
        "TE",
        "Proxy-Authorization",
        "proxy-connection",
    ] {
        let error = refused("POST", header);
        assert!(error.contains(&format!("header `{header}`")), "{error}");
    }
    for method in ["CONNECT", "TRACE", "trace"] {
        let error = refused(method, "x-a");
        assert!(error.contains(&format!("method `{method}`")), "{error}");
    }
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn wildcard_does_not_allow_private_addresses_in_any_spelling() {
    let server = Server::at(Ipv4Addr::UNSPECIFIED.into(), "200 OK").expect("a port");
    let port = server.port;
    for host in [
        "localhost",
        "LOCALHOST",
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "0.0.0.0",
        "127.8.9.10",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
    ] {
        let error = get(&format!("http://{host}:{port}/"), &allowing(&["*"]));
        let error = error.expect_err(host);
        assert!(
            matches!(error.kind, CallErrorKind::HostDenied { .. }),
            "{host}: {error:?}"
        );
    }
    if let Ok(server) = Server::at(Ipv6Addr::LOCALHOST.into(), "200 OK") {
        let error = get(&format!("http://[::1]:{}/", server.port), &allowing(&["*"]));
        assert!(matches!(
            error,
            Err(CallError {
                kind: CallErrorKind::HostDenied { .. },
                ..
            })
        ));
        assert_eq!(server.requests(), [""; 0]);
    }
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn redirect_does_not_allow_private_addresses() {
    let hidden = Server::start("200 OK");
    let answer = format!("302 Found\r\nLocation: http://localhost:{}/", hidden.port);
    let first = Server::start(&answer);
    // A name that matches a pattern may resolve to a listed private address.
    let options = allowing(&["127.0.0.1", "*"]);
    get(&format!("http://localhost:{}/", hidden.port), &options).expect("the address is listed");
    let hidden = Server::at(Ipv4Addr::new(127, 0, 0, 2).into(), "200 OK").expect("a port");
    let answer = format!("302 Found\r\nLocation: http://127.0.0.2:{}/", hidden.port);
    let second = Server::start(&answer);
    for server in [&first, &second] {
        let options = allowing(&["127.0.0.1", "*2"]);
        let error = get(&format!("http://127.0.0.1:{}/", server.port), &options);
        assert!(
            matches!(
                error,
                Err(CallError {
                    kind: CallErrorKind::HostDenied { .. },
                    ..
                })
            ),
            "{error:?}"
        );
    }
    assert_eq!(hidden.requests(), [""; 0]);
}

#[test]
fn private_address_is_allowed_if_listed() {
    let server = Server::start("200 OK");
    let port = server.port;
    let local = format!("http://localhost:{port}/");
    let address = format!("http://127.0.0.1:{port}/");
    let mapped = format!("http://[::ffff:127.0.0.1]:{port}/");
    for (url, hosts) in [
        (&local, &["localhost"][..]),
        (&local, &["local*", "127.0.0.1"]),
        (&address, &["127.0.0.1"]),
        (&mapped, &["[::ffff:7f00:1]"]),
    ] {
        get(url, &allowing(hosts)).unwrap_or_else(|error| panic!("{url} {hosts:?}: {error:?}"));
    }
    for url in [&local, &address] {
        let mut options = allowing(&["*"]);
        options.allow_private = true;
        get(url, &options).unwrap_or_else(|error| panic!("{url}: {error:?}"));
    }
    assert_eq!(server.requests().len(), 6);
    // Listing `localhost` does not allow the literal address.
    let error = get(&address, &allowing(&["localhost", "*"]));
    assert!(
        matches!(
            error,
            Err(CallError {
                kind: CallErrorKind::HostDenied { .. },
                ..
            })
        ),
        "{error:?}"
    );
}

/// Sends a request to `url`, and declares the host of the configuration value `base_url`.
fn with_configured_host(url: &str) -> Wat {
    let config =
        r#"{ "properties": { "base_url": { "type": "string" } }, "required": ["base_url"] }"#;
    let needs = format!(r#"{{ "config": {config}, "hosts": ["config.base_url"] }}"#);
    let needs = needs.replace('"', "\\\"");
    let wat = sender(&format!(r#"{{"url":"{url}"}}"#), 1, "");
    wat.after(&format!("(@custom \"mcp-servlet:needs\" \"{needs}\")"))
}

/// The message about unmet needs, and the options that meet them.
fn unmet(problem: &str, options: &str) -> (String, String) {
    let problem = format!("servlet `test` has unmet needs: {problem}");
    (problem, options.to_owned())
}

#[test]
fn a_configuration_value_names_an_allowed_host() {
    let server = Server::start("200 OK");
    let url = format!("http://127.0.0.1:{}/", server.port);
    let wat = with_configured_host(&url);
    let with = |value: Option<&str>, hosts: &[&str]| {
        let mut options = allowing(hosts);
        options.config = value
            .map(|value| ("base_url".to_owned(), value.to_owned()))
            .into_iter()
            .collect();
        let servlet = wat.load_with(&options).expect("a servlet");
        let called = block_on(servlet.call("t", Some(&arguments(1))));
        let unmet = servlet.unmet_needs();
        let unmet = unmet.map(|unmet| (unmet.to_string(), unmet.options()));
        (called.is_ok(), unmet)
    };
    let listed = ["config.base_url"];
    assert_eq!(with(Some(&url), &listed), (true, None));
    assert_eq!(with(Some("127.0.0.1"), &listed), (true, None));
    // The declaration alone allows nothing.
    assert_eq!(
        with(Some(&url), &["api.example"]),
        (
            false,
            Some(unmet(
                "host `config.base_url` is not allowed",
                "--allow-host config.base_url"
            ))
        )
    );
    assert_eq!(with(Some(&url), &["127.0.0.1"]), (true, None));
    assert_eq!(with(Some("https://api.example"), &listed), (false, None));
    for wrong in ["*", "not a host", "file:///etc/hosts"] {
        assert_eq!(
            with(Some(wrong), &listed),
            (
                false,
                Some(unmet(
                    "config `base_url` is invalid: expected a URL or a host",
                    "--config base_url=…"
                ))
            ),
            "{wrong}"
        );
    }
    assert_eq!(
        with(None, &listed),
        (
            false,
            Some(unmet("config `base_url` is not set", "--config base_url=…"))
        )
    );
    let placeholder =
        "config `base_url` is the placeholder `${BASE_URL}`, which nothing has replaced";
    let (_, problem) = with(Some("${BASE_URL}"), &["127.0.0.1"]);
    assert!(problem.is_some_and(|(problem, _)| problem.contains(placeholder)),);
    assert_eq!(server.requests().len(), 4);
}
