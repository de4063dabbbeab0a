//! Tasks: tool calls whose results clients fetch later (SEP-2663, `io.modelcontextprotocol/tasks`).
//!
//! rmcp has a `TaskManager`, but it keeps results and input requests as typed values, which drop
//! unknown fields, and it removes expired tasks only when a client asks for one. Here, tasks keep
//! the JSON of the servlet, end with their time to live, and are limited in number.

mod task;

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, Weak},
};

use mcp_servlet_access::Owner;
use mcp_servlet_call::{JsonObject, RpcError};
use mcp_servlet_common::lock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    panics::caught,
    server::{Server, semaphore},
    session_id::unguessable,
};
pub(crate) use task::Task;

/// The tasks of one client, or of all clients over HTTP. Over HTTP, unguessable ids keep clients apart.
#[derive(Clone, Debug)]
pub(crate) struct Tasks(Arc<Scope>);

#[derive(Debug)]
struct Scope {
    known: Mutex<HashMap<String, Owned>>,
    room: Arc<Semaphore>,
    /// Cancelled when no client can ask for these tasks any more.
    disconnected: CancellationToken,
    _disconnected: DropGuard,
}

/// A task, and to whom it belongs, if the endpoint knows its callers.
type Owned = (Option<Owner>, Arc<Task>);

/// A permit for one more task, until dropped.
#[derive(Debug)]
struct Room {
    _scope: OwnedSemaphorePermit,
    _server: OwnedSemaphorePermit,
}

/// A task whose work has not started.
#[derive(Debug)]
pub(crate) struct Created {
    pub(crate) task: Arc<Task>,
    room: Room,
}

impl Tasks {
    /// An empty set of tasks with room for `max`.
    pub(crate) fn new(max: usize) -> Self {
        let disconnected = CancellationToken::new();
        Self(Arc::new(Scope {
            known: Mutex::default(),
            room: semaphore(max),
            _disconnected: disconnected.clone().drop_guard(),
            disconnected,
        }))
    }

    /// Creates a task for a call of this tool, which its owner can ask for. None if there are too many.
    pub(crate) fn create(
        &self,
        server: &Server,
        owner: Option<Owner>,
        tool: &str,
    ) -> Option<Created> {
        let room = Room {
            _scope: Arc::clone(&self.0.room).try_acquire_owned().ok()?,
            _server: Arc::clone(&server.0.process.tasks)
                .try_acquire_owned()
                .ok()?,
        };
        let disconnected = self.0.disconnected.child_token();
        // A client that does not know the id of a task cannot ask for it.
        let id = unguessable();
        let ttl = server.0.options.tasks.ttl;
        let task = Arc::new(Task::new(id, tool.to_owned(), ttl, disconnected));
        self.0
            .known()
            .insert(task.id().to_owned(), (owner, Arc::clone(&task)));
        Some(Created { task, room })
    }

    /// Runs the work of a task. The result is kept until the time to live ends; work that still
    /// runs then is cancelled.
    pub(crate) fn spawn(
        &self,
        server: &Server,
        created: Created,
        work: impl Future<Output = Result<JsonObject, RpcError>> + Send + 'static,
    ) {
        let nursery = server.0.process.nursery.clone();
        let (server, scope) = (server.clone(), Arc::downgrade(&self.0));
        let Created { task, room } = created;
        nursery.spawn(async move {
            let mut work = Box::pin(caught("tools/call", work));
            let result = tokio::select! {
                result = &mut work => result,
                // Clients cannot fetch results from a server that has stopped.
                () = end_of(&server, &task) => {
                    task.cancel();
                    work.await
                }
            };
            let kept = match &result {
                Ok(result) => server.0.process.results.keep("result", result),
                Err(error) => server.0.process.results.keep("error", error),
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

    /// The task of this owner with this id.
    pub(crate) fn find(&self, id: &str, owner: Option<Owner>) -> Result<Arc<Task>, RpcError> {
        let known = self.0.known();
        let found = known
            .get(id)
            .filter(|(other, _)| *other == owner)
            .map(|(_, task)| Arc::clone(task));
        found.ok_or_else(|| unknown(id))
    }
}

/// The error for a task that does not exist for a caller.
pub(crate) fn unknown(id: &str) -> RpcError {
    let message = format!("unknown task `{id}`: it was never created, or it has expired");
    RpcError::new(RpcError::INVALID_PARAMS, message)
}

impl Scope {
    fn known(&self) -> MutexGuard<'_, HashMap<String, Owned>> {
        lock(&self.known)
    }
}

/// Returns when no client can fetch the result of a task any more.
async fn end_of(server: &Server, task: &Task) {
    tokio::select! {
        () = task.expired() => {}
        () = task.disconnected() => {}
        () = server.0.process.active.stopping() => {}
    }
}

fn forget(scope: &Weak<Scope>, task: &Task) {
    if let Some(scope) = scope.upgrade() {
        scope.known().remove(task.id());
    }
}
