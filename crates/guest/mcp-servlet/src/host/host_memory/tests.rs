//! Copies of all lengths around the boundaries of words and blocks.

use std::cell::RefCell;

use super::*;

/// Memory that refuses offsets outside of its block, which begins at [`START`].
type Block = RefCell<Vec<Option<u8>>>;

const START: u64 = 1000;

impl HostMemory for &Block {
    unsafe fn store_word(self, at: u64, word: u64) {
        for (at, byte) in (at..).zip(word.to_le_bytes()) {
            // SAFETY: the block checks the offset.
            unsafe { self.store_byte(at, byte) }
        }
    }

    unsafe fn store_byte(self, at: u64, byte: u8) {
        let at = usize::try_from(at - START).expect("an offset");
        self.borrow_mut()[at] = Some(byte);
    }
}

/// ASCII that repeats after 127 bytes, so that no two blocks of 128 bytes are the same.
fn bytes(length: usize) -> Vec<u8> {
    (0..127).cycle().take(length).collect()
}

#[test]
fn stores_each_byte_and_none_outside_of_the_block() {
    // Up to six words; then a block of 128 bytes, and two, with all that can follow.
    for length in (0..48).chain(120..144).chain(250..266) {
        let block = Block::new(vec![None; length]);
        let bytes = bytes(length);
        // SAFETY: the block checks every offset.
        unsafe { store(&block, START, &bytes) }
        let stored: Option<Vec<u8>> = block.into_inner().into_iter().collect();
        assert_eq!(stored, Some(bytes), "{length}");
    }
}

/// Reads from a slice, which refuses offsets past its end.
fn read_from(bytes: &[u8]) -> (Vec<u8>, bool) {
    let offset = |at| usize::try_from(at).expect("an offset");
    let word = |at| {
        let word = bytes[offset(at)..].first_chunk();
        u64::from_le_bytes(*word.expect("eight bytes"))
    };
    read(bytes.len() as u64, word, |at| bytes[offset(at)])
}

#[test]
fn reads_each_byte_and_none_outside_of_the_block() {
    for length in 0..26 {
        let bytes = bytes(length);
        assert_eq!(read_from(&bytes), (bytes.clone(), true));
        for at in 0..length {
            let mut other = bytes.clone();
            other[at] |= 0x80;
            assert_eq!(read_from(&other), (other.clone(), false), "{at}");
        }
    }
}
