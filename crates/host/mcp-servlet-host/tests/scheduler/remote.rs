//! A remote whose calls take as long as a plan says, and a client that watches the progress.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_servlet_bundle::RpcError;
use mcp_servlet_call::{CallErrorKind, JsonObject, Listener, Notification, RequestMeta, Sending};
use mcp_servlet_host::{
    Answer as Answering, CallToolResult, CompleteResult, GetPromptResult, ReadResourceResult,
    Remote, RemoteLists, ResourceWatch, Tool,
};
use serde_json::{Value, json};
use tokio::{
    sync::{broadcast, watch},
    time::Instant,
};

use super::{Answer, Graph, name_of};

/// What has happened to a call, and when.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line {
    pub(super) milliseconds: u64,
    pub(super) what: What,
    pub(super) call: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    Began,
    Asked,
    Ended,
    Stopped,
}

/// The time since the beginning. tokio's timers have whole milliseconds.
pub(super) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).expect("it is short")
}

/// Answers calls.
#[derive(Debug)]
pub(super) struct Answers {
    graph: Graph,
    lists: watch::Sender<Arc<RemoteLists>>,
    start: Instant,
    log: Mutex<Vec<Line>>,
}

/// Notes that a call was stopped, unless it has ended.
struct Open<'a> {
    answers: &'a Answers,
    call: &'a str,
    has_ended: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.answers.note(What::Stopped, self.call);
        }
    }
}

impl Answers {
    pub(super) fn new(graph: Graph, start: Instant) -> Self {
        let tool = |name: &str, is_read_only: bool| {
            let tool = json!({
                "name": name,
                "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": is_read_only },
            });
            Tool::new(tool.as_object().cloned().expect("an object")).expect("a tool")
        };
        let mut lists = RemoteLists::default();
        "2026-07-28".clone_into(&mut lists.protocol);
        lists.tools = vec![tool("read", true), tool("write", false)];
        Self {
            graph,
            lists: watch::Sender::new(Arc::new(lists)),
            start,
            log: Mutex::default(),
        }
    }

    pub(super) fn log(&self) -> Vec<Line> {
        self.log.lock().expect("no panic").clone()
    }

    fn note(&self, what: What, call: &str) {
        let line = Line {
            milliseconds: milliseconds(self.start.elapsed()),
            what,
            call: call.to_owned(),
        };
        self.log.lock().expect("no panic").push(line);
    }
}

impl Remote for Answers {
    fn name(&self) -> &'static str {
        "m"
    }

    fn origin(&self) -> &'static str {
        "in this process"
    }

    fn outage(&self) -> Option<&'static str> {
        None
    }

    fn lists(&self) -> watch::Receiver<Arc<RemoteLists>> {
        self.lists.subscribe()
    }

    fn call<'a>(
        &'a self,
        _tool: &'a str,
        arguments: Option<&'a JsonObject>,
        request_meta: &'a RequestMeta,
    ) -> Answering<'a, CallToolResult> {
        let arguments = arguments.expect("arguments");
        let text = arguments["call"].as_str().expect("a name");
        let call = self.graph.calls().find(|call| name_of(*call) == text);
        let call = call.unwrap_or_else(|| panic!("no call {text}"));
        assert_eq!(Value::from(arguments.clone()), self.graph.inputs(call));
        let plan = self.graph.plan(call);
        Box::pin(async move {
            let mut open = Open {
                answers: self,
                call: text,
                has_ended: false,
            };
            self.note(What::Began, text);
            tokio::time::sleep(Duration::from_millis(plan.milliseconds)).await;
            open.has_ended = true;
            if plan.asks && request_meta.request_state.is_none() {
                self.note(What::Asked, text);
                let requests = json!({ "q": { "method": "elicitation/create", "params": {} } });
                let asks = json!({ "resultType": "input_required", "inputRequests": requests, "requestState": text });
                return Ok(CallToolResult::new(
                    asks.as_object().cloned().expect("an object"),
                ));
            }
            if plan.asks {
                assert_eq!(request_meta.request_state.as_deref(), Some(text));
                let responses =
                    Value::from(request_meta.input_responses.clone().expect("responses"));
                assert_eq!(responses, json!({ "q": { "action": "accept" } }));
            }
            self.note(What::Ended, text);
            let result = match plan.answer {
                Answer::Result => json!({ "content": [], "structuredContent": { "call": text } }),
                Answer::ErrorResult => {
                    json!({ "content": [{ "type": "text", "text": "no" }], "isError": true })
                }
                Answer::Error => {
                    let fault = RpcError {
                        code: RpcError::INTERNAL,
                        message: "broken".to_owned(),
                        data: None,
                    };
                    let fault = Box::new(fault);
                    return Err(CallErrorKind::Fault { fault }.at("m", Some("call")));
                }
            };
            Ok(CallToolResult::new(
                result.as_object().cloned().expect("an object"),
            ))
        })
    }

    fn read_resource<'a>(
        &'a self,
        _uri: &'a str,
        _request_meta: &'a RequestMeta,
    ) -> Answering<'a, ReadResourceResult> {
        unreachable!("no step reads a resource")
    }

    fn get_prompt<'a>(
        &'a self,
        _prompt: &'a str,
        _arguments: Option<&'a JsonObject>,
        _request_meta: &'a RequestMeta,
    ) -> Answering<'a, GetPromptResult> {
        unreachable!("no step has a prompt")
    }

    fn complete<'a>(&'a self, _params: &'a JsonObject) -> Answering<'a, CompleteResult> {
        unreachable!("no step completes")
    }

    fn watch_resource(&self, _uri: &str) -> ResourceWatch {
        ResourceWatch::new(())
    }

    fn updated_resources(&self) -> broadcast::Receiver<String> {
        broadcast::channel(1).1
    }
}

/// The progress that a client sees.
#[derive(Debug)]
pub(super) struct Progress {
    steps: usize,
    sent: Mutex<Vec<(Instant, f64)>>,
}

impl Progress {
    pub(super) fn new(steps: usize) -> Self {
        Self {
            steps,
            sent: Mutex::default(),
        }
    }

    /// It never falls, has at most ten messages in a second, and is never more than the number of steps.
    pub(super) fn check(&self) {
        let sent = self.sent.lock().expect("no panic");
        for pair in sent.windows(2) {
            let [(before, less), (after, more)] = pair else {
                continue;
            };
            assert!(more > less, "{sent:?}");
            assert!(*after - *before >= Duration::from_millis(100), "{sent:?}");
        }
        let last = sent.last().map_or(0.0, |(_, progress)| *progress);
        #[expect(clippy::cast_precision_loss, reason = "there are few steps")]
        let most = self.steps as f64;
        assert!(last <= most + 1e-9, "{sent:?}");
    }
}

impl Listener for Progress {
    fn notify(&self, notification: Notification) -> Sending<'_> {
        if let Notification::Progress(params) = notification {
            assert_eq!(params["total"], self.steps);
            let progress = params["progress"].as_f64().expect("a number");
            let mut sent = self.sent.lock().expect("no panic");
            sent.push((Instant::now(), progress));
        }
        Box::pin(async {})
    }
}
