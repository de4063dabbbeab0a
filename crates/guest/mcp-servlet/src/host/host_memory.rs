//! Copies bytes between a servlet and the memory of its host.
//!
//! The host offers words and bytes at an offset, and no bulk copy. The offsets and pointers are computed here, apart from
//! the foreign functions, so that tests run them natively and in Miri.
#![allow(
    unsafe_code,
    reason = "checked access to each word would cost as much as the copy"
)]

#[cfg(test)]
mod tests;

/// The bytes that the host moves at once.
const WORD: usize = 8;

/// The memory of the host.
pub(crate) trait HostMemory: Copy {
    /// Stores a word.
    ///
    /// # Safety
    /// `at` and the seven bytes after it are in a block of the host.
    unsafe fn store_word(self, at: u64, word: u64);

    /// Stores a byte.
    ///
    /// # Safety
    /// `at` is in a block of the host.
    unsafe fn store_byte(self, at: u64, byte: u8);
}

/// Copies `bytes` to a block of the host.
///
/// # Safety
/// A block of that length begins at `at`.
pub(crate) unsafe fn store(memory: impl HostMemory, mut at: u64, bytes: &[u8]) {
    let mut rest = bytes;
    // Many words at once: counting single words would cost as much as storing them.
    while let Some(block) = next_chunk(&mut rest) {
        store_block(memory, at, block);
        at += 128;
    }
    store_next::<64>(memory, &mut at, &mut rest);
    store_next::<32>(memory, &mut at, &mut rest);
    store_next::<16>(memory, &mut at, &mut rest);
    store_next::<8>(memory, &mut at, &mut rest);
    match bytes.last_chunk::<8>() {
        // The last word overlaps the one before.
        Some(word) if !rest.is_empty() => store_words(memory, at + rest.len() as u64 - 8, word),
        _ => {
            for byte in rest {
                // SAFETY: `at` stays inside the block, which is as long as `bytes`.
                unsafe { memory.store_byte(at, *byte) }
                at += 1;
            }
        }
    }
}

/// Stores sixteen words. Not inlined: in a loop, the compiler would compute each address anew.
#[inline(never)]
fn store_block(memory: impl HostMemory, at: u64, block: &[u8; 128]) {
    store_words(memory, at, block);
}

/// Stores the first `N` bytes and steps over them, if there are that many.
#[inline]
fn store_next<const N: usize>(memory: impl HostMemory, at: &mut u64, rest: &mut &[u8]) {
    if let Some(words) = next_chunk::<N>(rest) {
        store_words(memory, *at, words);
        *at += N as u64;
    }
}

/// Takes the first `N` bytes off.
#[inline]
fn next_chunk<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (chunk, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(chunk)
}

/// Stores bytes of whole words.
#[inline]
fn store_words<const N: usize>(memory: impl HostMemory, at: u64, words: &[u8; N]) {
    for start in (0..N).step_by(WORD) {
        if let Some(word) = words.get(start..).and_then(<[u8]>::first_chunk) {
            // SAFETY: `store` stays inside the block, which is as long as its bytes.
            unsafe { memory.store_word(at + start as u64, u64::from_le_bytes(*word)) }
        }
    }
}

/// Reads `length` bytes, and returns whether all of them are ASCII.
///
/// `word` and `byte` read at an offset below `length`; a word ends there at the latest.
pub(crate) fn read(
    length: u64,
    word: impl Fn(u64) -> u64,
    byte: impl Fn(u64) -> u8,
) -> (Vec<u8>, bool) {
    let length = usize::try_from(length).unwrap_or(0);
    let mut bytes = Vec::<u8>::with_capacity(length);
    let start = bytes.as_mut_ptr();
    let mut seen = 0;
    let mut at = 0;
    let mut word_at = |at: usize| {
        let word = word(at as u64);
        seen |= word;
        // SAFETY: there is room for `length` bytes, and so for a word that ends there.
        unsafe { start.add(at).cast::<u64>().write_unaligned(word) }
    };
    while length - at >= WORD {
        word_at(at);
        at += WORD;
    }
    if at < length && length >= WORD {
        // The last word overlaps the one before.
        word_at(length - WORD);
        at = length;
    }
    while at < length {
        let byte = byte(at as u64);
        seen |= u64::from(byte);
        // SAFETY: there is room for `length` bytes.
        unsafe { start.add(at).write(byte) }
        at += 1;
    }
    // SAFETY: that many were written.
    unsafe { bytes.set_len(length) }
    (bytes, seen & 0x8080_8080_8080_8080 == 0)
}
