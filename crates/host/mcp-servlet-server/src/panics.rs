//! Panics, which are bugs in the server. If one happens while a request is handled, the client still gets an error response.

use std::{
    any::Any,
    future::pending,
    panic::{AssertUnwindSafe, resume_unwind},
};

use futures_util::FutureExt as _;
use mcp_servlet_call::RpcError;
use tokio::task::JoinError;

/// The outcome of some work, or an error if it panics.
///
/// The work is dropped after a panic. State that it shares with other requests is behind locks that
/// ignore poisoning.
pub(crate) async fn caught<T>(
    method: &str,
    work: impl Future<Output = Result<T, RpcError>>,
) -> Result<T, RpcError> {
    let outcome = AssertUnwindSafe(work).catch_unwind().await;
    outcome.unwrap_or_else(|panic| {
        tracing::error!(method, panic = message(&*panic), "request handler panicked");
        let text = "the server panicked while it handled this request; see the server's log";
        Err(RpcError::new(RpcError::INTERNAL, text))
    })
}

/// Runs work that must not end the task that it runs in. None if it panics.
pub(crate) async fn survived<T>(name: &str, work: impl Future<Output = T>) -> Option<T> {
    AssertUnwindSafe(work)
        .catch_unwind()
        .await
        .inspect_err(|panic| {
            tracing::error!(panic = message(&**panic), "{name} panicked");
        })
        .ok()
}

/// Runs work on a thread that may block. If it panics, so does the caller.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match joined(tokio::task::spawn_blocking(work).await) {
        Some(done) => done,
        // The runtime ends, and this task with it.
        None => pending().await,
    }
}

/// What a task returned. If it panicked, so does the caller. `None` if the runtime ends.
pub(crate) fn joined<T>(ended: Result<T, JoinError>) -> Option<T> {
    match ended.map_err(JoinError::try_into_panic) {
        Ok(done) => Some(done),
        Err(Ok(panic)) => resume_unwind(panic),
        Err(Err(_)) => None,
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_goes_on_after_a_panic() {
        let mut done = Vec::new();
        for number in 0..3 {
            let work = async {
                assert_ne!(number, 1, "odd");
                number
            };
            done.push(survived("work", work).await);
        }
        assert_eq!(done, [Some(0), None, Some(2)]);
    }
}
