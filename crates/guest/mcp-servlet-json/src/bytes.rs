//! Scans the bytes of JSON text, for the reader and the writer.

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;

/// The byte at a position, or zero at the end.
#[inline]
pub(crate) fn byte(input: &[u8], at: usize) -> u8 {
    input.get(at).copied().unwrap_or(0)
}

/// Steps over plain characters, up to a quote, a backslash or a control character.
///
/// Checks eight bytes at a time, with the usual arithmetic that finds a small byte in a word: flipping one bit makes
/// the quote one more than the control characters, and a backslash zero. The first match is always right; later
/// bytes of the word may be false matches.
#[inline(never)]
pub(crate) fn run(input: &[u8], start: usize) -> usize {
    let Some(mut rest) = input.get(start..) else {
        return start;
    };
    while let Some((chunk, after)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*chunk);
        let quote_or_control = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
        let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
        let found = (quote_or_control | backslash) & !word & HIGH;
        if found != 0 {
            return input.len() - rest.len() + found.trailing_zeros() as usize / 8;
        }
        rest = after;
    }
    let mut at = input.len() - rest.len();
    while !matches!(byte(input, at), b'"' | b'\\' | ..0x20) {
        at += 1;
    }
    at
}
