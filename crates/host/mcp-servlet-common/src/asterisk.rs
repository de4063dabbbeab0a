//! Patterns in which only `*` is special.

/// Whether a text matches a pattern in which `*` stands for any text. An element that `is` rejects can only be part of that.
pub fn asterisk_matches<T>(pattern: &[u8], text: &[T], is: impl Fn(&u8, &T) -> bool) -> bool {
    let (mut at, mut of_text) = (0, 0);
    // Where to go on if the text that the last `*` stands for is longer.
    let mut retry = None;
    while of_text < text.len() {
        let own = pattern.get(at);
        if own == Some(&b'*') {
            at += 1;
            retry = Some((at, of_text));
        } else if own.is_some_and(|own| is(own, &text[of_text])) {
            at += 1;
            of_text += 1;
        } else if let Some((after, from)) = retry {
            at = after;
            of_text = from + 1;
            retry = Some((after, of_text));
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}
