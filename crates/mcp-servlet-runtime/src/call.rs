//! One call, from the queue to its end, and how it is stopped on the way.

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

/// How long a call has run, at least, before it is interrupted.
///
/// An interrupt that arrives while the runtime is still entering the module would be lost, and all that follow it.
const SETTLE: Duration = Duration::from_millis(50);

/// How often an interrupt is repeated until the call ends: one that came before the module ran has no effect.
const REPEAT: Duration = Duration::from_millis(20);

/// How long a call that was told to stop may keep those waiting who asked for it: a host function, such as a sleep of
/// WASI, cannot be interrupted.
const PATIENCE: Duration = Duration::from_secs(1);

/// A call that waits, runs, or has ended.
#[derive(Debug)]
pub(crate) struct Call {
    limits: Limits,
    phase: Mutex<Phase>,
    place: Mutex<Option<Place>>,
    given_up: Notify,
    /// Tells host functions that wait.
    stopped: Condvar,
    requests: AtomicU32,
    /// The HTTP request that ended the call, because the operator does not allow it.
    denied: Mutex<Option<Denied>>,
}

/// What a call occupies while it runs: one of as many places as there may be instances.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) permit: OwnedSemaphorePermit,
    /// The places of calls that do not end although they were told to.
    pub(crate) aside: Arc<Semaphore>,
}

/// Why a call is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It ran for as long as it may.
    Deadline(Duration),
    /// Nobody wants the result any more.
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
        /// None: it did not run yet, and will not.
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
    /// A call whose time begins once it runs.
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

    /// How far it may go.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Takes a place, until the call leaves it or is dropped.
    pub(crate) fn enter(&self, place: Place) {
        *lock(&self.place) = Some(place);
    }

    /// Gives the place to another call.
    pub(crate) fn leave(&self) {
        *lock(&self.place) = None;
    }

    /// Lets another call have the place of this one, which does not end. If too many are like it, they keep theirs.
    fn step_aside(&self) {
        if let Some(place) = &mut *lock(&self.place)
            && let Ok(permit) = Arc::clone(&place.aside).try_acquire_owned()
        {
            place.permit = permit;
        }
    }

    /// The clock starts. An error says that the call was stopped before that.
    pub(crate) fn begin(&self, handle: CancelHandle) -> Result<(), Reason> {
        let mut phase = lock(&self.phase);
        if let Phase::Stopping { reason, .. } = &*phase {
            return Err(*reason);
        }
        let since = Instant::now();
        *phase = Phase::Running { handle, since };
        Ok(())
    }

    /// The call ended by itself; or it did so because it was stopped, then this says why.
    pub(crate) fn end(&self) -> Option<Reason> {
        match std::mem::replace(&mut *lock(&self.phase), Phase::Ended) {
            Phase::Stopping { reason, .. } => Some(reason),
            _ => None,
        }
    }

    /// Stops the call wherever it is: one that waits will not run, one that runs is interrupted.
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

    /// Does what is due, and says when something is due again. Called by the watchdog.
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
            // It fails only when the runtime's timer has ended, with the process.
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

    /// Returns when the call was told to stop and did not, for [`PATIENCE`]; why it was told to.
    pub(crate) async fn given_up(&self) -> Reason {
        self.given_up.notified().await;
        self.stopping().unwrap_or(Reason::Cancelled)
    }

    /// Why the call is being stopped, if it is.
    pub(crate) fn stopping(&self) -> Option<Reason> {
        match &*lock(&self.phase) {
            Phase::Stopping { reason, .. } => Some(*reason),
            _ => None,
        }
    }

    /// How long the call may go on; `None` means without end.
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

    /// Waits for that long, but no longer than the call may run; whether the call goes on.
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

    /// Its time is over, as a host function noticed before the watchdog did.
    pub(crate) fn expire(&self) {
        if let Some(limit) = self.limits.timeout {
            self.stop(Reason::Deadline(limit));
        }
    }

    /// Notes that an HTTP request that the operator does not allow ends the call.
    pub(crate) fn deny(&self, denied: Denied) {
        *lock(&self.denied) = Some(denied);
    }

    /// The HTTP request that ended the call, if the operator does not allow it.
    pub(crate) fn take_denied(&self) -> Option<Denied> {
        lock(&self.denied).take()
    }

    /// Counts an HTTP request of this call; how many there were before.
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

    /// The call, while there is one: what runs at the start of an instance belongs to none.
    pub(crate) fn get(&self) -> Option<Arc<Call>> {
        lock(&self.0).clone()
    }
}
