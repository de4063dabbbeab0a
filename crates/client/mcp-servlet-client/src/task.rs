//! Tasks that run next to their caller.

use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;

/// Starts a task. It is a trait object, because the compiler copies tokio's code for each type of task.
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    let task: BoxFuture<'static, ()> = Box::pin(task);
    tokio::spawn(task)
}
