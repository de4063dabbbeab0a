//! Keeps a server under load, and watches its memory.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::ensure;

use crate::http::Listening;

/// The minute after which memory should stay constant.
pub(super) const SETTLED_MINUTE: u64 = 5;
/// How much it may still change, as a fraction.
const TOLERANCE: f64 = 0.05;
/// The interval between two looks at the memory.
const MEMORY_INTERVAL: Duration = Duration::from_millis(100);

/// How far a run is, for its workers.
#[derive(Default)]
pub(super) struct Progress {
    ended: AtomicBool,
    requests: AtomicU64,
}

impl Progress {
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits, but not longer than the run. Returns whether it goes on.
    pub(super) fn goes_on_after(&self, time: Duration) -> bool {
        let start = Instant::now();
        while start.elapsed() < time && !self.has_ended() {
            thread::sleep(MEMORY_INTERVAL);
        }
        !self.has_ended()
    }
}

/// Does something until the run has ended. An error ends the run.
pub(super) type Worker<'a> = Box<dyn FnOnce(&Progress) -> anyhow::Result<()> + Send + 'a>;

/// Runs all workers for this many minutes.
pub(super) fn run(
    server: &Listening,
    minutes: u64,
    workers: Vec<Worker<'_>>,
) -> anyhow::Result<()> {
    let progress = &Progress::default();
    thread::scope(|scope| {
        let workers: Vec<_> = workers
            .into_iter()
            .map(|worker| scope.spawn(move || worker(progress)))
            .collect();
        let watched = watch(server, minutes, &progress.requests, || {
            workers.iter().any(ScopedJoinHandle::is_finished)
        });
        progress.ended.store(true, Ordering::Relaxed);
        for worker in workers {
            worker.join().expect("workers do not panic")?;
        }
        watched
    })
}

/// Prints the average memory of each minute, because it varies with the running requests. After minute [`SETTLED_MINUTE`], each must be
/// close to the value at that minute.
fn watch(
    server: &Listening,
    minutes: u64,
    requests: &AtomicU64,
    failed: impl Fn() -> bool,
) -> anyhow::Result<()> {
    println!("{:>6}  {:>10}  {:>9}", "minute", "requests", "MiB");
    let start = Instant::now();
    let mut settled = None;
    let mut ratios = Vec::new();
    for minute in 1..=minutes {
        let mut taken = Vec::new();
        while start.elapsed() < Duration::from_secs(60 * minute) {
            if failed() {
                return Ok(());
            }
            taken.push(server.process.resident()?);
            thread::sleep(MEMORY_INTERVAL);
        }
        let average = taken.iter().sum::<f64>() / taken.len() as f64;
        println!(
            "{minute:>6}  {:>10}  {average:>9.1}",
            requests.load(Ordering::Relaxed)
        );
        if minute >= SETTLED_MINUTE {
            let settled = *settled.get_or_insert(average);
            ratios.push(average / settled);
        }
    }
    let [least, most] = [f64::min, f64::max].map(|choose| ratios.iter().copied().fold(1.0, choose));
    println!(
        "minutes {SETTLED_MINUTE} to {minutes}, relative to minute {SETTLED_MINUTE}: {least:.3} to {most:.3}"
    );
    ensure!(
        1.0 - least <= TOLERANCE && most - 1.0 <= TOLERANCE,
        "memory changed by more than {:.0} %",
        TOLERANCE * 100.0
    );
    Ok(())
}
