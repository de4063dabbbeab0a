//! The allocator, and threads that give back memory.
//!
//! Memory that another thread frees stays reserved until the thread that has allocated it collects it. A large message is
//! allocated by one thread and freed by another, so a server would keep much more memory than it uses.

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

/// A thread gives back memory at most this often.
const INTERVAL: Duration = Duration::from_secs(1);

/// The tokio runtime of a server. Its threads give back free memory when they become idle, and so do the threads that run servlets.
pub(crate) fn runtime() -> io::Result<Runtime> {
    mcp_servlet_runtime::set_on_idle(give_back);
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

#[expect(unsafe_code, reason = "mimalloc is a C library")]
fn collect() {
    // `true`, because it skips full pages otherwise, even if other threads have freed all of their memory.
    // SAFETY: it may be called on any thread at any time.
    unsafe { libmimalloc_sys::mi_collect(true) }
}
