//! One call: its time in the queue, its run, and how it is stopped.

pub(crate) mod watchdog;

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use extism::CancelHandle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::{exchange::Denied, lock::lock, options::Limits};

/// The minimum time that a call runs before it is interrupted.
///
/// An interrupt that arrives while the runtime is still entering the module would be lost, and so
/// would all later ones.
const SETTLE: Duration = Duration::from_millis(50);

/// How often an interrupt is repeated until the call ends. An interrupt from before the module ran
/// has no effect.
const REPEAT: Duration = Duration::from_millis(20);

/// How long a caller still waits for a call that was stopped. A host function that blocks, such as
/// a WASI function, cannot be interrupted.
const PATIENCE: Duration = Duration::from_secs(1);

/// A call that waits, runs, or has ended.
#[derive(Debug)]
pub(crate) struct Call {
    limits: Limits,
    phase: Mutex<Phase>,
    place: Mutex<Option<Place>>,
    given_up: Notify,
    /// Wakes host functions that wait.
    stopped: Condvar,
    requests: AtomicU32,
    /// The HTTP request that ended the call, because the operator does not allow it.
    denied: Mutex<Option<Denied>>,
}

/// The capacity that a call uses while it runs: one permit of its pool.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) permit: OwnedSemaphorePermit,
    /// Permits for calls that were stopped but do not end.
    pub(crate) abandoned: Arc<Semaphore>,
}

/// Why a call is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The call reached its time limit.
    Deadline(Duration),
    /// The caller no longer wants the result.
    Cancelled,
}

enum Phase {
    Waiting,
    Running {
        handle: CancelHandle,
        since: Instant,
    },
    Stopping {
        reason: Reason,
        /// `None` if the call was stopped before it ran.
        handle: Option<CancelHandle>,
        interrupt_at: Instant,
        give_up_at: Option<Instant>,
    },
    Ended,
}

impl std::fmt::Debug for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Waiting => "waiting",
            Self::Running { .. } => "running",
            Self::Stopping { .. } => "stopping",
            Self::Ended => "ended",
        })
    }
}

impl Call {
    /// A call whose clock starts when it begins to run.
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            phase: Mutex::new(Phase::Waiting),
            place: Mutex::new(None),
            given_up: Notify::new(),
            stopped: Condvar::new(),
            requests: AtomicU32::new(0),
            denied: Mutex::default(),
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Takes a place. The call holds it until it leaves the place or is dropped.
    pub(crate) fn enter(&self, place: Place) {
        *lock(&self.place) = Some(place);
    }

    /// Returns the place to the pool.
    pub(crate) fn leave(&self) {
        *lock(&self.place) = None;
    }

    /// Frees the place of a call that does not end. If too many calls do not end, this one keeps its place.
    fn step_aside(&self) {
        if let Some(place) = &mut *lock(&self.place)
            && let Ok(permit) = Arc::clone(&place.abandoned).try_acquire_owned()
        {
            place.permit = permit;
        }
    }

    /// Starts the clock. An error means that the call was stopped before it could run.
    pub(crate) fn begin(&self, handle: CancelHandle) -> Result<(), Reason> {
        let mut phase = lock(&self.phase);
        if let Phase::Stopping { reason, .. } = &*phase {
            return Err(*reason);
        }
        let since = Instant::now();
        *phase = Phase::Running { handle, since };
        Ok(())
    }

    /// Marks the call as ended. Returns the reason if the call was stopped.
    pub(crate) fn end(&self) -> Option<Reason> {
        match std::mem::replace(&mut *lock(&self.phase), Phase::Ended) {
            Phase::Stopping { reason, .. } => Some(reason),
            _ => None,
        }
    }

    /// Stops the call in any phase: a waiting call will not run, and a running call is interrupted.
    pub(crate) fn stop(&self, reason: Reason) {
        let now = Instant::now();
        let interrupt_at = {
            let mut phase = lock(&self.phase);
            let (handle, interrupt_at) = match std::mem::replace(&mut *phase, Phase::Waiting) {
                Phase::Waiting => (None, now),
                Phase::Running { handle, since } => (Some(handle), now.max(since + SETTLE)),
                other => {
                    *phase = other;
                    return;
                }
            };
            *phase = Phase::Stopping {
                reason,
                handle,
                interrupt_at,
                give_up_at: Some(interrupt_at + PATIENCE),
            };
            self.stopped.notify_all();
            interrupt_at
        };
        watchdog::wake_by(interrupt_at);
    }

    /// Does what is due and returns when the next action is due. The watchdog calls it.
    pub(crate) fn attend(&self, now: Instant) -> Option<Instant> {
        let mut phase = lock(&self.phase);
        if let (Phase::Running { since, .. }, Some(limit)) = (&*phase, self.limits.timeout) {
            let deadline = since.checked_add(limit)?;
            if now < deadline {
                return Some(deadline);
            }
            let Phase::Running { handle, since } = std::mem::replace(&mut *phase, Phase::Ended)
            else {
                return None;
            };
            let interrupt_at = now.max(since + SETTLE);
            *phase = Phase::Stopping {
                reason: Reason::Deadline(limit),
                handle: Some(handle),
                interrupt_at,
                give_up_at: Some(interrupt_at + PATIENCE),
            };
            self.stopped.notify_all();
        }
        let Phase::Stopping {
            handle: Some(handle),
            interrupt_at,
            give_up_at,
            ..
        } = &mut *phase
        else {
            return None;
        };
        if now >= *interrupt_at {
            // It fails only if the runtime's timer has ended, which happens when the process ends.
            let _ = handle.cancel();
            *interrupt_at = now + REPEAT;
        }
        if give_up_at.is_some_and(|at| now >= at) {
            *give_up_at = None;
            self.step_aside();
            self.given_up.notify_one();
        }
        Some(*interrupt_at)
    }

    /// Waits until the call was stopped and did not end within [`PATIENCE`]. Returns why it was stopped.
    pub(crate) async fn given_up(&self) -> Reason {
        self.given_up.notified().await;
        self.stopping().unwrap_or(Reason::Cancelled)
    }

    /// Why the call is being stopped; `None` if it is not.
    pub(crate) fn stopping(&self) -> Option<Reason> {
        match &*lock(&self.phase) {
            Phase::Stopping { reason, .. } => Some(*reason),
            _ => None,
        }
    }

    /// How much time the call has left; `None` means no time limit.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        match &*lock(&self.phase) {
            Phase::Running { since, .. } => {
                let end = since.checked_add(self.limits.timeout?)?;
                Some(end.saturating_duration_since(Instant::now()))
            }
            Phase::Stopping { .. } => Some(Duration::ZERO),
            _ => self.limits.timeout,
        }
    }

    /// Waits for this time, but stops waiting if the call is stopped. Returns whether the call goes on.
    pub(crate) fn sleep(&self, time: Duration) -> bool {
        let end = Instant::now().checked_add(time);
        let mut phase = lock(&self.phase);
        loop {
            if matches!(&*phase, Phase::Stopping { .. }) {
                return false;
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return true;
            }
            let wait = left.unwrap_or(Duration::MAX).min(Duration::from_hours(1));
            let waited = self.stopped.wait_timeout(phase, wait);
            phase = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Stops the call because its time is over. For host functions that notice it before the watchdog does.
    pub(crate) fn expire(&self) {
        if let Some(limit) = self.limits.timeout {
            self.stop(Reason::Deadline(limit));
        }
    }

    /// Records the HTTP request that ended the call because the operator does not allow it.
    pub(crate) fn deny(&self, denied: Denied) {
        *lock(&self.denied) = Some(denied);
    }

    /// The HTTP request that ended the call because the operator does not allow it.
    pub(crate) fn take_denied(&self) -> Option<Denied> {
        lock(&self.denied).take()
    }

    /// Counts an HTTP request of this call. Returns how many there were before.
    pub(crate) fn count_request(&self) -> u32 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }
}

/// The call that a slot is running, for host functions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Current(Arc<Mutex<Option<Arc<Call>>>>);

impl Current {
    pub(crate) fn set(&self, call: Option<Arc<Call>>) {
        *lock(&self.0) = call;
    }

    /// The running call. `None` while an instance is created: code that runs then belongs to no call.
    pub(crate) fn get(&self) -> Option<Arc<Call>> {
        lock(&self.0).clone()
    }
}
