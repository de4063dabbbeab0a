//! Tasks that have an owner.

use tokio::{runtime::Handle, task::JoinHandle};
use tokio_util::{
    sync::{CancellationToken, WaitForCancellationFuture},
    task::TaskTracker,
};

/// The tasks of an owner, such as a server. They end when the owner [cancels](Self::cancel) the nursery.
///
/// A task may hold a clone of the nursery, so that it can start other tasks. Clones do not keep the tasks running.
#[derive(Clone, Debug)]
pub struct Nursery {
    tasks: TaskTracker,
    end: CancellationToken,
    runtime: Handle,
}

impl Nursery {
    /// A nursery whose tasks run in the current tokio runtime.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[expect(clippy::new_without_default, reason = "it needs a runtime")]
    pub fn new() -> Self {
        Self {
            tasks: TaskTracker::new(),
            end: CancellationToken::new(),
            runtime: Handle::current(),
        }
    }

    /// A nursery whose tasks also end with those of this one.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            tasks: TaskTracker::new(),
            end: self.end.child_token(),
            runtime: self.runtime.clone(),
        }
    }

    /// Starts a task. Its result is `None` if the nursery is cancelled first: the work is dropped then. It may be started from any
    /// thread.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<Option<T>> {
        let work = self.end.clone().run_until_cancelled_owned(work);
        self.tasks.spawn_on(work, &self.runtime)
    }

    /// Runs work in the caller's task, which [`wait`](Self::wait) waits for as well. `None` if the nursery is cancelled first.
    pub async fn run<F: Future>(&self, work: F) -> Option<F::Output> {
        let _counted = self.tasks.token();
        self.end.run_until_cancelled(work).await
    }

    /// Ends all tasks, without waiting for them.
    pub fn cancel(&self) {
        self.end.cancel();
    }

    /// Returns when the nursery is cancelled.
    pub fn cancelled(&self) -> WaitForCancellationFuture<'_> {
        self.end.cancelled()
    }

    /// A token that is cancelled with the nursery, or earlier.
    pub fn child_token(&self) -> CancellationToken {
        self.end.child_token()
    }

    /// Waits until no task is left.
    pub async fn wait(&self) {
        // A tracker only becomes empty once it is closed. Tasks can still be started.
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Ends all tasks, and waits until none is left.
    pub async fn end(&self) {
        self.cancel();
        self.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, sync::Arc};

    use super::*;

    #[tokio::test]
    async fn nothing_of_a_task_is_left_after_the_end() {
        let nursery = Nursery::new();
        let held = Arc::new(());
        let (one, other) = (Arc::clone(&held), Arc::clone(&held));
        let child = nursery.child();
        child.spawn(async move {
            pending::<()>().await;
            drop(one);
        });
        let inner = nursery.clone();
        nursery.spawn(async move {
            inner.spawn(async move {
                pending::<()>().await;
                drop(other);
            });
        });
        tokio::task::yield_now().await;
        nursery.end().await;
        child.wait().await;
        assert_eq!(Arc::strong_count(&held), 1);
        let late = nursery.spawn(async { 1 });
        assert_eq!(late.await.expect("no panic"), None);
    }

    #[tokio::test]
    async fn a_cancelled_child_leaves_the_tasks_of_its_parent() {
        let nursery = Nursery::new();
        nursery.child().end().await;
        assert_eq!(nursery.spawn(async { 1 }).await.expect("no panic"), Some(1));
    }
}
