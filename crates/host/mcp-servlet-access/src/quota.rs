//! Quotas: how much callers may use in a time.
//!
//! A quota is a token bucket. It takes a call before the call runs, and bytes and fuel when they are known, after it. So its level can
//! be below zero, and then the next call has to wait. Nothing here reads a clock: functions take the time as an argument.
//!
//! See `docs/decisions/0077-quotas.md`.

mod rate;
mod table;

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use mcp_servlet_common::lock;

use crate::{caller::Owner, rules::Pattern};
pub use rate::{Period, Rate};
use table::{BucketKey, Table};

/// A limit for the calls of an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// Whose calls it counts together.
    pub per: Per,
    /// The tools that it is about. None for all requests that servlets and remotes answer: calls, reads, prompts and completions.
    pub tool: Option<Pattern>,
    /// How many calls may begin.
    pub calls: Option<Rate>,
    /// How many calls may begin at once after a pause. None for the calls of one period.
    pub burst: Option<u64>,
    /// How many calls may run at once.
    pub running: Option<u64>,
    /// How many bytes of JSON arguments and results may have.
    pub bytes: Option<Rate>,
    /// How much fuel calls may take.
    pub fuel: Option<Rate>,
}

/// Whose calls a quota counts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Per {
    /// Each caller has a bucket. Callers without credentials share one.
    Caller,
    /// All callers share one bucket.
    Endpoint,
}

/// What a call took, for [`Permit::charge`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// The bytes of its arguments and its result.
    pub bytes: u64,
    /// Its fuel, if that is counted.
    pub fuel: u64,
}

/// The quotas of an endpoint, and how much of them is used.
#[derive(Default)]
pub struct Quotas {
    all: Vec<Quota>,
    table: Mutex<Table>,
}

/// The right to run a call. It counts as running until this is dropped.
#[derive(Debug)]
pub struct Permit {
    quotas: Arc<Quotas>,
    keys: Vec<BucketKey>,
}

/// Why a call must wait.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}; try again in {} s", self.seconds())]
pub struct Exceeded {
    /// What is used up, in the words of the configuration, such as `calls 60/m per caller`.
    pub quota: String,
    /// When another call may succeed. Running calls could end before.
    pub retry_after: Duration,
    text: String,
}

impl Quotas {
    /// Quotas that are unused.
    pub fn new(all: Vec<Quota>) -> Self {
        Self {
            all,
            table: Mutex::default(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The quotas as they are configured.
    pub fn all(&self) -> &[Quota] {
        &self.all
    }

    /// Takes a call from each quota that is about it, or from none of them. `tool` is None for other requests than calls of tools.
    ///
    /// # Errors
    /// [`Exceeded`], for the quota that lets the caller wait longest.
    pub fn begin(
        self: &Arc<Self>,
        owner: Option<Owner>,
        tool: Option<&str>,
        now: Instant,
    ) -> Result<Permit, Exceeded> {
        let keys: Vec<BucketKey> = self.keys(owner, tool).collect();
        let mut table = lock(&self.table);
        let waits = keys.iter().filter_map(|key| {
            let quota = &self.all[key.quota];
            let exceeded = table.bucket(key, quota, now).exceeded(quota)?;
            Some((quota, exceeded))
        });
        if let Some((quota, (limit, wait))) = waits.max_by_key(|(_, (_, wait))| *wait) {
            return Err(quota.exceeded(limit, wait));
        }
        for key in &keys {
            table.bucket(key, &self.all[key.quota], now).begin();
        }
        drop(table);
        Ok(Permit {
            quotas: Arc::clone(self),
            keys,
        })
    }

    fn keys(&self, owner: Option<Owner>, tool: Option<&str>) -> impl Iterator<Item = BucketKey> {
        let about = self.all.iter().enumerate().filter(move |(_, quota)| {
            let pattern = quota.tool.as_ref();
            pattern.is_none_or(|pattern| tool.is_some_and(|tool| pattern.matches(tool)))
        });
        about.map(move |(at, quota)| BucketKey {
            quota: at,
            owner: owner.filter(|_| quota.per == Per::Caller),
        })
    }
}

impl fmt::Debug for Quotas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Quotas").field(&self.all).finish()
    }
}

impl Permit {
    /// Takes what the call used.
    pub fn charge(&self, spent: Spent, now: Instant) {
        let quotas = &self.quotas;
        let mut table = lock(&quotas.table);
        for key in &self.keys {
            let quota = &quotas.all[key.quota];
            table.bucket(key, quota, now).charge(spent);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let quotas = &self.quotas;
        let mut table = lock(&quotas.table);
        for key in &self.keys {
            table.end(key);
        }
    }
}

/// A limit of a quota that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Calls(Rate),
    Running(u64),
    Bytes(Rate),
    Fuel(Rate),
}

impl Quota {
    fn exceeded(&self, limit: Limit, wait: Duration) -> Exceeded {
        let per = match self.per {
            Per::Caller => "caller",
            Per::Endpoint => "endpoint",
        };
        // All tools that match count together.
        let tool = self.tool.as_ref();
        let what = tool.map_or_else(|| "this server".to_owned(), |tool| format!("`{tool}`"));
        let (quota, text) = match limit {
            Limit::Calls(rate) => (
                format!("calls {rate}"),
                format!(
                    "too many calls of {what}: the limit is {} in {}",
                    rate.amount, rate.period
                ),
            ),
            Limit::Running(most) => (
                format!("running {most}"),
                format!("too many calls of {what} run: the limit is {most} at once"),
            ),
            Limit::Bytes(rate) => (
                format!("bytes {}", rate.in_units()),
                format!("calls of {what} have used up the bytes of {}", rate.period),
            ),
            Limit::Fuel(rate) => (
                format!("fuel {rate}"),
                format!("calls of {what} have used up the fuel of {}", rate.period),
            ),
        };
        let about = self
            .tool
            .as_ref()
            .map_or_else(String::new, |tool| format!(" of {tool}"));
        Exceeded {
            quota: format!("{quota}{about} per {per}"),
            retry_after: wait,
            text,
        }
    }
}

impl Exceeded {
    /// The seconds after which another call may succeed, at least one.
    pub fn seconds(&self) -> u64 {
        let more = u64::from(self.retry_after.subsec_nanos() > 0);
        (self.retry_after.as_secs() + more).max(1)
    }
}

#[cfg(test)]
mod tests;
