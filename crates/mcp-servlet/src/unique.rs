//! Two tools of one name stop the build.

use crate::tool::Entry;

/// Panics, in `const` evaluation, with the name that two entries share.
pub(crate) const fn check(tools: &[Entry]) {
    let mut first = 0;
    while first < tools.len() {
        let mut second = first + 1;
        while second < tools.len() {
            if same(tools[first].name, tools[second].name) {
                refuse(tools[first].name);
            }
            second += 1;
        }
        first += 1;
    }
}

const fn same(one: &str, other: &str) -> bool {
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

/// Tool names have at most 128 characters, so this holds the whole sentence.
const fn refuse(name: &str) -> ! {
    let mut message = [0; 160];
    let end = append(&mut message, 0, "two tools are called `");
    let end = append(&mut message, end, name);
    let end = append(&mut message, end, "`");
    match core::str::from_utf8(message.split_at(end).0) {
        Ok(text) => panic!("{}", text),
        Err(_) => panic!("two tools have one name"),
    }
}

const fn append(message: &mut [u8; 160], start: usize, text: &str) -> usize {
    let text = text.as_bytes();
    let mut at = 0;
    while at < text.len() && start + at < message.len() {
        message[start + at] = text[at];
        at += 1;
    }
    start + at
}
