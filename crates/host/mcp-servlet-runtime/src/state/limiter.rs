//! Bounds the memory of an instance: its memories, its tables and the heap of its garbage collector together.

use std::sync::Arc;

use wasmtime::ResourceLimiter;

use crate::call::Progress;

/// The memory that the kernel begins with is free: 16 pages.
const FREE: usize = 1 << 20;

/// The size of a reference in a table in bytes.
const REFERENCE: usize = 8;

/// All tables together may grow by this fraction (1/16) of the memory limit.
const PART: usize = 16;

/// Counts the memory of an instance.
#[derive(Debug)]
pub(crate) struct Limiter {
    limit: Option<usize>,
    /// Bytes in memories and tables.
    used: usize,
    /// By how many bytes tables have grown.
    grown: usize,
    /// How many tables of the module are not there yet. They come before its start function runs.
    missing_tables: u32,
    /// Where the call shows its memory.
    progress: Arc<Progress>,
}

/// The instance needs more memory than its limit.
#[derive(Debug, thiserror::Error)]
#[error("it exceeds its memory limit")]
pub(crate) struct OutOfMemory;

/// The tables of a module are larger than the memory limit.
#[derive(Debug, thiserror::Error)]
#[error("its tables begin with {bytes} bytes; the memory limit is {limit} bytes")]
pub(crate) struct LargeTables {
    bytes: usize,
    limit: usize,
}

impl Limiter {
    pub(crate) fn new(limit: Option<u64>, progress: &Arc<Progress>) -> Self {
        let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Self {
            limit,
            used: 0,
            grown: 0,
            missing_tables: 0,
            progress: Arc::clone(progress),
        }
    }

    /// Begins another call of the instance.
    pub(crate) fn begin(&mut self, progress: &Arc<Progress>) {
        self.progress = Arc::clone(progress);
        self.progress.set_memory(self.used());
    }

    /// Expects the tables of a module at the beginning of their instance. Later, tables only grow.
    pub(crate) fn expect_tables(&mut self, tables: u32) {
        self.missing_tables = tables;
    }

    /// How many bytes the instance uses. Memory does not shrink, so this is also the maximum so far.
    pub(crate) fn used(&self) -> u64 {
        self.used.saturating_sub(FREE) as u64
    }

    fn has_room(&self, bytes: usize) -> bool {
        let room = |limit: usize| limit.saturating_add(FREE).saturating_sub(self.used);
        self.limit.is_none_or(|limit| bytes <= room(limit))
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if !self.has_room(desired - current) {
            return Err(OutOfMemory.into());
        }
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.used += desired - current;
        self.progress.set_memory(self.used());
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let bytes = (desired - current).saturating_mul(REFERENCE);
        if self.missing_tables > 0 {
            if !self.has_room(bytes) {
                let limit = self.limit.unwrap_or(usize::MAX);
                return Err(LargeTables { bytes, limit }.into());
            }
            self.missing_tables -= 1;
        } else {
            let grown = self.grown.saturating_add(bytes);
            let is_bounded = maximum.is_none_or(|maximum| desired <= maximum);
            let is_small = self.limit.is_none_or(|limit| grown <= limit / PART);
            if !is_bounded || !is_small || !self.has_room(bytes) {
                return Ok(false);
            }
            self.grown = grown;
        }
        self.used += bytes;
        self.progress.set_memory(self.used());
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 1 << 16;

    #[test]
    fn memories_share_one_limit() {
        let mut limiter = Limiter::new(Some(4 * PAGE as u64), &Arc::default());
        let mut grow = |from, to, maximum| limiter.memory_growing(from * PAGE, to * PAGE, maximum);
        assert!(
            grow(0, 16, None).is_ok_and(|grows| grows),
            "the kernel is free"
        );
        assert!(grow(0, 3, None).is_ok_and(|grows| grows));
        assert!(
            grow(3, 4, Some(3 * PAGE)).is_ok_and(|grows| !grows),
            "its own maximum"
        );
        let error = grow(16, 18, None).expect_err("one page is left");
        assert!(error.is::<OutOfMemory>());
        assert!(grow(16, 17, None).is_ok_and(|grows| grows));
        assert_eq!(limiter.used(), 4 * PAGE as u64);
    }

    #[test]
    fn tables_grow_by_a_part_of_the_memory() {
        let mut limiter = Limiter::new(Some(1 << 20), &Arc::default());
        limiter.expect_tables(2);
        let entries = (1 << 20) / PART / REFERENCE;
        let mut grow = |from, to| limiter.table_growing(from, to, Some(4 * entries));
        assert!(grow(0, 0).is_ok_and(|grows| grows), "an empty table");
        assert!(
            grow(0, 2 * entries).is_ok_and(|grows| grows),
            "it begins like this"
        );
        assert!(grow(2 * entries, 3 * entries + 1).is_ok_and(|grows| !grows));
        assert!(grow(2 * entries, 3 * entries).is_ok_and(|grows| grows));
        assert!(
            grow(1, 2).is_ok_and(|grows| !grows),
            "the part of all tables"
        );
        assert!(grow(0, 1).is_ok_and(|grows| !grows), "an empty table too");
        let mut limiter = Limiter::new(Some(1 << 20), &Arc::default());
        limiter.expect_tables(1);
        let error = limiter.table_growing(0, 1 << 20, None).expect_err("8 MiB");
        let expected = "its tables begin with 8388608 bytes; the memory limit is 1048576 bytes";
        assert_eq!(error.to_string(), expected);
    }
}
