//! Clients that send requests all the time.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use puppet::eventually_blocking;

/// How many clients there are.
pub(crate) const CLIENTS: usize = 8;

/// What the clients got.
#[derive(Default)]
pub(crate) struct Counts {
    ok: AtomicUsize,
    failures: Mutex<Vec<String>>,
    end: AtomicBool,
}

impl Counts {
    pub(crate) fn ok(&self) -> usize {
        self.ok.load(Ordering::Relaxed)
    }

    /// What went wrong, and which client noticed.
    pub(crate) fn failures(&self) -> Vec<String> {
        let failures = self.failures.lock();
        failures.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for this many more answers.
    pub(crate) fn more(&self, number: usize) {
        let goal = self.ok() + number;
        eventually_blocking("more answers", || self.ok() >= goal);
    }

    fn add(&self, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => {
                self.ok.fetch_add(1, Ordering::Relaxed);
            }
            Err(failure) => {
                let failures = self.failures.lock();
                failures
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(failure);
            }
        }
    }
}

/// Lets the clients end, also if the test fails.
struct Ends<'c>(&'c Counts);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.end.store(true, Ordering::Relaxed);
    }
}

/// Several clients do something again and again while `meanwhile` runs. `client` makes each of them.
pub(crate) fn under_load<C: FnMut() -> Result<(), String>>(
    client: impl Fn(usize) -> C + Sync,
    meanwhile: impl FnOnce(&Counts),
) -> Counts {
    let counts = Counts::default();
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (counts, client) = (&counts, &client);
            scope.spawn(move || {
                let mut act = client(number);
                while !counts.end.load(Ordering::Relaxed) {
                    counts.add(act());
                }
            });
        }
        let _end = Ends(&counts);
        meanwhile(&counts);
    });
    counts
}
