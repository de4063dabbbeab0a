//! Tasks: calls of tools whose results clients fetch later (SEP-2663, `io.modelcontextprotocol/tasks`).
//!
//! rmcp has a `TaskManager`, but it keeps results and questions as its own types, which drop what those do not know, and it
//! forgets a task only when somebody asks for one. Here, tasks keep the JSON of the servlet, end with their time to live,
//! and are bounded in number.

mod results;
mod task;

use std::{
    collections::HashMap,
    fmt::Write as _,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use mcp_servlet_runtime::JsonObject;
use rmcp::ErrorData;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Server, panics::caught};
pub(super) use results::Results;
pub(super) use task::Task;

/// When calls become tasks, how many there may be, and for how long. Clients have tasks if they declare the extension
/// `io.modelcontextprotocol/tasks`, since 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskOptions {
    /// How many tasks there may be at once, with those whose results wait to be fetched. 0 turns tasks off.
    pub max: usize,
    /// How many of them may belong to one connection on standard input and output. Over HTTP there are no connections to
    /// which a task could belong.
    pub max_per_connection: usize,
    /// How long a call runs before it becomes a task. Tools that say `"execution": {"taskSupport": "optional"}` or
    /// `"required"` run as tasks from the start, and those that say `"forbidden"` never do.
    pub after: Duration,
    /// How long a task lives from its creation. A call that still runs then is stopped, and a result is dropped.
    pub ttl: Duration,
    /// How many bytes of JSON the results that wait to be fetched may have together, with the questions that clients have not
    /// answered; `None` lifts the bound. A task whose result is too large fails.
    pub results: Option<u64>,
}

impl Default for TaskOptions {
    fn default() -> Self {
        Self {
            max: 1000,
            max_per_connection: 100,
            after: Duration::from_secs(2),
            ttl: Duration::from_mins(30),
            results: Some(64 << 20),
        }
    }
}

/// The tasks of one client, or of all clients over HTTP, which are told apart by ids that nobody can guess.
#[derive(Clone, Debug)]
pub(super) struct Tasks(Arc<Scope>);

#[derive(Debug)]
struct Scope {
    known: Mutex<HashMap<String, Arc<Task>>>,
    room: Arc<Semaphore>,
    /// Cancelled when nobody can ask for these tasks any more.
    gone: CancellationToken,
    _gone: DropGuard,
}

/// The right to be one more task, until dropped.
#[derive(Debug)]
struct Room {
    _scope: OwnedSemaphorePermit,
    _server: OwnedSemaphorePermit,
}

/// A task that nothing works on yet.
#[derive(Debug)]
pub(super) struct Created {
    pub(super) task: Arc<Task>,
    room: Room,
}

impl Tasks {
    /// No tasks yet, and room for so many.
    pub(super) fn new(max: usize) -> Self {
        let gone = CancellationToken::new();
        Self(Arc::new(Scope {
            known: Mutex::default(),
            room: semaphore(max),
            _gone: gone.clone().drop_guard(),
            gone,
        }))
    }

    /// A new task, which clients can ask for from now on. None if there are too many.
    pub(super) fn create(&self, server: &Server) -> Option<Created> {
        let room = Room {
            _scope: Arc::clone(&self.0.room).try_acquire_owned().ok()?,
            _server: Arc::clone(&server.0.tasks).try_acquire_owned().ok()?,
        };
        let gone = self.0.gone.child_token();
        let task = Arc::new(Task::new(id(), server.0.options.tasks.ttl, gone));
        self.0
            .known()
            .insert(task.id().to_owned(), Arc::clone(&task));
        Some(Created { task, room })
    }

    /// Works on a task. Its result stays until the end of its time to live, when work that has not ended is cancelled.
    pub(super) fn spawn(
        &self,
        server: &Server,
        created: Created,
        work: impl Future<Output = Result<JsonObject, ErrorData>> + Send + 'static,
    ) {
        let (server, scope) = (server.clone(), Arc::downgrade(&self.0));
        let Created { task, room } = created;
        tokio::spawn(async move {
            let mut work = Box::pin(caught("tools/call", work));
            let result = tokio::select! {
                result = &mut work => result,
                // Nobody can fetch a result of a server that stops.
                () = end_of(&server, &task) => {
                    task.cancel();
                    work.await
                }
            };
            let kept = match &result {
                Ok(result) => server.0.results.keep(result),
                Err(error) => server.0.results.keep(error),
            };
            let (result, kept) = match kept {
                Ok(kept) => (result, Some(kept)),
                Err(error) => (Err(error), None),
            };
            task.end(result);
            end_of(&server, &task).await;
            forget(&scope, &task);
            drop((room, kept));
        });
    }

    /// The task of that id.
    pub(super) fn find(&self, id: &str) -> Result<Arc<Task>, ErrorData> {
        self.0.known().get(id).cloned().ok_or_else(|| {
            let message = format!("unknown task `{id}`: it was never created, or its time is up");
            ErrorData::invalid_params(message, None)
        })
    }
}

impl Scope {
    fn known(&self) -> MutexGuard<'_, HashMap<String, Arc<Task>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room for so many tasks.
pub(super) fn semaphore(max: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)))
}

/// Returns when nobody can fetch the result of a task any more.
async fn end_of(server: &Server, task: &Task) {
    tokio::select! {
        () = task.expired() => {}
        () = task.gone() => {}
        () = server.0.active.stopping() => {}
    }
}

fn forget(scope: &Weak<Scope>, task: &Task) {
    if let Some(scope) = scope.upgrade() {
        scope.known().remove(task.id());
    }
}

/// 128 random bits: who does not know the id of a task cannot ask for it.
fn id() -> String {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
