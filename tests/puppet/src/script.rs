//! Scripts, as they are written in JSON.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

/// What a server answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// The purpose of the script.
    pub about: String,
    /// The protocol versions of the server. With 2026-07-28 it answers `server/discover`, with others `initialize`.
    pub versions: Vec<String>,
    /// `serverInfo`.
    pub info: Value,
    /// `capabilities`.
    pub capabilities: Value,
    /// `instructions`.
    pub instructions: Option<String>,
    /// Played when the connection opens.
    pub start: Reply,
    /// The replies by method.
    pub replies: BTreeMap<String, Vec<Reply>>,
    /// Sessions over HTTP.
    pub sessions: Option<Sessions>,
    /// The status, headers and body for a session that has ended, instead of 404.
    pub lost_session: Option<Reply>,
    /// What the event `endpoint` of HTTP+SSE says. Without it, the path that this server has.
    pub endpoint: Option<String>,
    /// The method whose POSTs over HTTP+SSE get no response. The answer is an event nevertheless.
    pub hangs_on_post: Option<String>,
    /// The POSTs over HTTP+SSE that fail. The answers are events nevertheless.
    pub fails_on_post: Option<FailingPosts>,
    /// Whether requests for the common stream get no answer at all, instead of 405.
    pub hangs_on_get: bool,
    /// Whether there is a common stream, in which nothing comes. Otherwise requests for it get 405.
    pub has_common_stream: bool,
}

/// POSTs that end with an error, as those do on which a proxy gives up.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailingPosts {
    /// The method of their messages.
    pub method: String,
    /// The wait before the status.
    pub wait_ms: u64,
    /// The status, which the log has as `{"http": "504"}`.
    pub status: u16,
}

/// Sessions over HTTP.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sessions {
    /// How many messages the first session lasts. Later ones get the status 404.
    pub first_lasts: Option<usize>,
    /// How many messages later sessions last.
    pub others_last: Option<usize>,
}

/// The reply to one request. In its JSON, strings that begin with `$` are replaced: `$params/arguments/x` by a value of
/// the request, `$client/name` by one of the client's information, `$answer` by what the client answered to `ask`, `$id` by
/// the id of the request, `$subscription` by the id of the last `subscriptions/listen`, `$count` by the number of requests of
/// this method, and `$environment` by the environment variables of the process. `{"$repeat": ["x", 3]}` is `"xxx"`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// Messages that are sent first.
    pub before: Vec<Value>,
    /// A request that the client has to answer first.
    pub ask: Option<Value>,
    /// How often progress is reported before the answer, every 100 ms.
    pub ticks: u64,
    /// The wait before the answer.
    pub wait_ms: u64,
    /// The result.
    pub result: Option<Value>,
    /// The error.
    pub error: Option<Value>,
    /// The text of a whole message, in which `$id` is replaced by the id of the request.
    pub line: Option<String>,
    /// Lines for standard error.
    pub stderr: Vec<String>,
    /// The server ends with this exit code.
    pub exit: Option<i32>,
    /// Over HTTP: the status, instead of a message.
    pub status: Option<u16>,
    /// Over HTTP: headers of that status.
    pub headers: BTreeMap<String, String>,
    /// Over HTTP: the body of that status.
    pub body: String,
    /// Over HTTP: answers with an event stream.
    pub sse: bool,
    /// Over HTTP: the event stream ends before the answer.
    pub cut: bool,
    /// Over HTTP: the event stream ends with the id of an event and this value of `retry`. The answer follows on a GET
    /// with that `Last-Event-ID`.
    pub resumes_ms: Option<u64>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            about: String::new(),
            versions: vec!["2025-11-25".to_owned(), "2026-07-28".to_owned()],
            info: json!({ "name": "puppet", "version": "1" }),
            capabilities: json!({ "tools": {}, "resources": {}, "prompts": {} }),
            instructions: None,
            start: Reply::default(),
            replies: BTreeMap::new(),
            sessions: None,
            lost_session: None,
            endpoint: None,
            hangs_on_post: None,
            fails_on_post: None,
            hangs_on_get: false,
            has_common_stream: false,
        }
    }
}

impl Script {
    pub(crate) fn read(name: &str) -> Self {
        let path = if name.contains('/') {
            name.to_owned()
        } else {
            format!("{}/scripts/{name}.json", env!("CARGO_MANIFEST_DIR"))
        };
        let text = std::fs::read_to_string(&path);
        let text = text.unwrap_or_else(|error| panic!("{path}: {error}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Whether the server answers requests of this generation.
    pub(crate) fn has_version(&self, stateless: bool) -> bool {
        let mut versions = self.versions.iter();
        versions.any(|version| (version.as_str() >= "2026-07-28") == stateless)
    }

    /// The version that the server answers to `initialize`.
    pub(crate) fn initial_version(&self, asked: &Value) -> Value {
        let is_known = self.versions.iter().any(|version| asked == version);
        if is_known {
            asked.clone()
        } else {
            json!(self.versions.first())
        }
    }
}
