//! A client of `servlet serve` that writes and reads single messages, and shows all of them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use e2e::servlet_command;
use serde_json::{Value, json};

use crate::streams::PATIENCE;

/// A connection to a server of one servlet.
pub(crate) struct Pipe {
    child: Child,
    input: ChildStdin,
    /// The lines that the server writes.
    output: Receiver<String>,
    /// The client's metadata in requests since 2026-07-28.
    meta: Option<Value>,
    next: u64,
}

impl Pipe {
    fn open(servlet: &Path, options: &[&str]) -> Self {
        let mut command = servlet_command(["serve"]);
        command.arg(servlet).args(options).env("RUST_LOG", "off");
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a server");
        let input = child.stdin.take().expect("a pipe");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let (sender, output) = channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // An error means that the test has ended.
                let _ = sender.send(line);
            }
        });
        Self {
            child,
            input,
            output,
            meta: None,
            next: 1,
        }
    }

    /// A client up to 2025-11-25 with these capabilities.
    pub(crate) fn legacy(servlet: &Path, capabilities: Value, options: &[&str]) -> Self {
        let mut pipe = Self::open(servlet, options);
        let client = json!({ "name": "pipe", "version": "1.0" });
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client,
        });
        pipe.request("initialize", params);
        assert!(pipe.receive()["result"].is_object());
        pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        pipe
    }

    /// A client since 2026-07-28.
    pub(crate) fn modern(servlet: &Path, capabilities: Value) -> Self {
        let mut pipe = Self::open(servlet, &[]);
        pipe.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/clientInfo": { "name": "pipe", "version": "2.0" },
        }));
        pipe
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("a server that reads");
    }

    pub(crate) fn receive(&mut self) -> Value {
        let line = self.output.recv_timeout(PATIENCE).expect("a message");
        serde_json::from_str(&line).expect("JSON")
    }

    pub(crate) fn request(&mut self, method: &str, mut params: Value) {
        if let Some(meta) = &self.meta {
            let mut all = meta.clone();
            if let Some(own) = params["_meta"].as_object() {
                all.as_object_mut().expect("an object").extend(own.clone());
            }
            params["_meta"] = all;
        }
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    /// Sends a request; returns the messages before the response, and the response.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> (Vec<Value>, Value) {
        self.converse(method, params, |question| panic!("{question}"))
    }

    /// Like [`Pipe::ask`]; requests that the server sends meanwhile get these results.
    pub(crate) fn converse(
        &mut self,
        method: &str,
        params: Value,
        mut answer: impl FnMut(&Value) -> Value,
    ) -> (Vec<Value>, Value) {
        self.request(method, params);
        let mut before = Vec::new();
        loop {
            let message = self.receive();
            if message.get("method").is_none() {
                return (before, message);
            }
            if let Some(id) = message.get("id") {
                let result = answer(&message);
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
            before.push(message);
        }
    }

    /// Calls the tool; like [`Pipe::ask`].
    pub(crate) fn call(&mut self, params: Value) -> (Vec<Value>, Value) {
        self.ask("tools/call", params)
    }

    /// Calls a tool and returns its result.
    pub(crate) fn result(&mut self, params: Value) -> Value {
        let (_, response) = self.call(params);
        assert!(response["result"].is_object(), "{response}");
        response["result"].clone()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // The server ends with its input. If a test fails earlier, it must not keep running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

pub(crate) fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}
