//! Patterns in which only `*` is special.

/// Whether a text matches a pattern in which the elements that `is_any` accepts stand for any text. An element that `is` rejects can
/// only be part of that.
pub fn asterisk_matches<P, T>(
    pattern: &[P],
    text: &[T],
    is_any: impl Fn(&P) -> bool,
    is: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut of_text) = (0, 0);
    // Where to go on if the text that the last `*` stands for is longer.
    let mut retry = None;
    while of_text < text.len() {
        let own = pattern.get(at);
        if own.is_some_and(&is_any) {
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
    pattern[at..].iter().all(is_any)
}
