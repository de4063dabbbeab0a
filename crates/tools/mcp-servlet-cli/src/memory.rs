//! The allocator, and threads that give back memory.
//!
//! In mimalloc, memory belongs to the thread that has allocated it. If other threads free it, it stays in use until that thread
//! looks for it. A large message is allocated by one thread and freed by another, so a server would keep several megabytes
//! for each of its threads.

use std::{
    cell::Cell,
    io,
    time::{Duration, Instant},
};

use mimalloc::MiMalloc;
use tokio::runtime::{Builder, Runtime};

/// A call makes a few hundred small allocations, and another thread frees most of them. mimalloc is fast at that.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How often a thread looks for memory that it can give back.
const INTERVAL: Duration = Duration::from_secs(1);

/// A runtime for a server, whose threads give back memory. Those of the servlets do, too.
pub(crate) fn runtime() -> io::Result<Runtime> {
    mcp_servlet_runtime::set_pause(give_back);
    Builder::new_multi_thread()
        .enable_all()
        .on_thread_park(give_back)
        .build()
}

/// Gives memory of this thread back to the system, unless it has done so a moment ago.
fn give_back() {
    thread_local!(static LAST: Cell<Option<Instant>> = const { Cell::new(None) });
    let now = Instant::now();
    let is_due = |last: Instant| now.duration_since(last) >= INTERVAL;
    if LAST.get().is_none_or(is_due) {
        LAST.set(Some(now));
        collect();
    }
}

#[allow(unsafe_code, reason = "mimalloc is a C library")]
fn collect() {
    // SAFETY: it may be called on any thread at any time.
    unsafe { libmimalloc_sys::mi_collect(true) }
}
