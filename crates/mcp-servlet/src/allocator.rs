//! The allocator of every servlet: a list of free blocks for each power of two.
//!
//! A servlet allocates a little in each call and gives all of it back. For that, taking a block off a
//! list and putting it back is enough: some twenty instructions, where a general allocator needs some
//! hundred and fifty, and a tenth of its code. The price is that a block is up to twice as large as
//! what is asked for, and that freed blocks are never joined: a vector that grew by doubling leaves
//! all its former blocks behind, for others of their sizes.
#![allow(unsafe_code, reason = "an allocator hands out memory")]
#![allow(
    clippy::cast_ptr_alignment,
    reason = "blocks are aligned to 16 bytes at least"
)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::null_mut;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(UnsafeCell::new(Heap::new()));

/// A page of wasm memory, in bytes.
const PAGE: usize = 1 << 16;
/// The smallest block: 16 bytes, as a power of two. Blocks are aligned to as much.
const SMALLEST: u32 = 4;

struct Allocator(UnsafeCell<Heap>);

// SAFETY: this is built for wasm without threads only.
unsafe impl Sync for Allocator {}

// SAFETY: `Heap` hands out blocks that are as large and aligned as asked for, and each to one owner.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: there is one thread, and no method of `Heap` calls another allocation.
        let heap = unsafe { &mut *self.0.get() };
        heap.take(layout).unwrap_or(null_mut())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        let heap = unsafe { &mut *self.0.get() };
        // SAFETY: the caller owned the block, which `take` made for this layout.
        unsafe { heap.put_back(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size, rounded up to the alignment, is no overflow.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if class(new) == class(layout) {
            return block;
        }
        // SAFETY: the new block is not the old one, and both are as long as what is copied.
        unsafe {
            let target = self.alloc(new);
            if !target.is_null() {
                block.copy_to_nonoverlapping(target, size.min(layout.size()));
                self.dealloc(block, layout);
            }
            target
        }
    }
}

/// The power of two that a block for this layout has.
fn class(layout: Layout) -> u32 {
    let size = layout.size().max(layout.align());
    (usize::BITS - size.saturating_sub(1).leading_zeros()).max(SMALLEST)
}

struct Heap {
    /// By class, the address of the first free block, which holds that of the next; 0 for none.
    free: [usize; usize::BITS as usize],
    /// Where memory is that was never handed out.
    next: usize,
    end: usize,
}

impl Heap {
    const fn new() -> Self {
        Self {
            free: [0; usize::BITS as usize],
            next: 0,
            end: 0,
        }
    }

    /// A free block, or a new one. Not inlined, as all that follow: callers are many.
    #[inline(never)]
    fn take(&mut self, layout: Layout) -> Option<*mut u8> {
        let class = class(layout);
        let first = self.free.get_mut(class as usize)?;
        // Only types that are aligned to more than 16 bytes can find a block that does not suit them.
        if *first != 0 && *first & (layout.align() - 1) == 0 {
            let block = *first as *mut u8;
            // SAFETY: a free block holds the address of the next one.
            *first = unsafe { block.cast::<usize>().read() };
            return Some(block);
        }
        self.carve(1 << class, layout.align())
    }

    /// A block of memory that was never handed out.
    #[cold]
    #[inline(never)]
    fn carve(&mut self, size: usize, align: usize) -> Option<*mut u8> {
        let align = align.max(1 << SMALLEST);
        let mut start = self.next.checked_next_multiple_of(align)?;
        if start.checked_add(size)? > self.end {
            let pages = size.checked_add(align)?.div_ceil(PAGE);
            let page = core::arch::wasm32::memory_grow(0, pages);
            if page == usize::MAX {
                return None;
            }
            if page * PAGE != self.end {
                start = (page * PAGE).next_multiple_of(align);
            }
            self.end = (page + pages) * PAGE;
        }
        self.next = start + size;
        Some(start as *mut u8)
    }

    /// Takes a block back.
    ///
    /// # Safety
    ///
    /// The caller owns the block, which `take` made for this layout, and gives it up.
    #[inline(never)]
    unsafe fn put_back(&mut self, block: *mut u8, layout: Layout) {
        if let Some(first) = self.free.get_mut(class(layout) as usize) {
            // SAFETY: the block is ours, and the smallest holds an address.
            unsafe { block.cast::<usize>().write(*first) }
            *first = block as usize;
        }
    }
}
