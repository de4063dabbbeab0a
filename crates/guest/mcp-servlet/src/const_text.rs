//! Comparing text, and panicking with it, in `const` evaluation.

/// Whether two texts are the same.
pub(crate) const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Rendered JSON as text.
pub const fn text(json: &'static [u8]) -> &'static str {
    match core::str::from_utf8(json) {
        Ok(text) => text,
        Err(_) => panic!("rendered JSON is UTF-8"),
    }
}

/// Whether a text begins with another one.
pub(crate) const fn begins(text: &[u8], start: &[u8]) -> bool {
    let mut at = 0;
    while at < start.len() && at < text.len() && text[at] == start[at] {
        at += 1;
    }
    at == start.len()
}

/// More than a message with two names of at most 128 characters needs; longer URIs are cut.
const MAX_MESSAGE_BYTES: usize = 640;

/// Panics with a message of these pieces.
#[track_caller]
pub(crate) const fn refuse(pieces: &[&str]) -> ! {
    let mut message = [0; MAX_MESSAGE_BYTES];
    let mut end = 0;
    let mut at = 0;
    while at < pieces.len() {
        end = append(&mut message, end, pieces[at]);
        at += 1;
    }
    // A long URI is cut, maybe inside of a character.
    let whole = match core::str::from_utf8(message.split_at(end).0) {
        Ok(_) => end,
        Err(error) => error.valid_up_to(),
    };
    match core::str::from_utf8(message.split_at(whole).0) {
        Ok(text) => panic!("{}", text),
        Err(_) => panic!(),
    }
}

const fn append(message: &mut [u8; MAX_MESSAGE_BYTES], start: usize, text: &str) -> usize {
    let text = text.as_bytes();
    let mut at = 0;
    while at < text.len() && start + at < message.len() {
        message[start + at] = text[at];
        at += 1;
    }
    start + at
}
