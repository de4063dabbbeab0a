//! Which requests go through a proxy, and where the command reads its URL.

#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::json;
use support::{Wat, proxy::Proxy};

/// Answers every request with these bytes.
fn server(body: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let lines = BufReader::new(&stream).lines();
            let _ = lines.map_while(Result::ok).find(String::is_empty);
            let length = body.len();
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(&[head.as_bytes(), &body].concat());
        }
    });
    port
}

/// Runs the command with a proxy in its environment.
fn servlet(folder: &Path, proxy: &Proxy, arguments: &[&str]) -> Output {
    let url = format!("http://user:password@127.0.0.1:{}", proxy.port);
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"] {
        command.env(name, &url);
    }
    for name in ["ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"] {
        command.env_remove(name);
    }
    let command = command.args(arguments).current_dir(folder);
    command
        .stdin(Stdio::null())
        .output()
        .expect("the command runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_servlet_is_fetched_through_the_proxy_of_the_environment_unless_it_is_on_this_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let wasm = Wat::new()
        .describe(support::DESCRIPTION)
        .answer("{}")
        .wasm();
    let proxy = Proxy::start(None);
    let url = format!("http://127.0.0.1:{}/a.wasm", server(wasm));
    let local = servlet(folder.path(), &proxy, &["inspect", &url]);
    assert!(local.status.success(), "{}", text(&local.stderr));
    assert_eq!(proxy.requests(), [""; 0]);
    let remote = servlet(
        folder.path(),
        &proxy,
        &["inspect", "https://servlets.example/a.wasm"],
    );
    let asked = proxy.requests();
    let expected = "CONNECT servlets.example:443 ";
    assert!(!asked.is_empty());
    assert!(
        asked.iter().all(|asked| asked.starts_with(expected)),
        "{asked:?}"
    );
    assert!(text(&remote.stdout).contains("403"), "{remote:?}");
    assert!(!text(&remote.stdout).contains("password"), "{remote:?}");
}

#[test]
fn a_servlet_sends_through_the_proxy_of_its_operator_and_no_other() {
    let request = json!({ "url": "http://api.example/" }).to_string();
    let import =
        r#"(import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))"#;
    let answer = json!({ "content": [{ "type": "text", "text": "sent" }] }).to_string();
    let send = format!(
        "(drop (call $http (call $block {{}}) (i64.const 0)))
        (call $output (i32.const {}) (i32.const {})) (i32.const 0)",
        support::DESCRIPTION.len(),
        answer.len()
    );
    let wasm = Wat::new().import(import).describe(support::DESCRIPTION);
    let wasm = wasm.text(&answer).export("call", &request, &send).wasm();
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.wasm"), wasm).expect("a file");
    let environment = Proxy::start(None);
    let operator = Proxy::start(Some(server(b"hi".to_vec())));
    let url = format!("http://user:password@127.0.0.1:{}", operator.port);
    let call = ["call", "a.wasm", "t", "--allow-host", "api.example"];
    let direct = servlet(folder.path(), &environment, &call);
    assert!(!direct.status.success(), "{direct:?}");
    let output = servlet(
        folder.path(),
        &environment,
        &[&call[..], &["--proxy", &url]].concat(),
    );
    assert!(text(&output.stdout).contains("sent"), "{output:?}");
    assert!(operator.requests()[0].starts_with("CONNECT api.example:80 "));
    assert_eq!(environment.requests(), [""; 0]);
}
