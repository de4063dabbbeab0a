//! The allocator of the program.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ops::Range;
#[cfg(not(target_os = "unknown"))]
use std::ptr::null_mut;

use super::{Heap, PAGE, Pages};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

static HEAP: Cell = Cell(UnsafeCell::new(Heap::new(Memory)));

struct Memory;

// The linker defines these: the memory after the data and the stack.
#[cfg(target_os = "unknown")]
unsafe extern "C" {
    static __heap_base: u8;
    static __heap_end: u8;
}

impl Pages for Memory {
    /// Most calls fit into the rest of the last page. A host that gives each call a new instance need not
    /// change the size of its memory then. With WASI, the allocator of libc uses this memory.
    fn rest(&mut self) -> Range<*mut u8> {
        #[cfg(target_os = "unknown")]
        return (&raw const __heap_base).cast_mut()..(&raw const __heap_end).cast_mut();
        #[cfg(not(target_os = "unknown"))]
        return null_mut()..null_mut();
    }

    fn grow(&mut self, pages: usize) -> Option<*mut u8> {
        match core::arch::wasm32::memory_grow(0, pages) {
            usize::MAX => None,
            page => Some((page * PAGE) as *mut u8),
        }
    }
}

struct Cell(UnsafeCell<Heap<Memory>>);

// SAFETY: this is built for wasm without threads only.
unsafe impl Sync for Cell {}

struct Allocator;

// SAFETY: `Heap` hands out blocks that are as large and aligned as asked for, and each to one owner.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller owned the block, which `alloc` made for this layout.
        unsafe { put_back(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller owned the block, which `alloc` made for this layout.
        unsafe { resize(block, layout, size) }
    }
}

// The functions below are not inlined because they have many callers. No method of `Heap` calls
// another allocation, so each of these has the only `&mut`.

#[inline(never)]
fn take(layout: Layout) -> *mut u8 {
    // SAFETY: as above.
    unsafe { (*HEAP.0.get()).take(layout) }
}

#[inline(never)]
unsafe fn put_back(block: *mut u8, layout: Layout) {
    // SAFETY: as above, and the caller's promise is the same.
    unsafe { (*HEAP.0.get()).put_back(block, layout) }
}

#[inline(never)]
unsafe fn resize(block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: as above, and the caller's promise is the same.
    unsafe { (*HEAP.0.get()).resize(block, layout, size) }
}
