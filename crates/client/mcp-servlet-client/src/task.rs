//! Tasks that run next to their caller.

use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;

/// Starts a task, which ends by itself: with its session, its process or its request. It is a trait object, because the compiler
/// copies tokio's code for each type of task.
#[expect(
    clippy::disallowed_methods,
    reason = "the task stores tokens and ends sessions even after its caller is dropped"
)]
pub(crate) fn spawn<T: Send + 'static>(
    task: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let task: BoxFuture<'static, T> = Box::pin(task);
    tokio::spawn(task)
}
