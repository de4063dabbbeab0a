//! When a remote was down.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long calls may fail after a remote is back.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(2);

/// The last time that a remote was down.
#[derive(Default)]
pub(super) struct Outage {
    /// Its end. None while the remote is down, and as long as it never was.
    end: Mutex<Option<Instant>>,
    /// How often it was down.
    times: AtomicU64,
    /// How many calls failed because of it.
    refused: AtomicU64,
}

impl Outage {
    /// Takes the remote down with `kill` and up again with `start`.
    pub(super) fn last<T>(
        &self,
        kill: impl FnOnce() -> anyhow::Result<T>,
        start: impl FnOnce(T) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.times.fetch_add(1, Ordering::SeqCst);
        *self.end() = None;
        start(kill()?)?;
        *self.end() = Some(Instant::now() + RECOVERY_TIMEOUT);
        Ok(())
    }

    /// Whether a call that was sent then may have met the remote while it was down.
    pub(super) fn was_since(&self, sent: Instant) -> bool {
        let was_ever = self.times.load(Ordering::SeqCst) > 0;
        was_ever && self.end().is_none_or(|end| sent <= end)
    }

    pub(super) fn count(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// How often the remote was down, and how many calls failed because of it.
    pub(super) fn counts(&self) -> (u64, u64) {
        let [times, refused] =
            [&self.times, &self.refused].map(|count| count.load(Ordering::SeqCst));
        (times, refused)
    }

    fn end(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
