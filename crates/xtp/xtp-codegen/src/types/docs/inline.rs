//! Escapes what rustdoc would take for HTML, a link, or a bare URL.

/// Escapes everything outside of code spans.
pub(super) fn escape(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let taken = if c == '`' {
            let length = code_span(rest);
            out += &rest[..length];
            length
        } else if let Some(length) = address(rest, &out) {
            out.extend(["<", &rest[..length], ">"]);
            length
        } else if (c == '<' && !rest.starts_with("<http")) || (c == '[' && !is_link(rest)) {
            out.push('\\');
            out.push(c);
            c.len_utf8()
        } else {
            out.push(c);
            c.len_utf8()
        };
        rest = &rest[taken..];
    }
    out
}

/// The length of the code span at the start, or of its backticks if it does not end.
fn code_span(text: &str) -> usize {
    let ticks = text.chars().take_while(|c| *c == '`').count();
    let (mark, rest) = text.split_at(ticks);
    rest.find(mark).map_or(ticks, |end| end + 2 * ticks)
}

/// The length of a URL at the start that is not marked up yet.
fn address(text: &str, before: &str) -> Option<usize> {
    let marked = before.ends_with(['<', '(', '"']);
    if marked || !(text.starts_with("https://") || text.starts_with("http://")) {
        return None;
    }
    let end = text.find(|c: char| c.is_whitespace() || "<>()[]\"`".contains(c));
    let address = &text[..end.unwrap_or(text.len())];
    Some(
        address
            .trim_end_matches(['.', ',', ';', ':', '!', '?', '\''])
            .len(),
    )
}

/// Whether a bracket opens a link with its own URL.
fn is_link(text: &str) -> bool {
    text.find(']')
        .is_some_and(|end| text[end + 1..].starts_with('('))
}
