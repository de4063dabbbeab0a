//! How long this thread has worked.

use std::time::Duration;

/// The processor time of this thread. A machine that is busy with something else does not use it up.
#[cfg(unix)]
pub(crate) fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// The time since the first call, because the processor time of a thread is not known here.
#[cfg(not(unix))]
pub(crate) fn thread_time() -> Duration {
    use std::{sync::LazyLock, time::Instant};

    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    FIRST.elapsed()
}
