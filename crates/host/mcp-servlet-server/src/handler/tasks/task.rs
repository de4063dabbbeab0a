//! One task: its state, the responses of the client, and cancellation.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use mcp_servlet_call::{JsonObject, RpcError, Withdrawal};
use mcp_servlet_common::lock;
use rmcp::{
    model::{Task as Wire, TaskStatus},
    task_manager::current_timestamp,
};
use serde_json::{Value, json};
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;

/// The bounds of the poll interval, which is a quarter of the task's age.
const POLL: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));

/// The maximum length of a status message, in bytes.
const MAX_STATUS_MESSAGE: usize = 4 << 10;

/// A call that clients poll.
#[derive(Debug)]
pub(crate) struct Task {
    id: String,
    /// The tool that it calls.
    tool: String,
    created: String,
    since: Instant,
    ttl: Duration,
    state: Mutex<State>,
    /// Notified when a response arrives.
    answered: Notify,
    cancelled: CancellationToken,
    /// Cancelled when the client has disconnected.
    disconnected: CancellationToken,
}

#[derive(Debug)]
struct State {
    updated: String,
    message: Option<String>,
    /// The open input requests. The keys are unique within the task; each value has the servlet's own key.
    input_requests: BTreeMap<String, (String, Value)>,
    /// How many input requests there were so far.
    asked: usize,
    answers: JsonObject,
    ended: Option<Ended>,
}

#[derive(Debug)]
enum Ended {
    Completed(JsonObject),
    Failed(RpcError),
    Cancelled,
}

impl Task {
    pub(crate) fn new(
        id: String,
        tool: String,
        ttl: Duration,
        disconnected: CancellationToken,
    ) -> Self {
        let created = current_timestamp();
        Self {
            id,
            tool,
            since: Instant::now(),
            ttl,
            state: Mutex::new(State {
                updated: created.clone(),
                message: None,
                input_requests: BTreeMap::new(),
                asked: 0,
                answers: JsonObject::new(),
                ended: None,
            }),
            created,
            answered: Notify::new(),
            cancelled: disconnected.child_token(),
            disconnected,
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn tool(&self) -> &str {
        &self.tool
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The JSON of `tasks/get`: the state with its input requests, result or error.
    pub(crate) fn to_json(&self) -> JsonObject {
        let state = self.state();
        let mut task = Wire::new(&self.id, state.status(), &self.created, &state.updated);
        task.status_message.clone_from(&state.message);
        task.ttl_ms = Some(milliseconds(self.ttl));
        let wait = (self.since.elapsed() / 4).clamp(POLL.0, POLL.1);
        task.poll_interval_ms = Some(milliseconds(wait));
        let Ok(Value::Object(mut json)) = serde_json::to_value(task) else {
            unreachable!("a task is written as an object")
        };
        match &state.ended {
            Some(Ended::Completed(result)) => {
                json.insert("result".to_owned(), result.clone().into());
            }
            Some(Ended::Failed(error)) => {
                json.insert("error".to_owned(), json!(error));
            }
            None if !state.input_requests.is_empty() => {
                let input_requests = state
                    .input_requests
                    .iter()
                    .map(|(key, (_, input_request))| (key.clone(), input_request.clone()));
                json.insert("inputRequests".to_owned(), input_requests.collect());
            }
            Some(Ended::Cancelled) | None => {}
        }
        json
    }

    /// Sets the status message.
    pub(crate) fn say(&self, mut message: String) {
        message.truncate(message.floor_char_boundary(MAX_STATUS_MESSAGE));
        let mut state = self.state();
        state.message = Some(message);
        state.touch();
    }

    /// Publishes input requests, and waits until all of them have responses or are withdrawn.
    pub(crate) async fn ask(
        &self,
        input_requests: JsonObject,
        withdrawal: &Withdrawal,
    ) -> Result<JsonObject, RpcError> {
        self.state().ask(input_requests);
        let mut withdrawn = withdrawal.keys();
        loop {
            let answered = self.answered.notified();
            self.state().withdraw(&withdrawn.borrow_and_update());
            if let Some(answers) = self.state().answers() {
                return Ok(answers);
            }
            tokio::select! {
                () = answered => {}
                // The sender lives as long as `withdrawal`.
                _ = withdrawn.changed() => {}
                () = self.cancelled() => {
                    return Err(RpcError::new(RpcError::INTERNAL, "the task was cancelled"));
                }
            }
        }
    }

    /// Takes responses of the client. Those without an open input request are ignored.
    pub(crate) fn answer(&self, responses: impl IntoIterator<Item = (String, Value)>) {
        let mut state = self.state();
        for (key, response) in responses {
            if let Some((key, _)) = state.input_requests.remove(&key) {
                state.answers.insert(key, response);
            }
        }
        state.touch();
        drop(state);
        self.answered.notify_one();
    }

    /// Stops the call if it is still running.
    pub(crate) fn cancel(&self) {
        self.cancelled.cancel();
    }

    pub(crate) async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// Returns when the client has disconnected.
    pub(crate) async fn disconnected(&self) {
        self.disconnected.cancelled().await;
    }

    /// Returns when the time to live is over.
    pub(crate) async fn expired(&self) {
        tokio::time::sleep_until(self.since + self.ttl).await;
    }

    /// Stores the outcome of the call.
    pub(crate) fn end(&self, result: Result<JsonObject, RpcError>) {
        let mut state = self.state();
        state.input_requests.clear();
        state.ended = Some(match result {
            Ok(mut result) => {
                result.insert("resultType".to_owned(), "complete".into());
                Ended::Completed(result)
            }
            Err(_) if self.cancelled.is_cancelled() => Ended::Cancelled,
            Err(error) => Ended::Failed(error),
        });
        state.touch();
    }
}

impl State {
    fn touch(&mut self) {
        self.updated = current_timestamp();
    }

    fn status(&self) -> TaskStatus {
        match &self.ended {
            Some(Ended::Completed(_)) => TaskStatus::Completed,
            Some(Ended::Failed(_)) => TaskStatus::Failed,
            Some(Ended::Cancelled) => TaskStatus::Cancelled,
            None if self.input_requests.is_empty() => TaskStatus::Working,
            None => TaskStatus::InputRequired,
        }
    }

    fn ask(&mut self, input_requests: JsonObject) {
        for (key, input_request) in input_requests {
            self.asked += 1;
            // A servlet may use a key again, but clients expect new keys.
            let fresh = format!("{key}.{}", self.asked);
            self.input_requests.insert(fresh, (key, input_request));
        }
        self.touch();
    }

    /// Removes the input requests with these keys of the servlet.
    fn withdraw(&mut self, keys: &BTreeSet<String>) {
        let open = self.input_requests.len();
        self.input_requests
            .retain(|_, (key, _)| !keys.contains(key));
        if self.input_requests.len() < open {
            self.touch();
        }
    }

    /// All responses, once no input request is open.
    fn answers(&mut self) -> Option<JsonObject> {
        let is_answered = self.input_requests.is_empty();
        is_answered.then(|| std::mem::take(&mut self.answers))
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_that_is_withdrawn_needs_no_response() {
        let (id, ttl) = ("1".to_owned(), Duration::from_mins(1));
        let task = Task::new(id, "t".to_owned(), ttl, CancellationToken::new());
        let withdrawal = Withdrawal::default();
        let request = json!({ "method": "roots/list" });
        let requests =
            JsonObject::from_iter(["a", "b"].map(|key| (key.to_owned(), request.clone())));
        let answering = async {
            task.answer([("b.2".to_owned(), json!(2))]);
            let open = task.to_json();
            assert_eq!(open["inputRequests"], json!({ "a.1": request }));
            withdrawal.withdraw("a");
        };
        let (answers, ()) = tokio::join!(task.ask(requests, &withdrawal), answering);
        let expected = JsonObject::from_iter([("b".to_owned(), json!(2))]);
        assert_eq!(answers.expect("answers"), expected);
        assert_eq!(task.to_json().get("inputRequests"), None);
    }
}
