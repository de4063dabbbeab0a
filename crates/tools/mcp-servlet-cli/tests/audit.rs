//! The audit log and the log in JSON of a process: signals, its end, a disk without room, and no secrets.
#![cfg(unix)]

mod folder;
mod secret;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::Command,
    sync::mpsc,
};

use folder::folder;
use mcp_servlet_server::Sha256;
use puppet::{PATIENCE, eventually_blocking};
use secret::MARK;
use serde_json::{Value, json};
use wire::{
    Answer, Http, Process,
    message::{HANDSHAKE, initialize, initialized, stateless},
};

const SERVLET: &str = "[servlet.a]\nsource = \"a.wasm\"\n";
const AUDIT: &str = "[audit]\nto = \"audit.jsonl\"\n";

/// A process that serves, and a client.
struct Serving {
    process: Process,
    http: Http,
}

impl Serving {
    /// Runs `serve servlet.toml` in a folder, at one endpoint. `shell` are commands that run before it in the same shell.
    fn start(folder: &Path, shell: &str, more: &[&str]) -> Self {
        Self::start_configured(folder, shell, &[&["--http", "127.0.0.1:0"], more].concat())
    }

    /// The same with the endpoint of the configuration.
    fn start_configured(folder: &Path, shell: &str, more: &[&str]) -> Self {
        let mut command = Command::new("sh");
        let script = format!("{shell} exec \"$0\" \"$@\"");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_servlet")]);
        command.args(["serve", "servlet.toml"]);
        let process = Process::connect(command.args(more).current_dir(folder));
        let http = endpoint(&process, "listening on http://");
        Self { process, http }
    }

    /// Stops it, and returns what it has written to standard error.
    fn stop(mut self) -> String {
        self.process.signal("TERM");
        let ended = self.process.ended();
        assert!(ended.success(), "{ended:?}");
        self.process.printed()
    }

    /// The response to a call of `t`.
    fn call(&self, arguments: &Value) -> Answer {
        let client = self.http.with("authorization", "Bearer s3cr3t-token");
        client.ask("tools/call", json!({ "name": "t", "arguments": arguments }))
    }
}

/// A client of the URL in a line of the log.
fn endpoint(process: &Process, before: &str) -> Http {
    let url = process.said_after(before);
    let (address, _) = url.split_once('/').expect("a path");
    Http::new(format!("http://{address}/mcp"))
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")));
    lines.collect()
}

fn count(path: &Path, event: &str) -> usize {
    let lines = lines(path);
    lines.iter().filter(|line| line["event"] == event).count()
}

#[test]
fn the_end_of_the_process_writes_all_lines() {
    let folder = folder(&format!("{AUDIT}{SERVLET}"));
    let serving = Serving::start(folder.path(), "", &[]);
    for _ in 0..100 {
        assert_eq!(serving.call(&json!({})).status(), 200);
    }
    serving.stop();
    let path = folder.path().join("audit.jsonl");
    assert_eq!(count(&path, "call"), 100);
    let lines = lines(&path);
    let (first, last) = (
        lines.first().expect("a line"),
        lines.last().expect("a line"),
    );
    assert_eq!(
        (&first["event"], &last["event"]),
        (&json!("start"), &json!("stop"))
    );
}

#[test]
fn a_hangup_opens_the_file_again() {
    let folder = folder(&format!("{AUDIT}{SERVLET}"));
    let serving = Serving::start(folder.path(), "", &[]);
    let (path, old) = (folder.path().join("audit.jsonl"), folder.path().join("old"));
    serving.call(&json!({}));
    eventually_blocking("the first line", || count(&path, "call") == 1);
    fs::rename(&path, &old).expect("renamed");
    serving.process.signal("HUP");
    eventually_blocking("the new file", || path.exists());
    serving.call(&json!({}));
    serving.stop();
    assert_eq!((count(&old, "call"), count(&path, "call")), (1, 1));
}

/// `systemctl reload` sends it to each server.
#[test]
fn a_hangup_does_not_end_a_server_without_an_audit_log() {
    let folder = folder(SERVLET);
    let serving = Serving::start(folder.path(), "", &[]);
    serving.call(&json!({}));
    serving.process.signal("HUP");
    serving.call(&json!({}));
    serving.stop();
}

/// A file that cannot grow is a disk without room: a line is written in part, and the rest is not.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_cannot_grow_refuses_calls_and_keeps_whole_lines() {
    let config = format!("{AUDIT}arguments = \"text\"\n[limits]\ncache = \"off\"\n{SERVLET}");
    let folder = folder(&config);
    let serving = Serving::start(folder.path(), "trap '' XFSZ;", &[]);
    // Not before it has loaded the servlet, whose memory counts as a file.
    let limit = Command::new("prlimit")
        .args(["--fsize=2000", "--pid", &serving.process.id().to_string()])
        .status();
    assert!(limit.expect("prlimit of util-linux").success());
    let arguments = json!({ "text": "x".repeat(150) });
    let mut answers = Vec::new();
    eventually_blocking("a refusal", || {
        let answer = serving.call(&arguments);
        let text = answer.text();
        answers.push(text.contains("\"isError\":true") || !text.contains("-32000"));
        answers.len() == 200 || !answers[answers.len() - 1]
    });
    let served = answers.iter().filter(|is_served| **is_served).count();
    assert!(served < 100, "{served}");
    serving
        .process
        .says("the audit log cannot be written, so new calls are refused");
    let path = folder.path().join("audit.jsonl");
    let begun = fs::read(&path).expect("lines");
    assert_eq!((begun.len(), begun.last() == Some(&b'\n')), (2000, false));
    // Another program renames the file, as logrotate does.
    fs::rename(&path, folder.path().join("old")).expect("renamed");
    serving.process.signal("HUP");
    eventually_blocking("calls run again", || {
        !serving.call(&arguments).text().contains("-32000")
    });
    serving.stop();
    let rest = lines(&path);
    let numbers: Vec<_> = rest
        .iter()
        .map(|line| line["number"].as_u64().expect("a number"))
        .collect();
    assert!(
        numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]),
        "{numbers:?}"
    );
}

#[test]
fn an_audit_log_that_cannot_be_opened_is_an_error_at_startup() {
    let folder = folder(&format!("[audit]\nto = \"a.wasm/audit.jsonl\"\n{SERVLET}"));
    let output = Command::new(env!("CARGO_BIN_EXE_servlet"))
        .args(["serve", "servlet.toml", "--http", "127.0.0.1:0"])
        .current_dir(&folder)
        .output()
        .expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        errors.contains("cannot open the audit log `a.wasm/audit.jsonl`: `to` in `[audit]`: "),
        "{errors}"
    );
}

#[test]
fn lines_on_standard_error_are_json_beside_the_log() {
    let folder = folder(&format!("[audit]\nto = \"stderr\"\n{SERVLET}"));
    let serving = Serving::start(folder.path(), "", &["--log-format", "json", "-v"]);
    serving.call(&json!({ "forged": "a\n{\"event\":\"stop\"}" }));
    let line = serving.process.line("\"event\":\"call\"");
    let line: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(line["name"], "t");
    for line in serving.stop().lines() {
        let line: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(
            line.get("level").is_some() || line.get("event").is_some(),
            "{line}"
        );
    }
}

#[test]
fn every_line_of_the_json_log_is_one_object() {
    let folder = folder(&format!(
        "[servlet.none]\nsource = \"none.wasm\"\n{SERVLET}"
    ));
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    command.args(["serve", "servlet.toml", "--log-format", "json", "-vv"]);
    let mut server = Process::connect(command.current_dir(&folder));
    let name = "t\u{1b}[2J\n{\"level\":\"ERROR\"}";
    let mut opening = initialize(HANDSHAKE);
    opening["params"]["clientInfo"]["name"] = name.into();
    server.send(&opening);
    server.next();
    server.send(&initialized());
    for tool in ["t", name] {
        server.ask("tools/call", json!({ "name": tool }));
    }
    server.leave();
    server.ended();
    let errors = server.printed();
    assert!(!errors.contains('\u{1b}'), "{errors}");
    let lines: Vec<Value> = errors
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    for line in &lines {
        assert!(
            line["level"].is_string() && line["timestamp"].is_string(),
            "{line}"
        );
        assert!(
            line["fields"]["message"].is_string() && line["target"].is_string(),
            "{line}"
        );
    }
    let has = |level: &str, text: &str| {
        lines.iter().any(|line| {
            let message = line["fields"]["message"].as_str().unwrap_or_default();
            line["level"] == level && message.contains(text)
        })
    };
    assert!(has("WARN", "servlet skipped"), "{errors}");
    assert!(has("INFO", "ended"), "{errors}");
    let ended = lines
        .iter()
        .find(|line| line["fields"]["message"] == "ended");
    assert_eq!(ended.expect("a line")["span"]["tool"], "t");
}

/// Tokens, keys, headers and masked arguments are in no log, no line and no span, at the highest log level.
#[test]
fn no_record_has_a_secret() {
    let collector = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = collector.local_addr().expect("an address");
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in collector.incoming() {
            let mut stream = stream.expect("a connection");
            let mut reader = BufReader::new(stream.try_clone().expect("a copy"));
            let (mut length, mut line) = (0, String::new());
            while reader.read_line(&mut line).expect("a line") > 2 {
                let lower = line.to_ascii_lowercase();
                if let Some(value) = lower.strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a number");
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            let _ = sender.send(body);
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    let config = format!(
        "{AUDIT}arguments = \"text\"\nmask = [\"pin\", \"deep.pin\"]\n\
         [traces]\notlp = \"http://s3cr3t-user:s3cr3t-password@{address}/\"\nheaders = {{ x-key = \"s3cr3t-header\" }}\n\
         [servlet.a]\nsource = \"a.wasm\"\nconfig = {{ token = \"s3cr3t-value\" }}\n"
    );
    for format in ["text", "json"] {
        let folder = folder(&config);
        let serving = Serving::start(folder.path(), "", &["--log-format", format, "-vvv"]);
        let arguments =
            json!({ "pin": "s3cr3t-pin", "deep": { "pin": ["s3cr3t"] }, "shown": "yes" });
        assert_eq!(serving.call(&arguments).status(), 200);
        let errors = serving.stop();
        assert!(!errors.contains(MARK), "{errors}");
        let log = fs::read_to_string(folder.path().join("audit.jsonl")).expect("lines");
        assert!(log.contains("\\\"shown\\\":\\\"yes\\\""), "{log}");
        assert!(!log.contains(MARK), "{log}");
        let spans = received.recv_timeout(PATIENCE).expect("spans");
        let spans = String::from_utf8_lossy(&spans);
        assert!(
            spans.contains("tools/call t") && !spans.contains(MARK),
            "{spans}"
        );
    }
    // Errors of the configuration.
    for wrong in [
        "[traces]\notlp = \"http://s3cr3t:s3cr3t@far.example/?s3cr3t\"\n",
        "[traces]\notlp = \"https://a.example\"\nheaders = { \"a b\" = \"s3cr3t\" }\n",
        "[traces]\notlp = \"https://a.example\"\nheaders = \"s3cr3t\"\n",
        "[audit]\nto = \"audit.jsonl\"\nsecret = \"s3cr3t\"\n",
        "[audit]\nto = \"audit.jsonl\"\nsecret = [\"s3cr3t\"]\n",
        "[audit]\nto = \"audit.jsonl\"\nsecret = \"${MCP_SERVLET_TEST_TOKEN} s3cr3t $\"\nfull = 1\n",
    ] {
        let folder = folder(&format!("{wrong}{SERVLET}"));
        for arguments in [&["config", "check"][..], &["serve", "servlet.toml"]] {
            let output = secret::run(folder.path(), arguments);
            assert!(!output.status.success(), "{wrong}: {output:?}");
            secret::assert_kept(wrong, &output);
        }
    }
}

/// An endpoint that knows its callers and keeps sessions in a store, with secrets wherever there can be one.
fn config_with_callers() -> String {
    let sha256 = Sha256::of(b"s3cr3t-key");
    format!(
        "{AUDIT}{SERVLET}[listener.l]\naddress = \"127.0.0.1:0\"\n\
         [endpoint.main]\nkind = \"http\"\nlistener = \"l\"\nauth = \"corp\"\nsession.store = \"store:main\"\n\
         headers = {{ x-user = \"${{{{ caller.subject }}}}\" }}\n\
         [auth.corp]\nresource = \"https://mcp.example/mcp\"\n\
         key = [{{ name = \"ci\", sha256 = \"{sha256}\", header = \"x-api-key\" }}]\n\
         introspection = {{ url = \"http://127.0.0.1:1/\", issuer = \"https://a.example\", client = \"mcp\", secret = \"s3cr3t-client\" }}\n\
         [store.main]\nredis = \"redis://127.0.0.1:1\"\npassword = \"s3cr3t-password\"\n\
         [server]\nstate_keys = [\"{MARK}{}=\"]\n",
        "A".repeat(37)
    )
}

/// No response, metric, line or explanation has the credentials of callers, issuers and stores, or the keys that seal what leaves the
/// process.
#[test]
fn an_endpoint_with_callers_shows_no_secret() {
    let folder = folder(&config_with_callers());
    let options = ["--operations", "127.0.0.1:0", "-vvv"];
    let serving = Serving::start_configured(folder.path(), "", &options);
    let operations = endpoint(&serving.process, "metrics on http://");
    let is_kept = |answer: &Answer| !format!("{:?}{answer:?}", answer.headers()).contains(MARK);
    let key = ("x-api-key", "s3cr3t-key");
    for (path, headers, status) in [
        ("/mcp", &[key][..], 200),
        ("/mcp", &[("x-api-key", "s3cr3t-wrong")], 401),
        ("/mcp", &[("authorization", "Bearer s3cr3t-token")], 503),
        ("/mcp", &[("authorization", "Basic s3cr3t")], 401),
        ("/mcp?access_token=s3cr3t-token", &[], 400),
        ("/mcp", &[("mcp-session-id", "s3cr3t-session"), key], 200),
    ] {
        let client = serving.http.at(path).with_all(headers);
        let call = stateless("tools/call", json!({ "name": "t", "arguments": {} }));
        let answer = client.post(&call);
        assert_eq!(answer.status(), status, "{path} {headers:?}: {answer:?}");
        assert!(is_kept(&answer), "{:?} {answer:?}", answer.headers());
    }
    for path in ["/metrics", "/ready", "/health"] {
        let answer = operations.at(path).get();
        assert_eq!(answer.status(), 200, "{path}: {answer:?}");
        assert!(is_kept(&answer), "{:?} {answer:?}", answer.headers());
    }
    let errors = serving.stop();
    assert!(!errors.is_empty() && !errors.contains(MARK), "{errors}");
    let log = fs::read_to_string(folder.path().join("audit.jsonl")).expect("lines");
    assert!(log.contains("\"ci\"") && !log.contains(MARK), "{log}");
    // The endpoint would not let a caller without credentials call `t`.
    for (arguments, code) in [
        (&["config", "check", "--load"][..], 0),
        (&["config", "explain", "servlet.toml", "t"], 1),
    ] {
        let output = secret::run(folder.path(), arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {output:?}"
        );
        secret::assert_kept(arguments, &output);
    }
}
