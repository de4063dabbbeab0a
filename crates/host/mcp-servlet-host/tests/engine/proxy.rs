//! Requests of servlets through a proxy.

use mcp_servlet_call::CallErrorKind;
use mcp_servlet_runtime::{LoadOptions, Proxy, block_on};

use crate::{
    arguments,
    egress::{Server, allowing, get},
    network::sender,
    support::proxy,
};

fn options(hosts: &[&str], proxy: &proxy::Proxy) -> LoadOptions {
    let url = format!("http://user:p%40ss@localhost:{}", proxy.port);
    let mut options = allowing(hosts);
    options.proxy = Some(Proxy::parse(&url).expect("a proxy"));
    options
}

#[test]
fn requests_go_through_the_proxy_which_resolves_names() {
    let server = Server::start("200 OK");
    let proxy = proxy::Proxy::start(Some(server.port));
    let options = options(&["api.example"], &proxy);
    get("http://api.example/x", &options).expect("an answer");
    let [asked] = &proxy.requests()[..] else {
        panic!("{:?}", proxy.requests());
    };
    assert!(
        asked.starts_with("CONNECT api.example:80 HTTP/1.1\r\n"),
        "{asked}"
    );
    // `user:p@ss`
    assert!(
        asked.contains("Proxy-Authorization: Basic dXNlcjpwQHNz\r\n"),
        "{asked}"
    );
    let [request] = &server.requests()[..] else {
        panic!("{:?}", server.requests());
    };
    assert!(request.starts_with("get /x http/1.1\r\n"), "{request}");
    assert!(request.contains("\r\nhost: api.example\r\n"), "{request}");
    assert!(!request.contains("proxy-"), "{request}");
}

#[test]
fn hosts_and_literal_addresses_are_checked_before_the_proxy_is_asked() {
    let server = Server::start("200 OK");
    let proxy = proxy::Proxy::start(Some(server.port));
    let refused = |url: &str, hosts: &[&str]| {
        let error = get(url, &options(hosts, &proxy)).expect_err(url);
        assert!(
            matches!(error.kind, CallErrorKind::HostDenied { .. }),
            "{url}: {error:?}"
        );
    };
    refused("http://other.example/", &["api.example"]);
    for url in [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://0x7f000001/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://169.254.169.254/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://a.localhost/",
    ] {
        refused(url, &["*"]);
    }
    assert_eq!(proxy.requests(), [""; 0]);
    for (url, hosts) in [
        ("http://10.0.0.5/", ["10.0.0.5"]),
        ("http://localhost/", ["localhost"]),
        ("http://1.1.1.1/", ["*"]),
    ] {
        get(url, &options(&hosts, &proxy)).expect(url);
    }
    let mut open = options(&["*"], &proxy);
    open.allow_private = true;
    get("http://192.168.0.1/", &open).expect("all are open");
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_redirect_is_checked_and_goes_through_the_proxy() {
    let server = Server::start("302 Found\r\nLocation: http://10.0.0.1/");
    let proxy = proxy::Proxy::start(Some(server.port));
    let error = get("http://api.example/", &options(&["*"], &proxy));
    let error = error.expect_err("a private address");
    assert!(
        matches!(error.kind, CallErrorKind::HostDenied { .. }),
        "{error:?}"
    );
    assert_eq!(proxy.requests().len(), 1);
}

#[test]
fn a_proxy_that_refuses_or_is_not_there_is_named_without_its_password() {
    let error = |options: &LoadOptions| {
        let servlet = sender(r#"{"url":"http://api.example/"}"#, 1, "").load_with(options);
        let servlet = servlet.expect("a servlet");
        let error = block_on(servlet.call("t", Some(&arguments(1))));
        error.expect_err("no answer").to_string()
    };
    let refusing = proxy::Proxy::start(None);
    let refused = error(&options(&["*"], &refusing));
    assert!(refused.contains("proxy server responded 403"), "{refused}");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = closed.local_addr().expect("an address").port();
    drop(closed);
    for url in [
        format!("http://user:s3cr3t@127.0.0.1:{port}"),
        "http://user:s3cr3t@proxy.invalid".to_owned(),
    ] {
        let mut options = allowing(&["*"]);
        options.proxy = Proxy::parse(&url).ok();
        let unreachable = error(&options);
        assert!(unreachable.contains("proxy failed: "), "{unreachable}");
        assert!(!unreachable.contains("s3cr3t"), "{unreachable}");
        assert!(!format!("{options:?}").contains("s3cr3t"));
    }
}
