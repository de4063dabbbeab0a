//! Tests the allocator with a buffer as its memory.

use std::alloc::Layout;
use std::iter::repeat_with;
use std::ops::Range;
use std::ptr::null_mut;

use super::{Heap, PAGE, Pages, SMALLEST};

/// Pages of a buffer, instead of wasm memory.
struct Buffer {
    bytes: Vec<u8>,
    /// The number of pages in use.
    used: usize,
    /// Pages that another user of the memory takes before each growth.
    gap: usize,
    /// The bytes at the end of the pages in use that are free.
    rest: usize,
}

impl Buffer {
    fn with_pages(pages: usize) -> Self {
        // One page more, so that `pages` whole pages remain after aligning the start.
        let bytes = vec![0; (pages + 1) * PAGE];
        let (used, gap, rest) = (0, 0, 0);
        Self {
            bytes,
            used,
            gap,
            rest,
        }
    }

    /// The start of a page.
    fn page(&mut self, page: usize) -> *mut u8 {
        let first = self.bytes.as_ptr().align_offset(PAGE);
        // One pointer to all bytes: a heap writes beyond the first one, as it may in wasm.
        self.bytes.as_mut_ptr().wrapping_add(first + page * PAGE)
    }
}

impl Pages for Buffer {
    fn rest(&mut self) -> Range<*mut u8> {
        if self.rest == 0 {
            return null_mut()..null_mut();
        }
        let end = self.page(self.used);
        end.wrapping_sub(self.rest)..end
    }

    fn grow(&mut self, pages: usize) -> Option<*mut u8> {
        let start = self.used + self.gap;
        if (start + pages + 1) * PAGE > self.bytes.len() {
            return None;
        }
        self.used = start + pages;
        Some(self.page(start))
    }
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("a layout")
}

fn heap(pages: usize) -> Heap<Buffer> {
    Heap::new(Buffer::with_pages(pages))
}

/// Takes a block, and panics if there is no memory.
fn take(heap: &mut Heap<Buffer>, layout: Layout) -> *mut u8 {
    let block = heap.take(layout);
    assert!(!block.is_null(), "no memory for {layout:?}");
    assert!(
        block.addr().is_multiple_of(layout.align()),
        "{layout:?} at {block:?}"
    );
    block
}

#[test]
fn blocks_are_reused_for_sizes_with_the_same_power_of_two() {
    let mut heap = heap(1);
    let first = take(&mut heap, layout(33, 1));
    let second = take(&mut heap, layout(64, 8));
    // SAFETY: both are taken for these layouts.
    unsafe {
        heap.put_back(first, layout(33, 1));
        heap.put_back(second, layout(64, 8));
    }
    assert_eq!(take(&mut heap, layout(48, 4)), second);
    assert_eq!(take(&mut heap, layout(64, 16)), first);
    assert_eq!(take(&mut heap, layout(64, 16)), first.wrapping_add(128));
}

#[test]
fn small_blocks_are_of_one_size() {
    let mut heap = heap(1);
    let first = take(&mut heap, layout(1, 1));
    assert_eq!(
        take(&mut heap, layout(16, 16)),
        first.wrapping_add(SMALLEST)
    );
    assert_eq!(take(&mut heap, layout(17, 1)), first.wrapping_add(32));
    assert_eq!(take(&mut heap, layout(1, 1)), first.wrapping_add(64));
}

#[test]
fn blocks_of_a_large_alignment_are_reused_at_any_position() {
    let mut heap = heap(2);
    let (wide, narrow) = (layout(256, 256), layout(200, 32));
    let blocks = [take(&mut heap, wide), take(&mut heap, narrow)];
    // SAFETY: both are taken for these layouts.
    unsafe {
        heap.put_back(blocks[0], wide);
        heap.put_back(blocks[1], narrow);
    }
    let mut again = [take(&mut heap, wide), take(&mut heap, wide)];
    again.sort_unstable();
    assert_eq!(again, blocks);
}

#[test]
fn blocks_of_a_large_alignment_do_not_mix_with_others() {
    let mut heap = heap(2);
    let usual = layout(256, 16);
    let block = take(&mut heap, usual);
    // SAFETY: it is taken for this layout.
    unsafe { heap.put_back(block, usual) }
    assert_ne!(take(&mut heap, layout(8, 256)), block);
    assert_eq!(take(&mut heap, usual), block);
}

#[test]
fn growing_block_keeps_its_content_and_frees_the_old_one() {
    let mut heap = heap(1);
    let old = layout(20, 1);
    let block = take(&mut heap, old);
    // SAFETY: the block is taken for this layout, and given up when it moves.
    unsafe {
        block.write_bytes(7, 20);
        assert_eq!(heap.resize(block, old, 32), block);
        let moved = heap.resize(block, layout(32, 1), 33);
        assert_ne!(moved, block);
        assert_eq!(std::slice::from_raw_parts(moved, 20), [7; 20]);
        assert_eq!(take(&mut heap, old), block);
        let small = heap.resize(moved, layout(33, 1), 9);
        assert_eq!(std::slice::from_raw_parts(small, 9), [7; 9]);
        assert_eq!(take(&mut heap, layout(64, 1)), moved);
    }
}

#[test]
fn out_of_memory_returns_null_without_losing_blocks() {
    let mut heap = heap(2);
    let (page, more) = (layout(PAGE - 64, 1), layout(2 * PAGE, 1));
    let block = take(&mut heap, page);
    assert!(heap.take(more).is_null());
    assert!(heap.take(layout(isize::MAX as usize, 1)).is_null());
    // SAFETY: the block is taken for this layout, and kept when there is no memory.
    unsafe {
        block.write_bytes(7, PAGE - 64);
        assert!(heap.resize(block, page, 2 * PAGE).is_null());
        assert_eq!(block.add(PAGE - 65).read(), 7);
        heap.put_back(block, page);
    }
    assert_eq!(take(&mut heap, page), block);
}

#[test]
fn memory_need_not_grow_in_one_piece() {
    let mut heap = heap(8);
    heap.memory.gap = 1;
    let page = layout(PAGE, 1);
    let blocks: Vec<_> = repeat_with(|| heap.take(page).addr())
        .take_while(|block| *block != 0)
        .collect();
    assert_eq!(blocks.len(), 4);
    assert!(blocks.windows(2).all(|pair| pair[1] - pair[0] == 2 * PAGE));
    let mut heap = self::heap(8);
    let blocks = [take(&mut heap, page), take(&mut heap, page)];
    assert_eq!(blocks[1], blocks[0].wrapping_add(PAGE));
}

/// Pseudorandom numbers, the same in each run.
fn random() -> impl FnMut(usize) -> usize {
    let mut state = 88_172_645_463_325_252_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).expect("31 bits") % below
    }
}

#[test]
fn blocks_never_overlap() {
    let mut heap = heap(1 << 8);
    let mut random = random();
    let mut live: Vec<(*mut u8, Layout, u8)> = Vec::new();
    // Miri is a thousand times slower.
    let turns = if cfg!(miri) { 200 } else { 20_000_u32 };
    for turn in 0..turns {
        let mark = turn.to_le_bytes()[0];
        if random(2) == 0 || live.is_empty() {
            let most = 1 << random(12);
            let layout = layout(1 + random(most), 1 << random(9));
            let block = take(&mut heap, layout);
            // SAFETY: the block is as large as its layout.
            unsafe { block.write_bytes(mark, layout.size()) }
            live.push((block, layout, mark));
            continue;
        }
        let (mut block, mut layout, mark) = live.swap_remove(random(live.len()));
        // SAFETY: the block is taken for this layout, and given up once.
        unsafe {
            if random(3) == 0 {
                let size = 1 + random(2 * layout.size());
                block = heap.resize(block, layout, size);
                let kept = size.min(layout.size());
                assert!(
                    std::slice::from_raw_parts(block, kept)
                        .iter()
                        .all(|&byte| byte == mark)
                );
                layout = self::layout(size, layout.align());
            } else {
                let bytes = std::slice::from_raw_parts(block, layout.size());
                assert!(bytes.iter().all(|&byte| byte == mark));
            }
            heap.put_back(block, layout);
        }
    }
    assert!(heap.memory.used < 1 << 6, "{} pages", heap.memory.used);
}

#[test]
fn memory_that_the_program_begins_with_is_used_before_it_grows() {
    let mut buffer = Buffer::with_pages(3);
    (buffer.used, buffer.rest) = (1, 100);
    let end = buffer.page(1);
    let mut heap = Heap::new(buffer);
    // Blocks begin at a multiple of 16, and 16 bytes are the smallest block.
    let first = take(&mut heap, layout(16, 1));
    assert_eq!(first, end.wrapping_sub(96));
    take(&mut heap, layout(64, 1));
    assert_eq!(heap.memory.used, 1);
    // A block may begin in the rest and end in the first new page.
    assert_eq!(take(&mut heap, layout(32, 1)), end.wrapping_sub(16));
    assert_eq!(heap.memory.used, 2);
}
