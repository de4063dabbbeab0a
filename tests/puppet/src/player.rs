//! Turns messages into what the server sends.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::script::{Reply, Script};

/// One thing that the server does.
#[derive(Debug)]
pub(crate) enum Act {
    Wait(Duration),
    Stderr(String),
    /// Over HTTP, the messages that follow are events.
    Stream,
    Message(String),
    /// An event without a message, at which a client can resume the stream after these milliseconds.
    Checkpoint(String, u64),
    Status(Box<Reply>),
    Exit(i32),
    /// Nothing follows.
    End,
}

/// Waits as long as a script says.
pub(crate) async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Where the acts for a message go.
pub(crate) type Stage = UnboundedSender<Act>;

/// The script, and how far it has been played.
#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) script: Script,
    pub(crate) log: Vec<Value>,
    counts: HashMap<String, usize>,
    client: Value,
    /// The id of the last `subscriptions/listen`.
    subscription: Value,
    /// Replies that wait for the client's answer to a request.
    asked: HashMap<String, (Reply, Value, Stage)>,
    /// Replies that wait for a GET with the id of an event.
    interrupted: HashMap<String, (Reply, Value)>,
}

impl Player {
    pub(crate) fn new(script: Script) -> Self {
        Self {
            script,
            log: Vec::new(),
            counts: HashMap::new(),
            client: Value::Null,
            subscription: Value::Null,
            asked: HashMap::new(),
            interrupted: HashMap::new(),
        }
    }

    /// Plays what the script has for a message.
    pub(crate) fn play(&mut self, message: Value, stage: Stage) {
        self.log.push(message.clone());
        if message["method"].is_null() {
            self.resume(&message);
        } else if message.get("id").is_some() {
            self.answer(message, stage);
        }
    }

    fn answer(&mut self, request: Value, stage: Stage) {
        self.remember_client(&request["params"]);
        let method = request["method"].as_str().unwrap_or_default().to_owned();
        if method == "subscriptions/listen" {
            self.subscription = request["id"].clone();
        }
        let count = self.counts.entry(method.clone()).or_default();
        *count += 1;
        let replies = self.script.replies.get(&method);
        let reply = replies.and_then(|all| all.get(*count - 1).or(all.last()));
        let reply = reply.cloned();
        let reply = reply.unwrap_or_else(|| self.standard(&method, &request["params"]));
        let mut context = json!({ "request": request, "count": self.counts[&method] });
        context["client"] = self.client.clone();
        context["subscription"] = self.subscription.clone();
        begin(&reply, &context, &stage);
        match &reply.ask {
            _ if reply.resumes_ms.is_some() => self.interrupt(reply, context, &stage),
            Some(ask) => {
                let id = format!("puppet-{}", self.asked.len() + 1);
                let mut ask = fill(ask, &context);
                ask["jsonrpc"] = "2.0".into();
                ask["id"] = id.as_str().into();
                send(&stage, Act::Stream);
                send(&stage, Act::Message(ask.to_string()));
                self.asked.insert(id, (reply, context, stage));
            }
            None => finish(reply, &context, &stage),
        }
    }

    /// Ends a stream before its answer.
    fn interrupt(&mut self, reply: Reply, context: Value, stage: &Stage) {
        let id = format!("event-{}", self.interrupted.len() + 1);
        let retry = reply.resumes_ms.unwrap_or_default();
        send(stage, Act::Stream);
        send(stage, Act::Checkpoint(id.clone(), retry));
        send(stage, Act::End);
        self.interrupted.insert(id, (reply, context));
    }

    /// Goes on with a stream after an event. Returns whether there is such a stream.
    pub(crate) fn go_on_after(&mut self, event: &str, stage: &Stage) -> bool {
        let interrupted = self.interrupted.remove(event);
        let is_known = interrupted.is_some();
        if let Some((reply, context)) = interrupted {
            finish(reply, &context, stage);
        }
        is_known
    }

    /// Goes on with the reply that has waited for this response.
    fn resume(&mut self, response: &Value) {
        let id = response["id"].as_str().unwrap_or_default();
        if let Some((reply, mut context, stage)) = self.asked.remove(id) {
            let answer = response.get("result").or(response.get("error"));
            context["answer"] = answer.cloned().unwrap_or_default();
            finish(reply, &context, &stage);
        }
    }

    /// Finishes all replies that wait for an answer of the client, without that answer.
    pub(crate) fn give_up(&mut self) {
        for (_, (reply, context, stage)) in self.asked.drain() {
            finish(reply, &context, &stage);
        }
    }

    fn remember_client(&mut self, params: &Value) {
        let stateless = &params["_meta"]["io.modelcontextprotocol/clientInfo"];
        for info in [&params["clientInfo"], stateless] {
            if info.is_object() {
                self.client = info.clone();
            }
        }
    }

    /// The reply to a method that the script does not list.
    fn standard(&self, method: &str, params: &Value) -> Reply {
        let script = &self.script;
        let mut result = match method {
            "ping" => json!({}),
            "initialize" if script.has_version(false) => json!({
                "protocolVersion": script.initial_version(&params["protocolVersion"]),
                "capabilities": script.capabilities,
                "serverInfo": script.info,
            }),
            "server/discover" if script.has_version(true) => json!({
                "resultType": "complete",
                "supportedVersions": script.versions,
                "capabilities": script.capabilities,
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": { "io.modelcontextprotocol/serverInfo": script.info },
            }),
            _ => {
                let error = json!({ "code": -32601, "message": format!("no method {method}") });
                return Reply {
                    error: Some(error),
                    ..Reply::default()
                };
            }
        };
        if let Some(instructions) = script.instructions.as_ref().filter(|_| method != "ping") {
            result["instructions"] = instructions.as_str().into();
        }
        Reply {
            result: Some(result),
            ..Reply::default()
        }
    }
}

/// What comes before the answer.
pub(crate) fn begin(reply: &Reply, context: &Value, stage: &Stage) {
    if reply.sse || reply.cut || !reply.before.is_empty() {
        send(stage, Act::Stream);
    }
    for line in &reply.stderr {
        send(stage, Act::Stderr(line.clone()));
    }
    for message in &reply.before {
        let mut message = fill(message, context);
        // A string is sent as a line that is not JSON.
        let text = message.as_str().map(str::to_owned);
        if text.is_none() {
            message["jsonrpc"] = "2.0".into();
        }
        send(
            stage,
            Act::Message(text.unwrap_or_else(|| message.to_string())),
        );
    }
    for tick in 1..=reply.ticks {
        let token = &context["request"]["params"]["_meta"]["progressToken"];
        let params = json!({ "progressToken": token, "progress": tick });
        let report =
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        send(stage, Act::Wait(Duration::from_millis(100)));
        send(stage, Act::Message(report.to_string()));
    }
    if reply.wait_ms > 0 {
        send(stage, Act::Wait(Duration::from_millis(reply.wait_ms)));
    }
}

fn finish(reply: Reply, context: &Value, stage: &Stage) {
    if let Some(code) = reply.exit {
        send(stage, Act::Exit(code));
    }
    if reply.status.is_some() {
        send(stage, Act::Status(Box::new(reply)));
        return;
    }
    let id = &context["request"]["id"];
    if let Some(line) = &reply.line {
        send(stage, Act::Message(line.replace("$id", &id.to_string())));
    }
    for (key, value) in [("result", &reply.result), ("error", &reply.error)] {
        if let Some(value) = value {
            let message = json!({ "jsonrpc": "2.0", "id": id, key: fill(value, context) });
            send(stage, Act::Message(message.to_string()));
        }
    }
    let answers = reply.line.is_some() || reply.result.is_some() || reply.error.is_some();
    if answers || reply.cut {
        send(stage, Act::End);
    }
}

/// A value with its `$` strings replaced.
fn fill(value: &Value, context: &Value) -> Value {
    match value {
        Value::String(text) => filled_text(text, context).unwrap_or_else(|| value.clone()),
        Value::Array(items) => items.iter().map(|item| fill(item, context)).collect(),
        Value::Object(members) if members.contains_key("$repeat") => {
            let (text, times) = (&members["$repeat"][0], &members["$repeat"][1]);
            let times = usize::try_from(times.as_u64().unwrap_or_default());
            let text = text.as_str().unwrap_or_default();
            text.repeat(times.unwrap_or_default()).into()
        }
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(key, value)| (key.clone(), fill(value, context)))
                .collect()
        }
        _ => value.clone(),
    }
}

fn filled_text(text: &str, context: &Value) -> Option<Value> {
    let path = text.strip_prefix('$')?;
    let (name, pointer) = path.split_at(path.find('/').unwrap_or(path.len()));
    let value = match name {
        "id" => &context["request"]["id"],
        "count" => return Some(context["count"].to_string().into()),
        "environment" => return Some(std::env::vars().collect()),
        "params" => &context["request"]["params"],
        "client" => &context["client"],
        "subscription" => &context["subscription"],
        "answer" => &context["answer"],
        _ => return None,
    };
    Some(value.pointer(pointer).cloned().unwrap_or_default())
}

fn send(stage: &Stage, act: Act) {
    // An error means that the client has disconnected.
    let _ = stage.send(act);
}
