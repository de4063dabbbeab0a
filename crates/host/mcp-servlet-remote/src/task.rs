//! Calls of tools that only run as tasks of MCP 2025-11-25. The task stays between this host and the server, so that every client can
//! call such a tool.

use std::sync::Arc;

use mcp_servlet_call::{JsonObject, Nursery};
use mcp_servlet_client::{CallOptions, Error};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::connection::Connection;
use crate::running::is_answered;

/// A task at a server. It is cancelled if this is dropped before the server has answered.
struct Task {
    connection: Arc<Connection>,
    id: String,
    is_answered: bool,
    nursery: Nursery,
}

/// Calls a tool as a task, and waits for its result. `nursery` owns the request that cancels the task.
pub(crate) async fn call(
    connection: &Arc<Connection>,
    mut params: JsonObject,
    options: &CallOptions,
    nursery: Nursery,
) -> Result<Box<RawValue>, Error> {
    let session = &connection.session;
    params.insert("task".to_owned(), json!({}));
    let created = session
        .forward("tools/call", params.into(), options)
        .await?;
    let Some(id) = task_id(&created) else {
        // It is a result.
        return Ok(created);
    };
    let params = json!({ "taskId": id });
    let mut task = Task {
        connection: Arc::clone(connection),
        id,
        is_answered: false,
        nursery,
    };
    let result = session.forward("tasks/result", params, options).await;
    task.is_answered = is_answered(&result);
    result
}

/// The id of the task that a server has created for a call.
fn task_id(created: &RawValue) -> Option<String> {
    let created: Value = serde_json::from_str(created.get()).ok()?;
    let id = created.pointer("/task/taskId")?.as_str()?;
    Some(id.to_owned())
}

impl Drop for Task {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        let connection = Arc::clone(&self.connection);
        let params = json!({ "taskId": self.id });
        self.nursery.spawn(async move {
            let options = CallOptions::new();
            // An error means that the task has ended, or that the connection is gone.
            let _ = connection
                .session
                .forward("tasks/cancel", params, &options)
                .await;
        });
    }
}
