//! Where calls run.
//!
//! A call begins on the thread that has the request, because most calls end before another thread would have woken up.
//! One that takes longer than a time slice moves to the threads of [`RUNTIME`], where calls share the processors in
//! turns. So it holds up no other task.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument as _, instrument::WithSubscriber as _};

use super::{Stop, ticker};
use crate::runtime::{self, RUNTIME};

/// A bug in this crate.
const BROKEN: &str = "the host panicked during the call; its standard error says where";

/// Whether a call has run for longer than a time slice.
#[derive(Clone, Debug, Default)]
pub(super) struct Slice(Arc<AtomicBool>);

impl Slice {
    /// Records that the time slice of the call has ended.
    pub(super) fn end(&self) {
        self.0.store(true, Relaxed);
    }

    fn has_ended(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// Runs work on a thread that may block. The result is dropped if the caller stops waiting.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Stop> {
    runtime::run_blocking(work).await.ok_or_else(broken)
}

/// Runs a call. Dropping the future stops it.
pub(super) async fn run<T: Send + 'static>(
    mut call: Pin<Box<dyn Future<Output = T> + Send>>,
    slice: Slice,
) -> Result<T, Stop> {
    let first = poll_fn(|context| match poll(call.as_mut(), context) {
        Poll::Pending if slice.has_ended() => Poll::Ready(None),
        poll => poll.map(Some),
    });
    if let Some(output) = first.await {
        return output;
    }
    let moved = poll_fn(move |context| poll(call.as_mut(), context))
        // The thread that began the call may have a log of its own.
        .in_current_span()
        .with_current_subscriber();
    let moved = runtime::spawn(moved);
    let output = AbortOnDropHandle::new(moved).await;
    output.unwrap_or_else(|_| Err(broken()))
}

/// Runs a call that stays on the thread that polls it.
pub(super) async fn run_here<T>(call: impl Future<Output = T>) -> Result<T, Stop> {
    let mut call = pin!(call);
    poll_fn(|context| poll(call.as_mut(), context)).await
}

/// Lets a call run for a time slice.
fn poll<T>(
    call: Pin<&mut (impl Future<Output = T> + ?Sized)>,
    context: &mut Context<'_>,
) -> Poll<Result<T, Stop>> {
    let _runtime = RUNTIME.enter();
    let _running = match ticker::running() {
        Ok(running) => running,
        Err(error) => {
            return Poll::Ready(Err(Stop::Trap(format!("cannot start a thread: {error}"))));
        }
    };
    let poll = catch_unwind(AssertUnwindSafe(|| call.poll(context)));
    match poll {
        Ok(poll) => poll.map(Ok),
        Err(_) => Poll::Ready(Err(broken())),
    }
}

fn broken() -> Stop {
    Stop::Trap(BROKEN.to_owned())
}
