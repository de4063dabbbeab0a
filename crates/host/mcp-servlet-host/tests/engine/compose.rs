//! Several servlets in one server, and the sources of servlets.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    path::Path,
    sync::Arc,
};

use mcp_servlet_call::{CallError, CallErrorKind, Limit, chain};
use mcp_servlet_host::{Entry, Host, LoadError, Loaded, OnFailure, Prefix};
use mcp_servlet_runtime::{LoadError as ModuleError, LoadOptions, Source, block_on};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::support::Wat;

/// A servlet whose tools return the name of the servlet.
fn wasm(name: &str, tools: &[&str]) -> Vec<u8> {
    let tool = |tool| json!({ "name": tool, "inputSchema": { "type": "object" } });
    let tools: Vec<_> = tools.iter().map(tool).collect();
    let answer = json!({ "content": [{ "type": "text", "text": name }] });
    let describe = json!({ "tools": tools }).to_string();
    Wat::new()
        .describe(&describe)
        .answer(&answer.to_string())
        .wasm()
}

fn entry(name: &str, tools: &[&str]) -> Entry {
    let source = Source::Bytes {
        name: name.into(),
        wasm: wasm(name, tools),
    };
    Entry::of(source, LoadOptions::default())
}

fn load(entries: &[Entry]) -> Loaded {
    Loaded::load(entries, None).expect("a host")
}

fn names(host: &Host) -> Vec<&str> {
    host.tools().map(mcp_servlet_host::Tool::name).collect()
}

fn text(host: &Host, tool: &str) -> String {
    block_on(host.call(tool, None)).expect("a result").text()
}

#[test]
fn tools_that_two_servlets_have_get_the_names_of_their_servlets() {
    let host = load(&[entry("a", &["get", "only-a"]), entry("b", &["get"])]).host;
    assert_eq!(names(&host), ["a_get", "only-a", "b_get"]);
    assert_eq!(text(&host, "b_get"), "b");
    assert_eq!(text(&host, "a_get"), "a");
    let tool = host.tool("b_get").expect("a tool");
    assert_eq!(tool.json()["name"], "b_get");
    assert!(matches!(
        block_on(host.call("get", None)),
        Err(CallError {
            kind: CallErrorKind::UnknownTool { .. },
            ..
        })
    ));
}

#[test]
fn entry_sets_the_prefix() {
    let mut all = [entry("a", &["get"]), entry("b", &["get"])];
    all[0].prefix = Prefix::Name(Some("x".into()));
    all[1].prefix = Prefix::Name(None);
    assert_eq!(names(&load(&all).host), ["x_get", "b_get"]);
    all[1].prefix = Prefix::Never;
    assert_eq!(names(&load(&all).host), ["x_get", "get"]);
}

/// The warnings of a host.
fn problems(host: &Host) -> Vec<String> {
    let problems = host.problems();
    problems.map(ToString::to_string).collect()
}

#[test]
fn the_first_of_two_servlets_keeps_a_name() {
    let mut all = [entry("a", &["get"]), entry("b", &["get", "put"])];
    for entry in &mut all {
        entry.prefix = Prefix::Never;
        entry.on_failure = OnFailure::Fail;
    }
    let host = load(&all).host;
    assert_eq!(names(&host), ["get", "put"]);
    assert_eq!(text(&host, "get"), "a");
    assert_eq!(
        problems(&host),
        ["tool `get` of `b` is skipped: `a` already has the tool `get`"]
    );
    let same = [entry("a", &["get"]), entry("a", &["get"])];
    assert_eq!(names(&load(&same).host), ["a_get"]);
}

#[test]
fn servlet_keeps_its_tool_names_if_a_later_one_has_the_same() {
    let host = load(&[entry("victim", &["t"]), entry("other", &["t", "victim_t"])]).host;
    assert_eq!(names(&host), ["victim_t", "other_t"]);
    assert_eq!(text(&host, "victim_t"), "victim");
    assert_eq!(
        problems(&host),
        ["tool `victim_t` of `other` is skipped: `victim` already has the tool `victim_t`"]
    );
    let host = load(&[entry("other", &["t", "victim_t"]), entry("victim", &["t"])]).host;
    assert_eq!(names(&host), ["other_t", "victim_t"]);
    assert_eq!(text(&host, "victim_t"), "other");
    assert_eq!(
        problems(&host),
        ["tool `t` of `victim` is skipped: `other` already has the tool `victim_t`"]
    );
}

#[test]
fn within_a_servlet_a_tool_without_a_prefix_keeps_its_name() {
    let host = load(&[entry("a", &["t", "a_t"]), entry("b", &["t"])]).host;
    assert_eq!(names(&host), ["a_t", "b_t"]);
    assert_eq!(
        problems(&host),
        ["tool `t` of `a` is skipped: `a` already has the tool `a_t`"]
    );
}

#[test]
fn skips_and_reports_tools_with_names_that_clients_refuse() {
    let long = "x".repeat(63);
    let mut entry = entry("servlet", &["good", "not good", &long]);
    let loaded = load(std::slice::from_ref(&entry));
    assert_eq!(names(&loaded.host), ["good", &long]);
    let problems: Vec<_> = loaded.problems().map(chain_of).collect();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].contains("`not good` of `servlet`"),
        "{problems:?}"
    );
    entry.prefix = Prefix::Name(None);
    let loaded = load(&[entry]);
    assert_eq!(names(&loaded.host), ["servlet_good"]);
    assert!(
        loaded
            .problems()
            .any(|problem| problem.to_string().contains("71 characters"))
    );
}

fn chain_of(error: &LoadError) -> String {
    chain(error)
}

#[test]
fn selects_tools_by_patterns_and_reports_patterns_without_tools() {
    let mut entry = entry("a", &["get_x", "get_y", "put"]);
    entry.filter.only = vec!["get_*".into(), "gte_*".into()];
    entry.filter.except = vec!["*_y".into()];
    let loaded = load(&[entry]);
    assert_eq!(names(&loaded.host), ["get_x"]);
    let problems: Vec<_> = loaded.problems().map(ToString::to_string).collect();
    assert_eq!(problems, ["`a` has no tool `gte_*`"]);
}

#[test]
fn failed_servlet_is_skipped_unless_it_is_required() {
    let broken = Source::Bytes {
        name: "broken".into(),
        wasm: b"nonsense".to_vec(),
    };
    let mut all = [
        Entry::of(broken, LoadOptions::default()),
        entry("good", &["t"]),
    ];
    let loaded = load(&all);
    assert_eq!(names(&loaded.host), ["t"]);
    assert!(loaded.skipped[0].error.to_string().contains("broken"));
    all[0].on_failure = OnFailure::Fail;
    let error = Loaded::load(&all, None).expect_err("it must not fail");
    assert!(
        matches!(
            *error.error,
            LoadError::Module(ModuleError::Unreadable { .. })
        ),
        "{error:?}"
    );
}

#[test]
fn servlets_of_a_directory_are_sorted_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let parse = |path: &Path| Source::parse(path.to_str().expect("UTF-8"));
    let error = parse(folder.path()).expand().expect_err("it is empty");
    assert!(
        matches!(error, ModuleError::EmptyDirectory { .. }),
        "{error:?}"
    );
    for name in ["b", "a"] {
        fs::write(
            folder.path().join(name).with_extension("wasm"),
            wasm(name, &[name]),
        )
        .expect("a file");
    }
    fs::write(folder.path().join("README"), "no servlet").expect("a file");
    let sources = parse(folder.path()).expand().expect("two files");
    let entries: Vec<_> = sources
        .into_iter()
        .map(|source| Entry::of(source, LoadOptions::default()))
        .collect();
    let host = load(&entries).host;
    assert_eq!(names(&host), ["a", "b"]);
    assert_eq!(host.servlets()[0].name(), "a");
}

/// Serves a file once per connection.
fn server(status: &'static str, body: Vec<u8>) -> u16 {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.expect("a connection");
            let _ = stream.read(&mut [0; 1024]).expect("a request");
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(&[head.as_bytes(), &body].concat());
        }
    });
    port
}

#[test]
fn servlet_is_loaded_from_a_url_if_its_digest_matches() {
    let wasm = wasm("remote", &["t"]);
    let digest: Vec<_> = Sha256::digest(&wasm)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let digest = digest.concat();
    let url = format!(
        "http://127.0.0.1:{}/tools/remote.wasm",
        server("200 OK", wasm)
    );
    let load = |text: &str| {
        let mut entry = Entry::of(Source::parse(text), LoadOptions::default());
        entry.on_failure = OnFailure::Fail;
        Loaded::load(&[entry], None)
    };
    let host = load(&url).expect("a host").host;
    assert_eq!(host.servlets()[0].name(), "remote");
    load(&format!("{url}#sha256={}", digest.to_uppercase())).expect("the digest is right");
    let error = load(&format!("{url}#sha256={}", "0".repeat(64))).expect_err("another digest");
    assert!(error.to_string().contains(&digest), "{error}");
    let error = load(&format!("{url}#sha256=xyz")).expect_err("no digest");
    assert!(
        error.to_string().contains("64 hexadecimal digits"),
        "{error}"
    );
}

#[test]
fn refuses_insecure_invalid_and_missing_urls() {
    let missing = format!(
        "http://127.0.0.1:{}/x.wasm",
        server("404 Not Found", Vec::new())
    );
    for (url, expected) in [
        ("http://example.com/x.wasm", "`https`"),
        ("http://127.0.0.1.example.com/x.wasm", "`https`"),
        ("https://", "invalid URL"),
        (missing.as_str(), "404"),
    ] {
        let mut entry = Entry::of(Source::parse(url), LoadOptions::default());
        entry.on_failure = OnFailure::Fail;
        let error = Loaded::load(&[entry], None);
        let error = chain(&error.expect_err("no servlet"));
        assert!(error.contains(expected) && error.contains(url), "{error}");
    }
}

#[test]
fn a_reload_keeps_unchanged_servlets() {
    let mut all = [entry("a", &["x"]), entry("b", &["y"])];
    let first = load(&all).host;
    all[1].options.limits.timeout = Limit::Unlimited;
    let second = Loaded::load(&all, Some(&first)).expect("a host").host;
    assert!(Arc::ptr_eq(&first.servlets()[0], &second.servlets()[0]));
    assert!(!Arc::ptr_eq(&first.servlets()[1], &second.servlets()[1]));
}
