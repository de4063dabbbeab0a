//! Keeps what was read, so that a servlet does not run for each read of a resource.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
    time::{Duration, Instant},
};

use mcp_servlet_call::RequestMeta;
use mcp_servlet_common::lock;
use serde_json::Value;

use crate::ReadResourceResult;

/// How many results of one servlet are kept at most.
const MAX_ENTRIES: usize = 1000;

/// How large the results of one servlet may be together with their keys, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// The time for which clients may keep a result, in milliseconds.
const TTL: &str = "ttlMs";

/// The results of one servlet, by URI and caller.
#[derive(Default)]
pub(super) struct ResourceCache(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    entries: HashMap<Key, Entry>,
    bytes: usize,
    /// Counts the resources that were removed because they have changed.
    changes: u64,
}

/// What a result is kept under.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    uri: String,
    /// The [key](mcp_servlet_call::RequestCaller::key) of the only caller who gets it. Empty if all do.
    caller: String,
}

struct Entry {
    result: ReadResourceResult,
    size: usize,
    until: Instant,
}

/// A read that has begun. Its result is kept, unless a resource changes meanwhile.
pub(super) struct Reading {
    changes: u64,
    time: Duration,
}

impl Key {
    /// The key of a request. Callers that the server tells apart have results of their own, unless they are `shared`.
    pub(super) fn new(uri: &str, request_meta: &RequestMeta, shared: bool) -> Self {
        let caller = request_meta.caller.as_ref().filter(|_| !shared);
        Self {
            uri: uri.to_owned(),
            caller: caller.map_or_else(String::new, |caller| caller.key.clone()),
        }
    }
}

impl ResourceCache {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        lock(&self.0)
    }

    /// What was read before, with the time for which it is still kept.
    pub(super) fn get(&self, key: &Key) -> Option<ReadResourceResult> {
        let kept = self.lock();
        let entry = kept.entries.get(key)?;
        let left = entry.until.checked_duration_since(Instant::now())?;
        Some(with_ttl(entry.result.clone(), left))
    }

    /// Begins a read whose result is to be kept for `time`.
    pub(super) fn begin(&self, time: Duration) -> Reading {
        let changes = self.lock().changes;
        Reading { changes, time }
    }

    /// Keeps a result, and returns it with the time for which it is kept.
    pub(super) fn keep(
        &self,
        key: Key,
        reading: &Reading,
        result: ReadResourceResult,
    ) -> ReadResourceResult {
        let scope = result.json().get("cacheScope");
        let is_private = scope.is_some_and(|scope| scope == "private");
        if result.result_type() != "complete" || is_private {
            return result;
        }
        let own = result.json().get(TTL).and_then(Value::as_u64);
        let time = own.map_or(reading.time, |own| {
            reading.time.min(Duration::from_millis(own))
        });
        let json = serde_json::to_vec(result.json());
        let size = json.map_or(usize::MAX, |json| {
            json.len() + key.uri.len() + key.caller.len()
        });
        let mut kept = self.lock();
        if kept.changes == reading.changes && size <= MAX_BYTES && !time.is_zero() {
            kept.insert(key, result.clone(), size, Instant::now() + time);
            return with_ttl(result, time);
        }
        result
    }

    /// Drops a resource that has changed, for all callers.
    pub(super) fn forget(&self, uri: &str) {
        let mut kept = self.lock();
        kept.changes += 1;
        let keys = kept.entries.keys().filter(|key| key.uri == uri);
        for key in keys.cloned().collect::<Vec<_>>() {
            kept.remove(&key);
        }
    }
}

impl Kept {
    fn insert(&mut self, key: Key, result: ReadResourceResult, size: usize, until: Instant) {
        self.remove(&key);
        while self.entries.len() >= MAX_ENTRIES || self.bytes + size > MAX_BYTES {
            let next = self.entries.iter().min_by_key(|(_, entry)| entry.until);
            let Some(next) = next.map(|(key, _)| key.clone()) else {
                break;
            };
            self.remove(&next);
        }
        self.bytes += size;
        let entry = Entry {
            result,
            size,
            until,
        };
        self.entries.insert(key, entry);
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.size;
        }
    }
}

/// Whether a request can be answered with what another one has read. A request with answers to input
/// requests cannot.
pub(super) fn is_shared(request_meta: &RequestMeta) -> bool {
    request_meta.input_responses.is_none() && request_meta.request_state.is_none()
}

fn with_ttl(result: ReadResourceResult, time: Duration) -> ReadResourceResult {
    let mut json = result.into_json();
    let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    json.insert(TTL.to_owned(), milliseconds.into());
    ReadResourceResult::new(json)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn key(uri: &str) -> Key {
        Key::new(uri, &RequestMeta::default(), false)
    }

    fn result(text: &str) -> ReadResourceResult {
        let json = json!({ "contents": [{ "uri": "x:1", "text": text }] });
        ReadResourceResult::new(json.as_object().cloned().expect("an object"))
    }

    fn keep(cache: &ResourceCache, uri: &str, time: Duration, text: &str) {
        let reading = cache.begin(time);
        cache.keep(key(uri), &reading, result(text));
    }

    fn text(cache: &ResourceCache, uri: &str) -> Option<String> {
        let result = cache.get(&key(uri))?;
        Some(result.json()["contents"][0]["text"].as_str()?.to_owned())
    }

    #[test]
    fn keeps_results_for_their_time() {
        let cache = ResourceCache::default();
        keep(&cache, "x:1", MINUTE, "a");
        keep(&cache, "x:2", Duration::ZERO, "b");
        assert_eq!(text(&cache, "x:1").as_deref(), Some("a"));
        let left = cache.get(&key("x:1")).expect("it is kept").json()[TTL].as_u64();
        assert!(left.is_some_and(|left| (1..=60_000).contains(&left)));
        assert_eq!(text(&cache, "x:2"), None);
        cache.forget("x:1");
        assert_eq!(text(&cache, "x:1"), None);
    }

    #[test]
    fn a_change_during_a_read_wins() {
        let cache = ResourceCache::default();
        let reading = cache.begin(MINUTE);
        cache.forget("x:1");
        let read = cache.keep(key("x:1"), &reading, result("old"));
        assert_eq!(read.json().get(TTL), None);
        assert_eq!(text(&cache, "x:1"), None);
    }

    #[test]
    fn the_servlets_own_time_is_a_limit() {
        let cache = ResourceCache::default();
        let reading = cache.begin(MINUTE);
        let mut json = result("a").into_json();
        json.insert(TTL.to_owned(), 5.into());
        let read = cache.keep(key("x:1"), &reading, ReadResourceResult::new(json));
        assert_eq!(read.json()[TTL], 5);
    }

    #[test]
    fn memory_is_bounded() {
        let cache = ResourceCache::default();
        let large = "x".repeat(MAX_BYTES / 3);
        for uri in ["x:1", "x:2", "x:3", "x:4"] {
            keep(&cache, uri, MINUTE, &large);
        }
        assert!(cache.lock().bytes <= MAX_BYTES);
        assert_eq!(cache.lock().entries.len(), 2);
        assert!(cache.get(&key("x:4")).is_some() && cache.get(&key("x:1")).is_none());
        keep(&cache, "x:5", MINUTE, &large.repeat(4));
        assert!(cache.get(&key("x:5")).is_none() && cache.get(&key("x:4")).is_some());
        for number in 0..2 * MAX_ENTRIES {
            keep(&cache, &format!("y:{number}"), MINUTE, "a");
        }
        assert!(cache.lock().entries.len() <= MAX_ENTRIES);
    }
}
