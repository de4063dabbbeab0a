//! The buckets of quotas.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use super::{Limit, Quota, Rate, Spent};
use crate::caller::Owner;

/// The maximum number of buckets. Those that were not used for the longest time are forgotten first.
pub(super) const MAX_BUCKETS: usize = 100_000;
/// How many buckets stay when there are too many.
const BUCKETS_AFTER_CLEANUP: usize = MAX_BUCKETS / 8 * 7;

/// Rounding must not let a call wait for less than a thousandth of another one.
const ROUNDING: f64 = 1e-3;

/// The bucket of a quota, for one caller or for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BucketKey {
    /// The number of the quota.
    pub(super) quota: usize,
    pub(super) owner: Option<Owner>,
}

#[derive(Default)]
pub(super) struct Table {
    buckets: HashMap<BucketKey, Bucket>,
}

/// How much of a quota is left.
pub(super) struct Bucket {
    calls: f64,
    bytes: f64,
    fuel: f64,
    running: u64,
    /// When the levels were as they are.
    at: Instant,
}

impl Table {
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }

    /// A bucket with its levels at this time.
    pub(super) fn bucket(&mut self, key: &BucketKey, quota: &Quota, now: Instant) -> &mut Bucket {
        if self.buckets.len() >= MAX_BUCKETS && !self.buckets.contains_key(key) {
            self.forget(now);
        }
        let bucket = self
            .buckets
            .entry(*key)
            .or_insert_with(|| Bucket::full(quota, now));
        bucket.refill(quota, now);
        bucket
    }

    /// Notes that a call has ended.
    pub(super) fn end(&mut self, key: &BucketKey) {
        if let Some(bucket) = self.buckets.get_mut(key) {
            bucket.running = bucket.running.saturating_sub(1);
        }
    }

    /// Forgets buckets without running calls: those that were not used for the longest time, which are the fullest ones of each quota
    /// as a rule.
    fn forget(&mut self, now: Instant) {
        let idle = self.buckets.values().filter(|one| one.running == 0);
        let mut times: Vec<Duration> = idle
            .map(|one| now.saturating_duration_since(one.at))
            .collect();
        let surplus = self
            .buckets
            .len()
            .saturating_sub(BUCKETS_AFTER_CLEANUP)
            .min(times.len());
        let Some(last) = surplus.checked_sub(1) else {
            return;
        };
        let (_, shortest, _) = times.select_nth_unstable_by(last, |a, b| b.cmp(a));
        let shortest = *shortest;
        self.buckets
            .retain(|_, one| one.running > 0 || now.saturating_duration_since(one.at) < shortest);
    }
}

/// The highest level.
fn capacity(rate: Option<Rate>) -> f64 {
    rate.map_or(0.0, Rate::exact)
}

fn call_capacity(quota: &Quota) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "bursts are small numbers")]
    let burst = quota.burst.map(|burst| burst as f64);
    burst.unwrap_or_else(|| capacity(quota.calls))
}

impl Bucket {
    fn full(quota: &Quota, now: Instant) -> Self {
        Self {
            calls: call_capacity(quota),
            bytes: capacity(quota.bytes),
            fuel: capacity(quota.fuel),
            running: 0,
            at: now,
        }
    }

    fn refill(&mut self, quota: &Quota, now: Instant) {
        let time = now.saturating_duration_since(self.at);
        let refilled = |level: f64, rate: Option<Rate>, most: f64| {
            let more = rate.map_or(0.0, |rate| rate.in_time(time));
            (level + more).min(most)
        };
        self.calls = refilled(self.calls, quota.calls, call_capacity(quota));
        self.bytes = refilled(self.bytes, quota.bytes, capacity(quota.bytes));
        self.fuel = refilled(self.fuel, quota.fuel, capacity(quota.fuel));
        self.at = self.at.max(now);
    }

    /// Which limit is reached, and for how long. `running` has no known end, so a second is a guess.
    pub(super) fn exceeded(&self, quota: &Quota) -> Option<(Limit, Duration)> {
        let waits = |rate: Option<Rate>, level: f64, needed: f64| {
            let rate = rate?;
            let missing = needed - level;
            (missing > ROUNDING).then(|| (rate, rate.time_for(missing)))
        };
        let calls = waits(quota.calls, self.calls, 1.0).map(|(r, time)| (Limit::Calls(r), time));
        let bytes = waits(quota.bytes, self.bytes, 1.0).map(|(r, time)| (Limit::Bytes(r), time));
        let fuel = waits(quota.fuel, self.fuel, 1.0).map(|(r, time)| (Limit::Fuel(r), time));
        let running = quota
            .running
            .filter(|most| self.running >= *most)
            .map(|most| (Limit::Running(most), Duration::from_secs(1)));
        let all = [calls, running, bytes, fuel].into_iter().flatten();
        all.max_by_key(|(_, time)| *time)
    }

    pub(super) fn begin(&mut self) {
        self.calls -= 1.0;
        self.running += 1;
    }

    #[expect(clippy::cast_precision_loss, reason = "a quota need not be exact")]
    pub(super) fn charge(&mut self, spent: Spent) {
        self.bytes -= spent.bytes as f64;
        self.fuel -= spent.fuel as f64;
    }
}
