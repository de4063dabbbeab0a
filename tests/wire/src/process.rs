//! Lines over the standard streams of a process.

use std::{
    borrow::BorrowMut,
    collections::BTreeSet,
    io::{BufRead as _, BufReader, ErrorKind, Read, Write as _},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use puppet::{PATIENCE, eventually_blocking};
use serde_json::{Value, json};

use crate::message::{
    HANDSHAKE, able, initialize, initialized, notification, numbered, request, response, stateless,
    text,
};

/// A server, and a client on its standard streams that sees every line: duplicate answers, answers without a request, and the log.
/// Threads can share it. The server is killed when this value is dropped.
pub struct Process {
    child: Child,
    input: Mutex<Option<ChildStdin>>,
    heard: Arc<(Mutex<Heard>, Condvar)>,
    ids: AtomicU64,
    /// The capabilities of a client since 2026-07-28.
    stateless: Option<Value>,
    patience: Duration,
}

/// What has arrived.
#[derive(Debug, Default)]
struct Heard {
    /// The messages that the test has not read yet.
    messages: Vec<Value>,
    /// The ids of all answers.
    answered: BTreeSet<String>,
    /// Other lines, and answers without a request.
    surplus: Vec<String>,
    /// Standard error.
    printed: String,
    /// How many of the two streams have ended.
    ended: usize,
}

impl Heard {
    fn take(&mut self, line: &str) {
        let message = serde_json::from_str::<Value>(line).unwrap_or_default();
        let id = message["id"].to_string();
        if message["method"].is_string() || (id != "null" && self.answered.insert(id)) {
            self.messages.push(message);
        } else {
            self.surplus.push(line.to_owned());
        }
    }

    fn print(&mut self, line: &str) {
        self.printed.extend([line, "\n"]);
    }

    /// Takes the first message of this kind.
    fn find(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        let at = self.messages.iter().position(is_wanted)?;
        Some(self.messages.remove(at))
    }
}

impl Process {
    /// Starts a server, and opens a session.
    pub fn start(command: impl BorrowMut<Command>) -> Self {
        let process = Self::connect(command);
        process.open(json!({}));
        process
    }

    /// Starts a server for a client since 2026-07-28 with these capabilities.
    pub fn stateless(command: impl BorrowMut<Command>, capabilities: Value) -> Self {
        let mut process = Self::connect(command);
        process.stateless = Some(capabilities);
        process
    }

    /// Starts a server, and sends nothing.
    pub fn connect(mut command: impl BorrowMut<Command>) -> Self {
        let command: &mut Command = command.borrow_mut();
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = loop {
            match command.spawn() {
                // A process that another test is starting still has this test's file open for writing.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => thread::yield_now(),
                started => break started.expect("the server starts"),
            }
        };
        let heard = Arc::default();
        listen(child.stdout.take().expect("a pipe"), &heard, Heard::take);
        listen(child.stderr.take().expect("a pipe"), &heard, Heard::print);
        Self {
            input: Mutex::new(child.stdin.take()),
            child,
            heard,
            ids: AtomicU64::new(1),
            stateless: None,
            patience: PATIENCE,
        }
    }

    /// Waits this long instead of a minute, for what takes longer on a busy machine.
    #[must_use]
    pub fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Opens a session with these capabilities, and returns the result of the server.
    pub fn open(&self, capabilities: Value) -> Value {
        self.send(&able(initialize(HANDSHAKE), capabilities));
        let answer = self.answer(&0.into());
        assert!(answer["result"].is_object(), "{answer}");
        self.send(&initialized());
        answer["result"].clone()
    }

    /// Sends a message without changes.
    pub fn send(&self, message: &Value) {
        let mut input = self.input.lock().expect("no panic");
        let input = input.as_mut().expect("the client is still here");
        let sent = input.write_all(format!("{message}\n").as_bytes());
        sent.expect("the server reads");
    }

    /// Sends a notification.
    pub fn tell(&self, method: &str, params: Value) {
        self.send(&notification(method, params));
    }

    /// Sends a request, and does not wait for its answer. Returns its id.
    pub fn begin(&self, method: &str, params: Value) -> u64 {
        let message = match &self.stateless {
            Some(capabilities) => able(stateless(method, params), capabilities.clone()),
            None => request(method, params),
        };
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        self.send(&numbered(id, message));
        id
    }

    /// Sends a call, and does not wait for its answer. Returns its id.
    pub fn begin_call(&self, tool: &str, arguments: &Value) -> u64 {
        let params = json!({ "name": tool, "arguments": arguments });
        self.begin("tools/call", params)
    }

    /// Waits for the answer to a request.
    pub fn end(&self, id: u64) -> Value {
        self.answer(&id.into())
    }

    fn answer(&self, id: &Value) -> Value {
        let is_answer = |message: &Value| message.get("method").is_none() && message["id"] == *id;
        self.wait(&format!("an answer to {id}"), |heard| heard.find(is_answer))
    }

    /// Sends a request, and waits for its answer.
    pub fn ask(&self, method: &str, params: Value) -> Value {
        self.end(self.begin(method, params))
    }

    /// The text in the answer to a call.
    pub fn call(&self, tool: &str, arguments: &Value) -> String {
        text(&self.end(self.begin_call(tool, arguments))).to_owned()
    }

    /// Sends a request, and gives results to the requests of the server. Returns the messages before the answer, and the answer.
    pub fn converse(
        &self,
        method: &str,
        params: Value,
        mut result: impl FnMut(&Value) -> Value,
    ) -> (Vec<Value>, Value) {
        let id = self.begin(method, params);
        let mut before = Vec::new();
        loop {
            let message = self.next();
            if message.get("method").is_none() {
                assert_eq!(message["id"], id, "{message}");
                return (before, message);
            }
            if message.get("id").is_some() {
                self.send(&response(&message, result(&message)));
            }
            before.push(message);
        }
    }

    /// Whether a request has been answered.
    pub fn is_answered(&self, id: u64) -> bool {
        let heard = self.heard.0.lock().expect("no panic");
        heard.answered.contains(&id.to_string())
    }

    /// Waits for the next message, of any kind.
    pub fn next(&self) -> Value {
        self.wait("a message", |heard| heard.find(|_| true))
    }

    /// Waits for a notification, and takes it.
    pub fn wait_for(&self, method: &str) -> Value {
        self.wait(method, |heard| {
            heard.find(|message| message["method"] == method)
        })
    }

    /// Waits until the server has written this to standard error.
    pub fn says(&self, text: &str) {
        self.wait(text, |heard| heard.printed.contains(text).then_some(()));
    }

    /// The first line with this that the server writes to standard error.
    pub fn line(&self, text: &str) -> String {
        self.wait(text, |heard| {
            let mut lines = heard.printed.lines();
            let line = lines.find(|line| line.contains(text))?;
            Some(line.to_owned())
        })
    }

    /// The rest of the first line in which the server writes this to standard error.
    pub fn said_after(&self, text: &str) -> String {
        let line = self.line(text);
        let (_, rest) = line.split_once(text).expect("the text");
        rest.to_owned()
    }

    /// The process id of the server.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends the server a signal, such as `TERM`.
    pub fn signal(&self, name: &str) {
        let id = self.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.expect("there is a `kill`").success());
    }

    /// Ends the server at once, as a machine does that loses power.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }

    /// Closes standard input.
    pub fn leave(&self) {
        drop(self.input.lock().expect("no panic").take());
    }

    /// Waits for the server to end. Standard input is not closed for that.
    pub fn ended(&mut self) -> ExitStatus {
        eventually_blocking("the end of the server", || {
            self.child.try_wait().expect("its own child")
        })
    }

    /// All that the server has written to standard error, once it has ended.
    pub fn printed(&self) -> String {
        self.wait("the end of its streams", |heard| {
            (heard.ended == 2).then(|| heard.printed.clone())
        })
    }

    /// Closes standard input, waits for the server to end, and checks that it sent no answers without a request.
    pub fn finish(mut self) -> ExitStatus {
        self.leave();
        let status = self.ended();
        self.printed();
        let heard = self.heard.0.lock().expect("no panic");
        assert_eq!(heard.surplus, [] as [String; 0]);
        let mut unread = heard.messages.iter();
        let unread = unread.find(|message| message.get("id").is_some());
        assert_eq!(unread, None, "the test did not read it");
        drop(heard);
        status
    }

    fn wait<T>(&self, what: &str, mut take: impl FnMut(&mut Heard) -> Option<T>) -> T {
        let start = Instant::now();
        let (heard, news) = &*self.heard;
        let mut heard = heard.lock().expect("no panic");
        loop {
            if let Some(found) = take(&mut heard) {
                return found;
            }
            let left = self.patience.saturating_sub(start.elapsed());
            let is_over = left.is_zero() || heard.ended == 2;
            assert!(!is_over, "no {what}: {heard:#?}");
            heard = news.wait_timeout(heard, left).expect("no panic").0;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Passes on the lines of a stream, and its end.
fn listen(
    stream: impl Read + Send + 'static,
    heard: &Arc<(Mutex<Heard>, Condvar)>,
    take: fn(&mut Heard, &str),
) {
    let heard = Arc::clone(heard);
    let tell = move |act: &dyn Fn(&mut Heard)| {
        act(&mut heard.0.lock().expect("no panic"));
        heard.1.notify_all();
    };
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            tell(&|heard| take(heard, &line));
        }
        tell(&|heard| heard.ended += 1);
    });
}
