//! Wraps long lines of prose.

/// Breaks a line at spaces so that its parts keep to `width` where possible.
pub(super) fn wrap(line: &str, width: usize) -> Vec<String> {
    let text = line.trim_start();
    let is_block = text.starts_with(['|', '#']);
    if is_block || line.chars().count() <= width {
        return vec![line.to_owned()];
    }
    let margin = " ".repeat(line.len() - text.len());
    let indent = format!("{margin}{}", " ".repeat(marker_width(text)));
    let mut lines = Vec::new();
    let mut current = margin;
    for (index, unit) in units(text).iter().enumerate() {
        let length = current.chars().count() + 1 + unit.chars().count();
        if index > 0 && length > width {
            lines.push(std::mem::replace(&mut current, indent.clone()));
        } else if index > 0 {
            current.push(' ');
        }
        current += unit;
    }
    lines.push(current);
    lines
}

/// Words, joined with the words that must stay on the same line.
fn units(text: &str) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let after_marker = units.len() == 1 && is_sign(&units[0]);
        match units.last_mut() {
            Some(last) if after_marker || is_sign(word) => {
                last.push(' ');
                last.push_str(word);
            }
            Some(_) | None => units.push(word.to_owned()),
        }
    }
    units
}

/// The width of the marker of a list item, by which the text after it is indented.
fn marker_width(text: &str) -> usize {
    let marker = text.split(' ').next().filter(|word| is_sign(word));
    marker.map_or(0, |marker| marker.len() + 1)
}

/// Whether a word at the start of a line would have a meaning in Markdown.
fn is_sign(word: &str) -> bool {
    let number = word.strip_suffix(['.', ')']);
    let numbered = number.is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    let marked = word.starts_with(['-', '*', '+', '#', '>', '=', '|', '~']);
    (numbered || marked) && !word.contains(' ')
}
