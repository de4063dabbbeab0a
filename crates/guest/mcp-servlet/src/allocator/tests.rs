//! Tests the allocator with a buffer as its memory.

use std::alloc::Layout;
use std::iter::repeat_with;

use super::{Heap, PAGE, Pages, SMALLEST};

/// Pages of a buffer, instead of wasm memory.
struct Buffer {
    bytes: Vec<u8>,
    /// The number of pages in use.
    used: usize,
    /// Pages that another user of the memory takes before each growth.
    gap: usize,
}

impl Buffer {
    fn of(pages: usize) -> Self {
        // One page more, so that `pages` whole pages remain after aligning the start.
        let bytes = vec![0; (pages + 1) * PAGE];
        let (used, gap) = (0, 0);
        Self { bytes, used, gap }
    }
}

impl Pages for Buffer {
    fn grow(&mut self, pages: usize) -> Option<*mut u8> {
        let start = self.used + self.gap;
        if (start + pages + 1) * PAGE > self.bytes.len() {
            return None;
        }
        self.used = start + pages;
        let first = self.bytes.as_ptr().align_offset(PAGE) + start * PAGE;
        // One pointer to all bytes: a heap writes beyond the first one, as it may in wasm.
        Some(self.bytes.as_mut_ptr().wrapping_add(first))
    }
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("a layout")
}

fn heap(pages: usize) -> Heap<Buffer> {
    Heap::new(Buffer::of(pages))
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
fn a_block_is_reused_for_whatever_has_its_power_of_two() {
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
fn blocks_of_a_large_alignment_are_reused_wherever_they_are_in_the_list() {
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
fn a_block_that_grows_keeps_what_it_holds_and_gives_its_room_back() {
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
fn where_memory_ends_there_is_null_and_nothing_is_lost() {
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
fn no_block_touches_another_whatever_is_taken_and_given_back() {
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
