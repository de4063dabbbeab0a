//! The allocator, and threads that give back memory.
//!
//! mimalloc keeps free memory for the thread that has allocated it. A large message is allocated by one thread and freed by
//! another, so a server would keep much more memory than it uses.

use std::{
    alloc::{GlobalAlloc, Layout},
    cell::Cell,
    io,
    time::{Duration, Instant},
};

use mimalloc::MiMalloc;
use tokio::runtime::{Builder, Runtime};

/// A call makes a few hundred small allocations, and another thread frees most of them. mimalloc is fast at that.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// mimalloc, with pages of its own for each large block. They go back to the system soon after any thread frees the block.
struct Allocator;

/// The size of a large block.
const MIN_LARGE_BLOCK: usize = 32 << 10;

/// From this size on, mimalloc gives a block pages of its own. Memory that is not touched costs nothing.
const MIN_OWN_PAGES_BLOCK: usize = (512 << 10) + 1;

/// The size of the block that this allocator requests from mimalloc, for a caller who needs `size` bytes.
fn enlarged(size: usize) -> usize {
    if size < MIN_LARGE_BLOCK {
        size
    } else {
        size.max(MIN_OWN_PAGES_BLOCK)
    }
}

// SAFETY: mimalloc does the work, and gets at least the size that the caller asks for.
#[expect(unsafe_code, reason = "`GlobalAlloc` is an unsafe trait")]
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match Layout::from_size_align(enlarged(layout.size()), layout.align()) {
            // SAFETY: the caller needs at least one byte, and the size only grows.
            Ok(layout) => unsafe { MiMalloc.alloc(layout) },
            Err(_) => std::ptr::null_mut(),
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if enlarged(layout.size()) == layout.size() {
            // SAFETY: the caller needs at least one byte.
            return unsafe { MiMalloc.alloc_zeroed(layout) };
        }
        // mimalloc would write zeros to all of the enlarged block.
        // SAFETY: as above, and the block has at least this size.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() {
                block.write_bytes(0, layout.size());
            }
            block
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block is of mimalloc, which does not need its size.
        unsafe { MiMalloc.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the block is of mimalloc, which knows its size.
        unsafe { MiMalloc.realloc(block, layout, enlarged(size)) }
    }
}

/// A thread gives back memory at most this often.
const GIVE_BACK_INTERVAL: Duration = Duration::from_secs(1);

/// The tokio runtime of a server. Its threads give back free memory when they become idle, and so do the threads that run servlets.
pub(crate) fn runtime() -> io::Result<Runtime> {
    mcp_servlet_runtime::set_on_idle(give_back);
    Builder::new_multi_thread()
        .enable_all()
        .on_thread_park(give_back)
        .build()
}

/// Gives memory of this thread back to the system, unless it has done so a moment ago.
fn give_back() {
    thread_local!(static LAST: Cell<Option<Instant>> = const { Cell::new(None) });
    let now = Instant::now();
    let is_due = |last: Instant| now.duration_since(last) >= GIVE_BACK_INTERVAL;
    if LAST.get().is_none_or(is_due) {
        LAST.set(Some(now));
        collect();
    }
}

#[expect(unsafe_code, reason = "mimalloc is a C library")]
fn collect() {
    // `true`, because it skips full pages otherwise, even if other threads have freed all of their memory.
    // SAFETY: it may be called on any thread at any time.
    unsafe { libmimalloc_sys::mi_collect(true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_all_sizes_keep_their_content() {
        for size in [
            1,
            MIN_LARGE_BLOCK - 1,
            MIN_LARGE_BLOCK,
            100_000,
            MIN_OWN_PAGES_BLOCK - 1,
            MIN_OWN_PAGES_BLOCK,
            2_000_000,
        ] {
            let mut bytes = vec![7_u8; size];
            for larger in [size + 1, MIN_LARGE_BLOCK, 4 * size] {
                bytes.reserve_exact(larger);
                bytes.extend_from_slice(&[8]);
                assert!(bytes[..size].iter().all(|byte| *byte == 7), "{size}");
            }
            bytes.truncate(size);
            bytes.shrink_to_fit();
            assert_eq!(bytes, vec![7; size]);
            drop(bytes);
            assert_eq!(
                vec![0_u8; size],
                [0].repeat(size),
                "memory that is used again"
            );
        }
    }
}
