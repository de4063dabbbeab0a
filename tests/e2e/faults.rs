//! Servlets that fail in every way behind `servlet serve`: callers get the reason, and other calls are not affected.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use e2e::servlet_command;
use serde_json::{Value, json};
use tempfile::TempDir;
use wire::{Process, message::text};

use crate::wat::{Wat, tools};

/// The failures, and the error that the caller reads.
const FAULTS: [(&str, &str); 9] = [
    ("(loop $l (br $l))", "did not finish `call` within 500ms"),
    (
        "(loop $l (drop (memory.grow (i32.const 16))) (br $l))",
        "memory",
    ),
    (
        "(call $output_set (call $alloc (i64.const 70000)) (i64.const 70000)) (return (i32.const 0))",
        "70000",
    ),
    ("unreachable", "trapped in `call`"),
    (
        "(memory.fill (i32.const 60000) (i32.const 33) (i32.const 3))
        (call $error (i32.const 60000) (i32.const 3)) unreachable",
        "stopped in `call`: !!!",
    ),
    (
        "(i32.store8 (i32.const 60000) (i32.const 0xff))
        (call $output (i32.const 60000) (i32.const 1)) (return (i32.const 0))",
        "returned an invalid result",
    ),
    (
        "(memory.fill (i32.const 60000) (i32.const 91) (i32.const 2000))
        (call $output (i32.const 60000) (i32.const 2000)) (return (i32.const 0))",
        "recursion limit",
    ),
    ("(call $deeper)", "call stack exhausted"),
    (
        "(call $log (i64.const 0x123456789abcdef))",
        "log message is not in memory",
    ),
];

/// A request to a host that is not allowed.
const ESCAPE: &str = r#"{"url":"http://127.0.0.1:9/"}"#;

/// The imports and parts of the failing servlet.
const PARTS: &str = r#"
    (import "extism:host/env" "log_info" (func $log (param i64)))
    (func $deeper (call $deeper) (call $deeper))"#;

/// A server with a servlet that fails, one that works, and two that cannot be loaded.
struct Served {
    wire: Process,
    _folder: TempDir,
}

impl Served {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let numbered = (1..).zip(FAULTS).map(|(number, (body, _))| (number, body));
        let write = |name: &str, wat: Wat| {
            fs::write(folder.path().join(name), wat.wasm()).expect("a file");
        };
        write(
            "bad.wasm",
            tools(&numbered.collect::<Vec<_>>()).import(PARTS),
        );
        write("good.wasm", servlet("ok", "fine"));
        write("fetch.wasm", fetcher());
        let spin = "(func $spin (loop $l (br $l))) (start $spin)";
        write("slow.wasm", servlet("slow", "never").import(spin));
        fs::write(folder.path().join("broken.wasm"), "nonsense").expect("a file");
        let config = folder.path().join("servlet.toml");
        fs::write(&config, CONFIG).expect("a file");
        Self {
            wire: serve(&config),
            _folder: folder,
        }
    }

    /// Starts a call that fails.
    fn begin(&self, fault: usize) -> u64 {
        self.wire.begin_call("t", &json!({ "do": fault + 1 }))
    }

    fn assert_works(&self) {
        assert_eq!(self.wire.call("ok", &json!({})), "fine");
    }
}

const CONFIG: &str = r#"
[servlet.bad]
source = "bad.wasm"
limits = { timeout = "500ms", memory = "8MiB", output = "64KiB" }

[servlet.good]
source = "good.wasm"

[servlet.fetch]
source = "fetch.wasm"
allow = { hosts = ["api.example"] }

[servlet.slow]
source = "slow.wasm"
limits = { timeout = "500ms" }

[servlet.broken]
source = "broken.wasm"
"#;

fn serve(config: &Path) -> Process {
    let mut command = servlet_command(["serve"]);
    command.arg(config).env("RUST_LOG", "off");
    Process::start(command)
}

/// A servlet with one tool that returns a text.
pub(crate) fn servlet(tool: &str, text: &str) -> Wat {
    let tool = json!({ "name": tool, "description": text, "inputSchema": { "type": "object" } });
    let answer = json!({ "content": [{ "type": "text", "text": text }] });
    let wat = Wat::new().describe(&json!({ "tools": [tool] }).to_string());
    wat.answer(&answer.to_string())
}

fn fetcher() -> Wat {
    let import = r#"(import "extism:host/env" "http_request"
        (func $http (param i64 i64) (result i64)))"#;
    let tool = json!({ "name": "fetch", "inputSchema": { "type": "object" } });
    let wat = Wat::new()
        .import(import)
        .describe(&json!({ "tools": [tool] }).to_string());
    let send = "(drop (call $http (call $block {}) (i64.const 0))) (i32.const 0)";
    wat.export("call", ESCAPE, send)
}

fn message(answer: &Value) -> &str {
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    answer["error"]["message"].as_str().expect("a message")
}

#[test]
fn each_fault_is_returned_to_its_caller_while_other_calls_succeed() {
    let served = Served::start();
    served.wire.says("servlet skipped: `slow` does not start");
    served.wire.says("servlet skipped: cannot load `broken`");
    for (at, (body, problem)) in FAULTS.iter().enumerate() {
        let faults = [served.begin(at), served.begin(at), served.begin(at)];
        served.assert_works();
        for id in faults {
            let answer = served.wire.end(id);
            assert!(message(&answer).contains(problem), "{body}: {answer}");
        }
        let after = served.wire.call("t", &json!({ "do": 0 }));
        assert_eq!(after, "ok", "after {body}");
    }
    let escaped = served.wire.end(served.wire.begin_call("fetch", &json!({})));
    let problem = "`fetch` may not send a request to `http://127.0.0.1:9`";
    assert!(message(&escaped).contains(problem), "{escaped}");
    served.assert_works();
    assert!(served.wire.finish().success());
}

/// Opens a file in the directory of the servlet, and exits with a code if that fails.
fn opens(path: &str) -> String {
    let bytes = path.bytes().zip(60000..);
    let bytes: Vec<_> = bytes
        .map(|(byte, at)| format!("(i32.store8 (i32.const {at}) (i32.const {byte}))"))
        .collect();
    // Relative to descriptor 3, following symbolic links, with the right to read.
    format!(
        "{} (if (call $open (i32.const 3) (i32.const 1) (i32.const 60000) (i32.const {}) (i32.const 0)
            (i64.const 2) (i64.const 2) (i32.const 0) (i32.const 61000)) (then (return (i32.const 7))))",
        bytes.concat(),
        path.len()
    )
}

#[test]
fn files_outside_of_allowed_directories_cannot_be_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).expect("a folder");
    fs::write(folder.path().join("secret"), "s").expect("a file");
    fs::write(inside.join("file"), "f").expect("a file");
    let mut paths = vec!["file", "../secret", "/secret", "../inside/../secret"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../secret", inside.join("link")).expect("a link");
        std::os::unix::fs::symlink("..", inside.join("up")).expect("a link");
        paths.extend(["link", "up/secret"]);
    }
    let import = r#"(import "wasi_snapshot_preview1" "path_open"
        (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))"#;
    let bodies: Vec<_> = paths.iter().map(|path| opens(path)).collect();
    let actions: Vec<_> = (1..).zip(bodies.iter().map(String::as_str)).collect();
    let wasm = tools(&actions).import(import).wasm();
    fs::write(folder.path().join("files.wasm"), wasm).expect("a file");
    let config = folder.path().join("servlet.toml");
    let allow = "allow = { paths = [{ host = \"inside\", guest = \"/data\" }] }";
    let text = format!("[servlet.files]\nsource = \"files.wasm\"\n{allow}\n");
    fs::write(&config, text).expect("a file");
    let wire = serve(&config);
    assert_eq!(wire.call("t", &json!({ "do": 1 })), "ok", "it is inside");
    for (number, path) in (1..).zip(paths).skip(1) {
        let refused = wire.end(wire.begin_call("t", &json!({ "do": number })));
        assert!(message(&refused).contains("code: 7"), "{path}: {refused}");
    }
    assert!(wire.finish().success());
}

/// Sends pings while two calls fail all the time.
fn ping_under(served: &Served, fault: usize) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    served.wire.end(served.begin(fault));
                }
            });
        }
        for _ in 0..100 {
            served.wire.ask("ping", json!({}));
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn pings_are_answered_while_something_goes_wrong() {
    let served = Served::start();
    for fault in 0..FAULTS.len() {
        ping_under(&served, fault);
    }
    assert!(served.wire.finish().success());
}

#[test]
fn cancelled_calls_are_not_answered_and_the_others_are() {
    // Each call logs its letter while it occupies the only instance, so that the next ones wait.
    let spin = |letter: char| {
        format!(
            "(i32.store8 (i32.const 60000) (i32.const {}))
            (call $log (call $block (i32.const 60000) (i32.const 1)))
            (loop $l (br $l))",
            u32::from(letter)
        )
    };
    let letters = ['A', 'B', 'C', 'D', 'E'];
    let bodies = letters.map(spin);
    let actions: Vec<_> = (1..).zip(bodies.iter().map(String::as_str)).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let wasm = tools(&actions).import(PARTS).wasm();
    fs::write(folder.path().join("a.wasm"), wasm).expect("a file");
    let config = folder.path().join("servlet.toml");
    let one = "[servlet.a]\nsource = \"a.wasm\"\nlimits = { timeout = \"none\", instances = { max = 1 } }\n";
    fs::write(&config, one).expect("a file");
    let mut command = servlet_command(["serve"]);
    command.arg(&config).env("RUST_LOG", "servlet=info");
    let wire = Process::start(command);
    for (number, letter) in (1..).zip(letters) {
        let running = wire.begin_call("t", &json!({ "do": number }));
        wire.says(&format!("servlet: {letter} "));
        let queued: Vec<_> = (0..6)
            .map(|_| wire.begin_call("t", &json!({ "do": 0 })))
            .collect();
        let (cancelled, waiting) = queued.split_at(3);
        for id in cancelled.iter().chain([&running]) {
            wire.tell("notifications/cancelled", json!({ "requestId": id }));
        }
        for id in waiting {
            assert_eq!(text(&wire.end(*id)), "ok");
        }
    }
    assert!(wire.finish().success());
}
