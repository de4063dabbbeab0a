//! Configurations with bundles and remotes.

mod folder;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::folder::folder;

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    command.args(arguments).current_dir(folder);
    command.output().expect("the command runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const BUNDLE: &str = "[bundle.ops.tool.run]\nhandler = \"a:t\"\n\
    [bundle.ops.tool.run.result]\ncontent = [{ type = \"text\", text = \"<${{ result.content[0].text }}>\" }]\n";
const SERVLET: &str = "[servlet.a]\nsource = \"a.wasm\"\n";

/// A remote that is this command with the servlet.
fn remote() -> String {
    let servlet = json!([env!("CARGO_BIN_EXE_servlet"), "serve", "a.wasm"]);
    format!("[remote.a]\ncommand = {servlet}\n")
}

#[test]
fn a_virtual_tool_is_called_without_a_server() {
    let endpoint = "[endpoint.pipe]\nkind = \"stdio\"\nbundles = [\"a\"]\n";
    for config in [
        format!("{SERVLET}{BUNDLE}"),
        format!("{SERVLET}{BUNDLE}{endpoint}"),
    ] {
        let called = run(&folder(&config), &["call", "servlet.toml", "run"]);
        assert_eq!(stdout(&called), "<answer>\n", "{called:?}");
    }
}

#[test]
fn an_endpoint_shows_only_what_it_lists() {
    let endpoint = "[endpoint.pipe]\nkind = \"stdio\"\nbundles = [\"ops\"]\n";
    let folder = folder(&format!("{SERVLET}{BUNDLE}{endpoint}"));
    let call = |endpoint, tool| {
        run(
            &folder,
            &["call", "servlet.toml", tool, "--endpoint", endpoint],
        )
    };
    assert_eq!(stdout(&call("pipe", "run")), "<answer>\n");
    let hidden = call("pipe", "t");
    assert!(
        !hidden.status.success() && hidden.stdout.is_empty(),
        "{hidden:?}"
    );
    let unknown = call("pip", "run");
    let error = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert_eq!(unknown.status.code(), Some(2), "{error}");
    assert!(
        error.contains("the configuration has no endpoint `pip`"),
        "{error}"
    );
    assert!(error.contains("its endpoints are `pipe`"), "{error}");
}

#[test]
fn a_tool_of_a_remote_is_called_without_a_server() {
    let folder = folder(&format!("{}{BUNDLE}", remote()));
    for (tool, expected) in [("t", "answer\n"), ("run", "<answer>\n")] {
        let called = run(&folder, &["call", "servlet.toml", tool]);
        assert_eq!(stdout(&called), expected, "{called:?}");
    }
}

#[test]
fn a_remote_that_cannot_be_reached_is_a_warning() {
    let gone = "[remote.gone]\ncommand = [\"./no-such-program\"]\nretry = { most = 0 }\n";
    let folder = folder(&format!("{SERVLET}{gone}"));
    let called = run(&folder, &["call", "servlet.toml", "t"]);
    assert_eq!(stdout(&called), "answer\n", "{called:?}");
    let messages = String::from_utf8_lossy(&called.stderr).into_owned();
    assert!(
        messages.contains("warning: ") && messages.contains("`gone`"),
        "{messages}"
    );
    let checked = run(&folder, &["config", "check", "--connect", "servlet.toml"]);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    let messages = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(messages.contains("`gone`"), "{messages}");
    let json = [
        "config",
        "check",
        "--connect",
        "--format",
        "json",
        "servlet.toml",
    ];
    let checked = run(&folder, &json);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    let problems: Value = serde_json::from_slice(&checked.stdout).expect("JSON");
    let message = problems[0]["message"].as_str().expect("a message");
    assert!(message.contains("`gone`"), "{message}");
}

#[test]
fn checks_of_a_configuration_print_problems_as_json() {
    let wrong = BUNDLE.replace("a:t", "a:none");
    let folder = folder(&format!("{SERVLET}{wrong}"));
    let check = ["config", "check", "servlet.toml", "--format", "json"];
    let without_load = run(&folder, &check);
    assert_eq!(stdout(&without_load), "[]\n", "{without_load:?}");
    let checked = run(&folder, &[&check[..], &["--load"]].concat());
    assert_ne!(checked.status.code(), Some(0), "{checked:?}");
    let problems: Value = serde_json::from_slice(&checked.stdout).expect("JSON");
    assert_eq!(
        (
            &problems[0]["line"],
            &problems[0]["column"],
            &problems[0]["file"]
        ),
        (&json!(4), &json!(11), &json!("servlet.toml")),
        "{problems}"
    );
}

#[test]
fn errors_of_virtual_tools_hide_no_other_findings() {
    let wrong = BUNDLE.replace("a:t", "a:none");
    let servlets = format!("{SERVLET}tools = {{ except = [\"secret_*\"] }}\n");
    let folder = folder(&format!(
        "{servlets}[servlet.empty]\nsource = \"empty.wasm\"\n{wrong}{}",
        "[remote.gone]\ncommand = [\"./no-such-program\"]\nretry = { most = 0 }\n"
    ));
    fs::write(folder.path().join("empty.wasm"), "").expect("a file");
    for (more, remote) in [(&[][..], false), (&["--connect"], true)] {
        let check = [&["config", "check", "servlet.toml", "--load"], more].concat();
        let checked = run(&folder, &check);
        assert_eq!(checked.status.code(), Some(1), "{checked:?}");
        let messages = String::from_utf8_lossy(&checked.stderr).into_owned();
        for expected in [
            "warning: servlet.toml:3:21: `a` has no tool `secret_*`",
            "error: servlet.toml:5:10: servlet skipped: cannot load `empty`: the file is empty",
            "error: servlet.toml:7:11: servlet `a` has no tool `none`",
        ] {
            assert!(messages.contains(expected), "{expected}: {messages}");
        }
        assert_eq!(messages.contains("no-such-program"), remote, "{messages}");
    }
}

#[test]
fn a_mistake_in_the_file_hides_no_errors_of_servlets_and_virtual_tools() {
    let wrong = BUNDLE.replace("a:t", "a:none");
    let folder = folder(&format!(
        "{SERVLET}on_failur = \"skip\"\n[servlet.empty]\nsource = \"empty.wasm\"\n{wrong}"
    ));
    fs::write(folder.path().join("empty.wasm"), "").expect("a file");
    let all = [
        "servlet.toml:3:1: unknown key `on_failur`; did you mean `on_failure`?",
        "servlet.toml:5:10: servlet skipped: cannot load `empty`: the file is empty",
        "servlet.toml:7:11: servlet `a` has no tool `none`",
    ];
    for (load, expected) in [(&[][..], &all[..1]), (&["--load"], &all)] {
        let checked = run(
            &folder,
            &[&["config", "check", "servlet.toml"], load].concat(),
        );
        assert_eq!(checked.status.code(), Some(2), "{checked:?}");
        let messages = String::from_utf8_lossy(&checked.stderr).into_owned();
        let found = all
            .iter()
            .filter(|one| messages.contains(&format!("error: {one}")));
        assert_eq!(
            found.collect::<Vec<_>>(),
            expected.iter().collect::<Vec<_>>(),
            "{messages}"
        );
    }
}

#[test]
fn the_schema_of_structured_content_is_shown_with_v() {
    let folder = folder(&format!(
        "{SERVLET}{BUNDLE}structuredContent = {{ blocks = \"${{{{ size(result.content) }}}}\" }}\n"
    ));
    let check = ["config", "check", "--load", "servlet.toml"];
    let note = r#"note: servlet.toml:7:21: this has the schema {"type":"object","properties":{"blocks":{"type":"integer"}},"required":["blocks"]}; write it as `output` if clients should know it"#;
    for (more, is_shown) in [(&[][..], false), (&["-v"], true)] {
        let checked = run(&folder, &[&check, more].concat());
        assert!(checked.status.success(), "{checked:?}");
        let messages = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert_eq!(messages.contains(note), is_shown, "{messages}");
    }
    assert_eq!(served(&folder).1, "");
}

#[test]
fn tools_that_do_not_fit_a_remote_are_found_by_connecting() {
    let wrong = BUNDLE.replace("a:t", "a:tt");
    let folder = folder(&format!("{}{wrong}", remote()));
    let checked = run(&folder, &["config", "check", "--load", "servlet.toml"]);
    assert!(checked.status.success(), "{checked:?}");
    let checked = run(&folder, &["config", "check", "--connect", "servlet.toml"]);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    let messages = String::from_utf8_lossy(&checked.stderr).into_owned();
    let expected = "servlet.toml:4:11: remote `a` has no tool `tt`; there is `t`";
    assert!(messages.contains(expected), "{messages}");
    let fits = self::folder(&format!("{}{BUNDLE}", remote()));
    let checked = run(&fits, &["config", "check", "--connect", "servlet.toml"]);
    assert!(checked.status.success(), "{checked:?}");
    let grant = "[servlet.planner]\nsource = \"a.wasm\"\nallow = { tools = [\"a:tt\"] }\n";
    for (section, place) in [
        ("tool.tt.shape = { most = 20 }\n", "servlet.toml:3:6"),
        (grant, "servlet.toml:5:20"),
    ] {
        let folder = self::folder(&format!("{}{section}", remote()));
        let check = ["config", "check", "--load", "--connect", "servlet.toml"];
        let checked = run(&folder, &check);
        let messages = String::from_utf8_lossy(&checked.stderr).into_owned();
        let expected = format!("{place}: remote `a` has no tool `tt`; there is `t`");
        assert!(messages.contains(&expected), "{messages}");
    }
}

#[test]
fn an_error_adds_no_doubts_about_the_tools_of_remotes() {
    let wrong = BUNDLE.replace("a:t", "a:tt");
    let rules = "[endpoint.pipe]\nkind = \"stdio\"\nrules = [{ allow = [\"t\", \"run\"] }]\n";
    let folder = folder(&format!("{}{wrong}{rules}", remote()));
    let check = ["config", "check", "--load", "--connect", "servlet.toml"];
    let checked = run(&folder, &check);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    let messages = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert_eq!(
        messages.matches("has no tool `tt`").count(),
        1,
        "{messages}"
    );
    assert!(!messages.contains("not loaded"), "{messages}");
    assert!(!messages.contains("matches `t`"), "{messages}");
}

#[test]
fn a_required_remote_that_cannot_be_reached_ends_the_start() {
    let gone =
        "[remote.gone]\ncommand = [\"./no-such-program\"]\nrequired = true\nretry = { most = 0 }\n";
    let folder = folder(&format!("{SERVLET}{gone}"));
    let served = run(&folder, &["serve", "servlet.toml"]);
    assert!(!served.status.success(), "{served:?}");
    let messages = String::from_utf8_lossy(&served.stderr).into_owned();
    let expected = "error: remote `gone` cannot be reached: ";
    assert!(messages.contains(expected), "{messages}");
    assert!(messages.contains("no-such-program"), "{messages}");
}

/// A server that ends at once, because its standard input has.
fn served(folder: &TempDir) -> (bool, String) {
    let mut serve = Command::new(env!("CARGO_BIN_EXE_servlet"));
    serve.args(["serve", "servlet.toml"]).current_dir(folder);
    let served = serve.stdin(Stdio::null()).output().expect("a server");
    let messages = String::from_utf8_lossy(&served.stderr).into_owned();
    (served.status.success(), messages)
}

#[test]
fn a_virtual_tool_that_does_not_fit_a_required_remote_ends_the_start() {
    let wrong = BUNDLE.replace("a:t", "a:tt");
    let required = remote() + "required = true\n";
    for endpoint in ["", "[endpoint.pipe]\nkind = \"stdio\"\n"] {
        let (_, messages) = served(&folder(&format!("{required}{BUNDLE}{endpoint}")));
        assert_eq!(messages, "");
        let (is_success, messages) = served(&folder(&format!("{required}{wrong}{endpoint}")));
        assert!(!is_success, "{messages}");
        assert!(
            messages.contains("remote `a` has no tool `tt`"),
            "{messages}"
        );
    }
}

#[test]
fn a_check_counts_the_sections() {
    let folder = folder(&format!(
        "{SERVLET}{BUNDLE}[remote.far]\nurl = \"https://mcp.example/mcp\"\n"
    ));
    let checked = run(&folder, &["config", "check", "--load", "servlet.toml"]);
    let expected = "servlet.toml: valid, 1 servlet, 1 remote, 1 virtual tool\n";
    assert_eq!(stdout(&checked), expected, "{checked:?}");
}

#[test]
fn a_bundle_without_tools_is_valid() {
    let folder = folder(&format!("{SERVLET}[bundle.ops]\n"));
    for load in [&[][..], &["--load"]] {
        let check = [&["config", "check", "servlet.toml"], load].concat();
        let checked = run(&folder, &check);
        assert!(checked.status.success(), "{checked:?}");
        let expected = "servlet.toml: valid, 1 servlet\n";
        assert_eq!(stdout(&checked), expected, "{checked:?}");
    }
}

/// Remotes that cannot be used, each for another reason, with a part of the message.
const UNUSABLE: [(&str, &str, &str); 7] = [
    (
        "missing",
        "command = [\"./no-such-program\"]",
        "cannot be reached: cannot start `./no-such-program`",
    ),
    (
        "refused",
        "url = \"http://127.0.0.1:9/mcp\"",
        "cannot be reached: cannot connect",
    ),
    (
        "silent",
        "command = [\"sleep\", \"60\"]\nconnect = \"500ms\"",
        "cannot be reached: ",
    ),
    (
        "ended",
        "command = [\"false\"]",
        "cannot be reached: `false` ended with",
    ),
    (
        "wrong",
        "command = [\"echo\", \"hello\"]",
        "cannot be reached: `echo` ended with",
    ),
    (
        "folder",
        "command = [\"sleep\", \"60\"]\nfolder = \"gone\"",
        "there is no directory `",
    ),
    (
        "big",
        "command = [\"PUPPET\"]",
        "cannot be used: the server sent more than 10000 entries of a list, as `limits.entries` of the remote says",
    ),
];

/// A puppet with too many tools.
fn many(folder: &TempDir) -> String {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    let tools: Vec<_> = (0..10_001)
        .map(|number| {
            let mut tool = tool.clone();
            tool["name"] = format!("t{number}").into();
            tool
        })
        .collect();
    let script = json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {} },
        "replies": { "tools/list": [{ "result": { "tools": tools } }] },
    });
    std::fs::write(folder.path().join("many.json"), script.to_string()).expect("a file");
    json!([puppet::program(), "./many.json"]).to_string()
}

/// A server, and its log once that has a line about each of these remotes.
#[cfg(unix)]
fn served_until_all_are_said(folder: &TempDir) -> (Ended, Vec<String>) {
    let mut serve = Command::new(env!("CARGO_BIN_EXE_servlet"));
    serve.args([
        "serve",
        "served.toml",
        "--http",
        "127.0.0.1:0",
        "--operations",
        "127.0.0.1:0",
    ]);
    serve.current_dir(folder).stderr(Stdio::piped());
    let mut serve = Ended(serve.spawn().expect("a server"));
    let stderr = serve.0.stderr.take().expect("it is piped");
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(stderr).lines().map_while(Result::ok);
        lines.for_each(|line| drop(sender.send(line)));
    });
    let mut log: Vec<String> = Vec::new();
    let is_said = |log: &[String], name: &str, what: &str| {
        let name = format!("remote `{name}` ");
        let is_it = |line: &&String| line.contains(&name) && line.contains(what);
        log.iter().filter(is_it).count() == 1
    };
    let is_complete = |log: &[String]| {
        let mut all = UNUSABLE.iter();
        all.all(|(name, _, what)| is_said(log, name, what))
    };
    while !is_complete(&log) {
        let line = lines.recv_timeout(Duration::from_secs(20));
        log.push(line.unwrap_or_else(|_| panic!("{log:#?}")));
    }
    (serve, log)
}

#[cfg(unix)]
#[test]
fn each_unusable_remote_leaves_a_line_and_a_metric() {
    let folder = folder(SERVLET);
    let many = many(&folder);
    let remotes = UNUSABLE.map(|(name, keys, _)| {
        let keys = keys.replace("[\"PUPPET\"]", &many);
        format!("[remote.{name}]\n{keys}\n")
    });
    let config = format!("{SERVLET}{}", remotes.concat());
    std::fs::write(folder.path().join("served.toml"), &config).expect("a file");
    let (serve, log) = served_until_all_are_said(&folder);
    let operations = log
        .iter()
        .find_map(|line| line.split_once("metrics on http://"));
    let (_, operations) = operations.expect("its address");
    let operations = operations.trim_end_matches("/metrics");
    let ready = get(operations, "/ready");
    assert!(ready.starts_with("HTTP/1.1 503"), "{ready}");
    let metrics = get(operations, "/metrics");
    for (name, ..) in UNUSABLE {
        let kind = match name {
            "big" => "unusable",
            _ => "connectivity",
        };
        let expected = format!("\"{name}\":\"{kind}\"");
        assert!(ready.contains(&expected), "{ready}");
        assert!(
            metrics.contains(&format!("servlet_remote_up{{remote=\"{name}\"}} 0")),
            "{metrics}"
        );
    }
    drop(serve);
    // A check says the same, with the line.
    let checked = run(&folder, &["config", "check", "served.toml", "--connect"]);
    // `folder` is found in the file alone.
    assert_eq!(checked.status.code(), Some(2), "{checked:?}");
    std::fs::create_dir(folder.path().join("gone")).expect("a folder");
    let checked = run(&folder, &["config", "check", "served.toml", "--connect"]);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    let messages = String::from_utf8_lossy(&checked.stderr).into_owned();
    for (name, _, what) in UNUSABLE.iter().filter(|(name, ..)| *name != "folder") {
        let is_it = |line: &str| line.contains(&format!("remote `{name}` ")) && line.contains(what);
        let line = messages.lines().find(|line| is_it(line));
        let line = line.unwrap_or_else(|| panic!("{name}: {messages}"));
        assert!(line.starts_with("error: served.toml:"), "{line}");
        let (_, said) = line.split_once("remote `").expect("the text");
        assert!(
            log.iter().any(|line| line.contains(said)),
            "{said}: {log:#?}"
        );
    }
}

/// Ends a process when it is dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The response to a GET request.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a write");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("text");
    response
}
