//! The allocator behind the feature `global-allocator`: a list of free blocks for each power of two.
//!
//! A servlet allocates a little in each call and gives all of it back. For that, taking a block off a
//! list and putting it back is enough: some twenty instructions, where a general allocator needs some
//! hundred and fifty, and a tenth of its code. The price is that a block is up to twice as large as
//! requested, and that freed blocks are never joined: a vector that grew by doubling leaves all its
//! former blocks behind, to be reused for requests of their sizes.
#![allow(unsafe_code, reason = "an allocator hands out memory")]
#![allow(
    clippy::cast_ptr_alignment,
    reason = "blocks are aligned to 16 bytes at least"
)]

#[cfg(test)]
mod tests;
#[cfg(target_family = "wasm")]
mod wasm;

use std::alloc::Layout;
use std::ops::Range;
use std::ptr::null_mut;

/// A page of wasm memory, in bytes.
const PAGE: usize = 1 << 16;
/// The smallest block, in bytes, and the alignment of all blocks.
const SMALLEST: usize = 16;
/// The number of lists: by the leading zeros of the block size, then the same for blocks aligned to their size.
const LISTS: usize = 2 * usize::BITS as usize;

/// The source of memory.
trait Pages {
    /// Memory that the program begins with and does not use; null if there is none.
    fn rest(&mut self) -> Range<*mut u8>;

    /// The start of `pages` new pages, if there is memory for them.
    fn grow(&mut self, pages: usize) -> Option<*mut u8>;
}

/// A free block, which holds the address of the next one.
struct Block {
    next: *mut Block,
}

struct Heap<M> {
    memory: M,
    /// The first free block of each list.
    free: [*mut Block; LISTS],
    /// The start of the memory that was never handed out; `end` is its end.
    fresh: *mut u8,
    end: *mut u8,
}

impl<M: Pages> Heap<M> {
    const fn new(memory: M) -> Self {
        Self {
            memory,
            free: [null_mut(); LISTS],
            fresh: null_mut(),
            end: null_mut(),
        }
    }

    /// A free block, or a new one; null if there is no memory.
    #[inline]
    fn take(&mut self, layout: Layout) -> *mut u8 {
        let list = list(layout);
        let block = self.free[list];
        if block.is_null() {
            return self.carve(list);
        }
        // SAFETY: a free block is ours, and holds the address of the next.
        self.free[list] = unsafe { (*block).next };
        block.cast()
    }

    /// Takes a block back.
    ///
    /// # Safety
    ///
    /// The caller owns the block, which `take` made for this layout, and gives it up.
    #[inline]
    unsafe fn put_back(&mut self, block: *mut u8, layout: Layout) {
        let list = list(layout);
        let block = block.cast::<Block>();
        // SAFETY: the block is ours, large enough for an address, and aligned to one.
        unsafe { (*block).next = self.free[list] }
        self.free[list] = block;
    }

    /// Resizes the block or moves its content to another one with room for `size` bytes; null if there is no memory.
    ///
    /// # Safety
    ///
    /// The caller owns the block, which `take` made for this layout, and gives it up unless the answer is null.
    /// The size, rounded up to the alignment, does not overflow.
    #[inline]
    unsafe fn resize(&mut self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if list(new) == list(layout) {
            return block;
        }
        let target = self.take(new);
        if !target.is_null() {
            // SAFETY: the new block is not the old one, and both are as long as what is copied.
            unsafe {
                block.copy_to_nonoverlapping(target, size.min(layout.size()));
                self.put_back(block, layout);
            }
        }
        target
    }

    /// A block of memory that was never handed out.
    #[cold]
    #[inline(never)]
    fn carve(&mut self, list: usize) -> *mut u8 {
        let Some(size) = size(list) else {
            return null_mut();
        };
        if self.end.is_null() {
            Range {
                start: self.fresh,
                end: self.end,
            } = self.memory.rest();
        }
        let align = if is_natural(list) { size } else { SMALLEST };
        let mut start = self.fresh.wrapping_add(self.fresh.align_offset(align));
        if self.left(start) < size {
            let pages = size.div_ceil(PAGE) + align / PAGE;
            let Some(new) = self.memory.grow(pages) else {
                return null_mut();
            };
            if new != self.end {
                start = new.wrapping_add(new.align_offset(align));
            }
            self.end = new.wrapping_add(pages * PAGE);
        }
        self.fresh = start.wrapping_add(size);
        start
    }

    /// The number of bytes from `start` on.
    fn left(&self, start: *mut u8) -> usize {
        self.end.addr().saturating_sub(start.addr())
    }
}

/// The list that blocks for this layout are on.
#[inline]
fn list(layout: Layout) -> usize {
    if layout.align() > SMALLEST {
        // The remainder changes nothing; it saves the index check and the text of its panic.
        return natural(layout) % LISTS;
    }
    // A layout of no bytes is never requested; it would be on the list of the largest blocks.
    (layout.size().wrapping_sub(1) | (SMALLEST - 1)).leading_zeros() as usize
}

/// The list for an alignment above the usual: its blocks are aligned to their size, so each of them fits.
#[cold]
#[inline(never)]
fn natural(layout: Layout) -> usize {
    let size = layout.size().max(layout.align());
    (size - 1).leading_zeros() as usize + LISTS / 2
}

fn is_natural(list: usize) -> bool {
    list >= LISTS / 2
}

/// The size of the blocks on a list; `None` if it exceeds the address space.
fn size(list: usize) -> Option<usize> {
    (usize::MAX >> (list % (LISTS / 2))).checked_add(1)
}
