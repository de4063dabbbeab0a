//! The tokio runtime of this crate. Its timers and sockets work wherever a future of this crate is polled.

use std::{
    pin::pin,
    sync::{Arc, LazyLock, OnceLock},
    task::{Context, Poll, Wake},
    thread::{self, Thread, available_parallelism},
};

use tokio::{
    runtime::{Builder, Runtime},
    sync::oneshot,
    task::{JoinHandle, coop::unconstrained},
};

/// How many processors this process may use, at least one.
///
/// On Linux, it takes twelve system calls to find the number, so this finds it once.
pub fn processors() -> usize {
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| available_parallelism().map_or(1, usize::from));
    *PROCESSORS
}

/// What threads of [`RUNTIME`] do when they become idle.
static ON_IDLE: OnceLock<fn()> = OnceLock::new();

/// Sets what each thread of this crate does when it becomes idle, for example to give back the memory that other threads have
/// freed. Later calls have no effect.
///
/// A thread may become idle thousands of times in a second, so the function must be quick. It must not panic.
pub fn set_on_idle(on_idle: fn()) {
    let _ = ON_IDLE.set(on_idle);
}

fn on_idle() {
    if let Some(on_idle) = ON_IDLE.get() {
        on_idle();
    }
}

pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = Builder::new_multi_thread();
    // It looks at timers and sockets after each time slice of a call.
    builder
        .thread_name("servlet")
        .on_thread_park(on_idle)
        .enable_all()
        .event_interval(1);
    builder
        .build()
        .expect("the system has room for a few threads")
});

/// Runs work on a thread that may block, so that it does not delay other tasks. `None` if it panics. The result is dropped
/// if the caller stops waiting.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, result) = oneshot::channel();
    // A trait object, because the compiler copies tokio's code for each type.
    let task: Box<dyn FnOnce() + Send> = Box::new(|| {
        // An error means that the caller has stopped waiting.
        let _ = sender.send(work());
        on_idle();
    });
    RUNTIME.spawn_blocking(task);
    // An error means that the work has panicked.
    result.await.ok()
}

/// Starts a task in [`RUNTIME`], which lives as long as the process.
///
/// The task must end by itself: with the call that it runs, or because it holds only weak references to what it works on.
#[expect(
    clippy::disallowed_methods,
    reason = "modules outlive servers, so their tasks do not belong to one"
)]
pub(crate) fn spawn<T: Send + 'static>(
    task: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    RUNTIME.spawn(task)
}

/// Blocks this thread until a future is complete, such as a call of a servlet.
///
/// It is for programs without an asynchronous runtime, and for tests. The future can use the timers and sockets of tokio: this
/// crate has a runtime for them.
///
/// In asynchronous code, `.await` the future instead. There, this function does not panic as tokio's `Runtime::block_on` does,
/// but it blocks all tasks that share the thread. If the future needs one of them, such as the connection of a remote, it never
/// completes.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let _runtime = RUNTIME.enter();
    // A task of tokio that has used up its budget may call this function. Then nothing of tokio would be ready here.
    let mut future = pin!(unconstrained(future));
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Mutex, mpsc},
        thread::ThreadId,
        time::{Duration, Instant},
    };

    use mcp_servlet_common::lock;

    use super::*;

    static IDLE: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());

    fn was_idle(thread: ThreadId) -> bool {
        let idle = lock(&IDLE);
        idle.contains(&thread)
    }

    #[test]
    fn a_thread_is_idle_after_blocking_work() {
        set_on_idle(|| {
            let mut idle = lock(&IDLE);
            idle.push(thread::current().id());
        });
        let worker = block_on(run_blocking(|| thread::current().id())).unwrap();
        let start = Instant::now();
        while !was_idle(worker) {
            assert!(start.elapsed() < Duration::from_secs(30));
            thread::yield_now();
        }
    }

    #[test]
    fn blocking_work_that_panics_has_no_result() {
        let result = block_on(run_blocking(|| std::panic::resume_unwind(Box::new(()))));
        assert_eq!(result, None::<()>);
    }

    #[test]
    fn a_task_without_budget_can_block() {
        let turns = async {
            for _ in 0..1000 {
                block_on(run_blocking(|| ())).unwrap();
            }
        };
        let (sender, done) = mpsc::channel();
        // Only a thread of its own can time out.
        thread::spawn(move || {
            RUNTIME.block_on(turns);
            sender.send(()).unwrap();
        });
        assert_eq!(done.recv_timeout(Duration::from_secs(30)), Ok(()));
    }
}
