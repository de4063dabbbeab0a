//! The tokio runtime of this crate. Its timers and sockets work wherever a future of this crate is polled.

use std::{
    pin::pin,
    sync::{Arc, LazyLock, OnceLock},
    task::{Context, Poll, Wake},
    thread::{self, Thread, available_parallelism},
};

use tokio::runtime::{Builder, Runtime};

/// How many processors this process may use, at least one.
///
/// On Linux, it takes twelve system calls to find the number, so this finds it once.
pub fn processors() -> usize {
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| available_parallelism().map_or(1, usize::from));
    *PROCESSORS
}

/// What threads of [`RUNTIME`] do when they have no work.
static PAUSE: OnceLock<fn()> = OnceLock::new();

/// Sets what each thread of this crate does when it has no work, which can be many times in a second. An allocator may want to give
/// back the memory that other threads have freed. Only the first function that is set counts.
pub fn set_pause(pause: fn()) {
    let _ = PAUSE.set(pause);
}

fn pause() {
    if let Some(pause) = PAUSE.get() {
        pause();
    }
}

pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = Builder::new_multi_thread();
    // It looks at timers and sockets after each time slice of a call.
    builder
        .thread_name("servlet")
        .on_thread_park(pause)
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
    let work = || {
        let result = work();
        pause();
        result
    };
    RUNTIME.spawn_blocking(work).await.ok()
}

/// Blocks this thread until the future is complete.
///
/// In contrast to tokio's function, it can be used on any thread, even while it polls another future.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let _runtime = RUNTIME.enter();
    let mut future = pin!(future);
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
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn threads_pause_after_blocking_work() {
        static PAUSES: AtomicUsize = AtomicUsize::new(0);
        set_pause(|| {
            PAUSES.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(block_on(run_blocking(|| 1)), Some(1));
        assert!(PAUSES.load(Ordering::Relaxed) > 0);
    }
}
