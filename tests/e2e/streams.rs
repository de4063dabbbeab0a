//! A client on the standard streams of a server that sees every line, including duplicate answers and answers without
//! a request.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use puppet::eventually_blocking;
use serde_json::{Value, json};

/// Longer than anything takes on a busy machine, including a build.
pub(crate) const PATIENCE: Duration = Duration::from_mins(10);

/// Waits for a server to end.
fn end(process: &mut Child) -> ExitStatus {
    eventually_blocking("the end of the server", || {
        process.try_wait().expect("its own child")
    })
}

/// A server and the pipes to it.
pub(crate) struct Wire {
    process: Child,
    input: Mutex<Option<ChildStdin>>,
    heard: Arc<(Mutex<Heard>, Condvar)>,
    ids: AtomicU64,
    /// The client's metadata in requests of a stateless client.
    meta: Option<Value>,
}

/// Messages that have arrived and that no test has read yet.
#[derive(Debug, Default)]
struct Heard {
    answers: BTreeMap<u64, Value>,
    answered: BTreeSet<u64>,
    notifications: Vec<Value>,
    /// Answers without a request.
    surplus: Vec<String>,
    /// Standard error.
    printed: String,
}

impl Heard {
    fn take(&mut self, line: &str) {
        let message = serde_json::from_str::<Value>(line).unwrap_or_default();
        match message["id"].as_u64() {
            Some(id) if self.answered.insert(id) => drop(self.answers.insert(id, message)),
            None if message["method"].is_string() => self.notifications.push(message),
            _ => self.surplus.push(line.to_owned()),
        }
    }
}

impl Wire {
    /// Starts a server and opens a session.
    pub(crate) fn start(command: Command) -> Self {
        let wire = Self::connect(command);
        wire.shake_hands();
        wire
    }

    /// Starts a server for a client of protocol version 2026-07-28, which describes itself in each request.
    pub(crate) fn stateless(command: Command) -> Self {
        let mut wire = Self::connect(command);
        wire.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
        }));
        wire
    }

    /// Starts a server and sends nothing.
    pub(crate) fn connect(mut command: Command) -> Self {
        let streams = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = streams.spawn().expect("the server starts");
        let heard = Arc::<(Mutex<Heard>, Condvar)>::default();
        let output = process.stdout.take().expect("a pipe");
        listen(output, &heard, Heard::take);
        let errors = process.stderr.take().expect("a pipe");
        listen(errors, &heard, |heard, line| {
            heard.printed.extend([line, "\n"]);
        });
        Self {
            input: Mutex::new(process.stdin.take()),
            process,
            heard,
            ids: AtomicU64::new(0),
            meta: None,
        }
    }

    /// Opens a session and returns the answer of the server.
    pub(crate) fn shake_hands(&self) -> Value {
        let client = json!({ "name": "wire", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let answer = self.ask("initialize", params);
        self.tell("notifications/initialized", json!({}));
        answer["result"].clone()
    }

    /// Sends a notification.
    pub(crate) fn tell(&self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and does not wait for its answer.
    pub(crate) fn begin(&self, method: &str, mut params: Value) -> u64 {
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Waits for the answer to a request.
    pub(crate) fn end(&self, id: u64) -> Value {
        self.wait(&format!("an answer to {id}"), |heard| {
            heard.answers.remove(&id)
        })
    }

    /// Whether a request has been answered.
    pub(crate) fn is_answered(&self, id: u64) -> bool {
        let heard = self.heard.0.lock().expect("no panic");
        heard.answered.contains(&id)
    }

    pub(crate) fn ask(&self, method: &str, params: Value) -> Value {
        self.end(self.begin(method, params))
    }

    pub(crate) fn begin_call(&self, tool: &str, arguments: &Value) -> u64 {
        self.begin(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// The text of a tool's result.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> String {
        text(&self.end(self.begin_call(tool, arguments)))
    }

    /// Waits for a notification and takes it.
    pub(crate) fn wait_for(&self, method: &str) -> Value {
        self.wait(method, |heard| {
            let mut notifications = heard.notifications.iter();
            let at = notifications.position(|message| message["method"] == method)?;
            Some(heard.notifications.remove(at))
        })
    }

    /// Waits until the server has written this to standard error.
    pub(crate) fn says(&self, text: &str) {
        self.wait(text, |heard| heard.printed.contains(text).then_some(()));
    }

    /// The rest of the line in which the server writes this to standard error.
    pub(crate) fn said_after(&self, text: &str) -> String {
        self.wait(text, |heard| {
            let (line, _) = heard.printed.split_once(text)?.1.split_once('\n')?;
            Some(line.to_owned())
        })
    }

    /// Closes standard input.
    pub(crate) fn leave(&self) {
        drop(self.input.lock().expect("no panic").take());
    }

    /// Closes standard input, waits for the server to end, and checks that it sent no answers without a request.
    pub(crate) fn finish(mut self) -> ExitStatus {
        self.leave();
        let status = end(&mut self.process);
        let heard = self.heard.0.lock().expect("no panic");
        assert_eq!(heard.surplus, [] as [String; 0]);
        assert_eq!(
            heard.answers,
            BTreeMap::new(),
            "answers that the test did not read"
        );
        status
    }

    /// Sends the server a signal, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.expect("there is a `kill`").success());
    }

    /// Waits for the server to end while standard input is open.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        end(&mut self.process)
    }

    fn send(&self, message: &Value) {
        let mut input = self.input.lock().expect("no panic");
        let input = input.as_mut().expect("the client is still here");
        let sent = input.write_all(format!("{message}\n").as_bytes());
        sent.expect("the server reads");
    }

    fn wait<T>(&self, what: &str, mut take: impl FnMut(&mut Heard) -> Option<T>) -> T {
        let start = Instant::now();
        let (heard, news) = &*self.heard;
        let mut heard = heard.lock().expect("no panic");
        loop {
            if let Some(found) = take(&mut heard) {
                return found;
            }
            let left = PATIENCE.saturating_sub(start.elapsed());
            assert!(!left.is_zero(), "no {what}: {heard:#?}");
            heard = news.wait_timeout(heard, left).expect("no panic").0;
        }
    }
}

impl Drop for Wire {
    /// If a test fails, the server must not keep running.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The text in the answer to a call.
pub(crate) fn text(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Passes on lines until the stream ends.
fn listen(
    stream: impl std::io::Read + Send + 'static,
    heard: &Arc<(Mutex<Heard>, Condvar)>,
    take: fn(&mut Heard, &str),
) {
    let heard = Arc::clone(heard);
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            take(&mut heard.0.lock().expect("no panic"), &line);
            heard.1.notify_all();
        }
    });
}
