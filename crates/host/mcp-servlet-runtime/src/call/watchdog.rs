//! The thread that stops calls whose time is over and drops idle instances.

use std::{
    collections::HashMap,
    sync::{Arc, Condvar, LazyLock, Mutex, Weak},
    thread,
    time::Instant,
};

use super::Call;
use crate::lock::lock;

static WATCHDOG: LazyLock<Watchdog> = LazyLock::new(|| {
    let run = || WATCHDOG.run();
    let thread = thread::Builder::new().name("servlet-watchdog".to_owned());
    thread
        .spawn(run)
        .expect("the system has room for one thread");
    Watchdog::default()
});

#[derive(Default)]
struct Watchdog {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// When the watchdog checks next, unless it is woken before.
    next: Option<Instant>,
    calls: HashMap<u64, Arc<Call>>,
    last_call: u64,
    pools: Vec<Weak<dyn Idle>>,
}

/// Something with items that expire, such as a pool of instances.
pub(crate) trait Idle: Send + Sync {
    /// Moves expired items to `garbage`. Returns when to check again.
    fn evict(&self, now: Instant, garbage: &mut Garbage) -> Option<Instant>;
}

/// Items that the watchdog drops after it has released its lock.
pub(crate) type Garbage = Vec<Box<dyn Send>>;

/// Removes a call from the watchdog's list when dropped.
pub(crate) struct Watch(u64);

/// Watches a call from its beginning.
pub(crate) fn watch(call: Arc<Call>) -> Watch {
    let mut state = lock(&WATCHDOG.state);
    state.last_call += 1;
    let id = state.last_call;
    let next = call.attend(Instant::now());
    state.calls.insert(id, call);
    if let Some(at) = next {
        WATCHDOG.wake(&mut state, at);
    }
    Watch(id)
}

impl Drop for Watch {
    fn drop(&mut self) {
        lock(&WATCHDOG.state).calls.remove(&self.0);
    }
}

/// Watches the idle instances of a pool until the pool is dropped.
pub(crate) fn watch_pool(pool: Weak<dyn Idle>) {
    lock(&WATCHDOG.state).pools.push(pool);
}

/// Makes the watchdog check at this time at the latest.
pub(crate) fn wake_by(at: Instant) {
    WATCHDOG.wake(&mut lock(&WATCHDOG.state), at);
}

impl Watchdog {
    fn wake(&self, state: &mut State, at: Instant) {
        if state.next.is_none_or(|next| at < next) {
            state.next = Some(at);
            self.changed.notify_one();
        }
    }

    fn run(&self) {
        let mut state = lock(&self.state);
        loop {
            let garbage = state.look_around(Instant::now());
            if !garbage.is_empty() {
                // Freeing memory takes time, and no call should wait for it.
                drop(state);
                drop(garbage);
                state = lock(&self.state);
                continue;
            }
            let wait = state
                .next
                .map(|next| next.saturating_duration_since(Instant::now()));
            state = match wait {
                None => self
                    .changed
                    .wait(state)
                    .unwrap_or_else(std::sync::PoisonError::into_inner),
                Some(wait) => {
                    let waited = self.changed.wait_timeout(state, wait);
                    waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
                }
            };
        }
    }
}

impl State {
    /// Does what is due and records when the next action is due. Returns what can be dropped.
    fn look_around(&mut self, now: Instant) -> Garbage {
        let mut garbage = Garbage::new();
        self.next = self
            .calls
            .values()
            .filter_map(|call| call.attend(now))
            .min();
        self.pools.retain(|pool| {
            let Some(pool) = pool.upgrade() else {
                return false;
            };
            let next = pool.evict(now, &mut garbage);
            self.next = [self.next, next].into_iter().flatten().min();
            true
        });
        garbage
    }
}
