//! Which blocks the memory for messages has.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// The offset of the first block. In Extism's kernel, none is below 64.
const START: u64 = 80;

/// Blocks begin at multiples of this, because servlets read eight bytes at a time.
const ALIGNMENT: u64 = 8;

/// The size of the smallest block. This host's entry for a block takes about as much memory, which no limit counts.
const SMALLEST: u64 = 64;

/// A block that is reused gives back the rest if that is at least this large.
const SPLIT: u64 = 128;

/// Blocks by offset.
pub(super) struct Blocks {
    used: BTreeMap<u64, Block>,
    /// Free blocks: their sizes and offsets.
    free: BTreeSet<(u64, u64)>,
    end: u64,
}

struct Block {
    size: u64,
    /// The length that the servlet or this host has asked for.
    length: u64,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            used: BTreeMap::new(),
            free: BTreeSet::new(),
            end: START,
        }
    }
}

/// The size of a block for this many bytes.
fn size(length: u64) -> u64 {
    let length = length.max(SMALLEST);
    length.checked_next_multiple_of(ALIGNMENT).unwrap_or(length)
}

impl Blocks {
    /// Removes all blocks. Returns where they were.
    pub(super) fn clear(&mut self) -> Range<usize> {
        let end = std::mem::take(self).end;
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        at(START)..at(end)
    }

    /// The length of a block. `None` if there is no block at this offset.
    pub(super) fn length(&self, at: u64) -> Option<u64> {
        self.used.get(&at).map(|block| block.length)
    }

    /// Frees a block. Returns whether there was one at this offset.
    pub(super) fn free(&mut self, at: u64) -> bool {
        let block = self.used.remove(&at);
        if let Some(block) = &block {
            self.free.insert((block.size, at));
        }
        block.is_some()
    }

    /// Takes the smallest free block that is large enough.
    pub(super) fn reuse(&mut self, length: u64) -> Option<u64> {
        let wanted = size(length);
        let &(found, at) = self.free.range((wanted, 0)..).next()?;
        self.free.remove(&(found, at));
        let rest = found - wanted;
        if rest < SPLIT {
            return Some(self.take(at, found, length));
        }
        self.free.insert((rest, at));
        Some(self.take(at + rest, wanted, length))
    }

    /// The end of the memory that [`append`](Self::append) needs.
    pub(super) fn end_after(&self, length: u64) -> u64 {
        self.end.saturating_add(size(length))
    }

    /// Adds a block behind all others.
    pub(super) fn append(&mut self, length: u64) -> u64 {
        let at = self.end;
        self.end = self.end_after(length);
        self.take(at, size(length), length)
    }

    fn take(&mut self, at: u64, size: u64, length: u64) -> u64 {
        self.used.insert(at, Block { size, length });
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_blocks_are_used_again() {
        let mut blocks = Blocks::default();
        let first = blocks.append(1000);
        let second = blocks.append(10);
        assert_eq!(blocks.reuse(1), None);
        assert!(blocks.free(first));
        assert_eq!(
            (blocks.length(first), blocks.length(second)),
            (None, Some(10))
        );
        // The end of the free block, which is split.
        let third = blocks.reuse(100).expect("room");
        assert_eq!(third, first + 1000 - 104);
        // The rest is not much larger than this, and is not split.
        assert_eq!(blocks.reuse(800), Some(first));
        assert_eq!(blocks.reuse(1), None);
        assert_eq!(blocks.clear(), 80..80 + 1000 + 64);
        assert_eq!(blocks.length(third), None);
    }

    #[test]
    fn the_smallest_free_block_that_fits_is_used() {
        let mut blocks = Blocks::default();
        let sizes = [4000, 200, 1000];
        let at = sizes.map(|size| blocks.append(size));
        assert!(at.into_iter().all(|at| blocks.free(at)));
        assert_eq!(blocks.reuse(190), Some(at[1]));
        assert_eq!(blocks.reuse(1001), Some(at[0] + 4000 - 1008));
        assert_eq!(blocks.reuse(1000), Some(at[2]));
    }

    #[test]
    fn nothing_overflows() {
        let mut blocks = Blocks::default();
        assert_eq!(blocks.end_after(u64::MAX), u64::MAX);
        assert_eq!(blocks.reuse(u64::MAX), None);
        assert!(!blocks.free(7));
        assert_eq!(blocks.length(7), None);
    }
}
