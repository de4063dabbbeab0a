//! How long this side has been answering requests of the server.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use mcp_servlet_common::lock;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Counts the time in which at least one request of the server has no answer yet, such as an elicitation request that the
/// user is reading. A server waits for the answer before it goes on with the call that it belongs to.
#[derive(Debug)]
pub(crate) struct Asking {
    state: Mutex<AskingState>,
    /// How many requests have no answer.
    open: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct AskingState {
    since: Option<Instant>,
    total: Duration,
}

/// A request of the server, until it is dropped.
pub(crate) struct Asked<'a>(&'a Asking);

/// The time limit of a request, without the time in which the server waited for this side.
pub(crate) struct Deadline<'a> {
    asking: &'a Asking,
    start: Instant,
    at: Instant,
    /// The time of [`Asking`] that `at` takes into account.
    counted: Duration,
    /// The same, when the request started.
    before: Duration,
}

impl Default for Asking {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            open: watch::Sender::new(0),
        }
    }
}

impl Asking {
    /// Notes a request of the server.
    pub(crate) fn begin(&self) -> Asked<'_> {
        let mut state = self.state();
        state.since.get_or_insert_with(Instant::now);
        self.open.send_modify(|open| *open += 1);
        Asked(self)
    }

    /// A time limit that begins now.
    pub(crate) fn deadline(&self, limit: Duration) -> Deadline<'_> {
        let (start, counted) = (Instant::now(), self.total());
        Deadline {
            asking: self,
            start,
            at: after(start, limit),
            counted,
            before: counted,
        }
    }

    /// The whole time so far.
    fn total(&self) -> Duration {
        let state = self.state();
        let current = state.since.map(|since| since.elapsed());
        state.total + current.unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, AskingState> {
        lock(&self.state)
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        self.0.open.send_modify(|open| *open -= 1);
        if *self.0.open.borrow() == 0
            && let Some(since) = state.since.take()
        {
            state.total += since.elapsed();
        }
    }
}

impl Deadline<'_> {
    /// Waits until the time is over.
    pub(crate) async fn over(&mut self) {
        loop {
            sleep_until(self.at).await;
            // An error would mean that there is no sender, but `asking` has it.
            let _ = self
                .asking
                .open
                .subscribe()
                .wait_for(|open| *open == 0)
                .await;
            let total = self.asking.total();
            let more = total.saturating_sub(self.counted);
            if more.is_zero() {
                return;
            }
            self.at = after(self.at, more);
            self.counted = total;
        }
    }

    /// Starts the time again, up to a total since the start.
    pub(crate) fn restart(&mut self, limit: Duration, total: Duration) {
        self.counted = self.asking.total();
        let asked = self.counted.saturating_sub(self.before);
        let last = after(self.start, total.saturating_add(asked));
        self.at = last.min(after(Instant::now(), limit));
    }

    /// How long the limit is, once the time is over.
    pub(crate) fn limit(&self) -> Duration {
        let passed = self.at.saturating_duration_since(self.start);
        passed.saturating_sub(self.counted.saturating_sub(self.before))
    }
}

/// Ten years.
const FAR_FUTURE: Duration = Duration::from_hours(10 * 365 * 24);

/// A later time. Durations such as `Duration::MAX` are longer than any clock goes.
fn after(start: Instant, duration: Duration) -> Instant {
    start
        .checked_add(duration)
        .unwrap_or_else(|| start + FAR_FUTURE)
}
