//! Descriptions as rustdoc: one attribute per line, without anything that rustdoc would run, link or warn about.

mod inline;
mod wrap;

use proc_macro2::TokenStream;
use quote::quote;

/// Lines of source end before this column.
const MAX_LINE_WIDTH: usize = 100;

/// The doc attributes of a description, for an item indented by `indent`.
pub(crate) fn attributes(description: Option<&str>, indent: usize) -> Vec<TokenStream> {
    // Three slashes and a space precede each line.
    let width = MAX_LINE_WIDTH - indent - 4;
    let lines = lines(description.unwrap_or_default(), width);
    let attribute = |line: &String| {
        let blank = if line.is_empty() { "" } else { " " };
        let line = format!("{blank}{line}");
        quote!(#[doc = #line])
    };
    lines.iter().map(attribute).collect()
}

fn lines(description: &str, width: usize) -> Vec<String> {
    let text: String = description
        .replace(BREAKS, "\n")
        .replace('\t', "    ")
        .chars()
        .filter(|c| is_visible(*c))
        .collect();
    let mut lines: Vec<String> = Vec::new();
    let mut open: Option<Fence<'_>> = None;
    for line in text.lines().map(str::trim_end) {
        if let Some(fence) = &open {
            let inner = fence.inner(line);
            let closes = inner.is_none_or(|inner| fence.is_closed_by(inner));
            lines.push(inner.filter(|_| !closes).unwrap_or(fence.mark).to_owned());
            if closes {
                open = None;
            }
            if inner.is_some() {
                continue;
            }
        }
        if let Some((fence, language)) = Fence::opened_by(line) {
            lines.push(format!("{}{}", fence.mark, safe_language(language)));
            open = Some(fence);
        } else if !line.is_empty() {
            lines.extend(wrap::wrap(&inline::escape(&dedent(line)), width));
        } else if lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(String::new());
        }
    }
    lines.extend(open.map(|fence| fence.mark.to_owned()));
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Characters other than `\n` that end a line in some editors.
pub(crate) const BREAKS: [char; 5] = ['\u{B}', '\u{C}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Whether a character may be in source: no control characters, no line ends of some editors, and none that reorders
/// or hides text, which rustc refuses.
pub(crate) fn is_visible(c: char) -> bool {
    let hidden = matches!(
        c,
        '\u{AD}'
            | '\u{61C}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E007F}'
    );
    !hidden && (!c.is_control() || c == '\n' || c == '\t')
}

/// A code block. A block in a quote or a list is moved out of it, because Markdown's rules for the
/// end of quotes and lists, and of the blocks in them, are complicated.
struct Fence<'a> {
    /// The quotes and list items around it.
    around: &'a str,
    mark: &'a str,
}

impl<'a> Fence<'a> {
    /// The block that a line opens, and its language.
    fn opened_by(line: &'a str) -> Option<(Self, &'a str)> {
        let (around, text) = line.split_at(markers(line));
        let text = text.trim_start();
        let sign = text.chars().next().filter(|c| "`~".contains(*c))?;
        let length = text.chars().take_while(|c| *c == sign).count();
        let (mark, language) = text.split_at(length);
        (length >= 3).then_some((Self { around, mark }, language.trim()))
    }

    /// The content of a line of the block; `None` if the line is outside.
    fn inner<'l>(&self, line: &'l str) -> Option<&'l str> {
        if self.around.contains('>') {
            let text = line.trim_start().strip_prefix('>')?;
            return Some(text.strip_prefix(' ').unwrap_or(text));
        }
        let indent = line.len() - line.trim_start().len();
        let is_in = indent >= self.around.len() || line.is_empty();
        is_in.then(|| &line[self.around.len().min(indent)..])
    }

    fn is_closed_by(&self, line: &str) -> bool {
        Fence::opened_by(line).is_some_and(|(other, language)| {
            other.mark.starts_with(self.mark) && language.is_empty()
        })
    }
}

/// The length of the markers of quotes and list items at the start of a line.
fn markers(line: &str) -> usize {
    let mut length = 0;
    while let Some(next) = marker(&line[length..]) {
        length += next;
    }
    length
}

/// The length of the first marker with the spaces around it.
fn marker(text: &str) -> Option<usize> {
    let start = text.trim_start();
    let digits = start.chars().take_while(char::is_ascii_digit).count();
    let rest = match start.as_bytes().get(digits)? {
        b'>' if digits == 0 => &start[1..],
        b'-' | b'*' | b'+' if digits == 0 => start[1..].strip_prefix(' ')?,
        b'.' | b')' if digits > 0 => start[digits + 1..].strip_prefix(' ')?,
        _ => return None,
    };
    Some(text.len() - rest.trim_start().len())
}

/// The language of a code block, changed if rustdoc would test the code as Rust.
fn safe_language(language: &str) -> &str {
    let known = ["json", "yaml", "toml", "html", "sh", "go", "python"];
    let scripts = ["javascript", "js", "typescript", "ts", "csharp", "zig"];
    let mut safe = known.iter().chain(&scripts);
    safe.find(|safe| **safe == language)
        .map_or("text", |safe| safe)
}

/// Removes four leading spaces, including those after markers: rustdoc would take the line for code and test it.
fn dedent(line: &str) -> String {
    let text = line.trim_start();
    let indent = (line.len() - text.len()).min(3);
    let (around, rest) = text.split_at(markers(text));
    let mut short = " ".repeat(indent);
    for mark in around.split_inclusive(' ') {
        // Each marker keeps a single space.
        if mark != " " || !short.ends_with(' ') {
            short.push_str(mark);
        }
    }
    short + rest
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn keeps_rustdoc_from_running_and_linking() {
        let cases: [(&str, &[&str]); 19] = [
            ("one\n\n\ntwo \n", &["one", "", "two"]),
            ("```\nlet x\n```", &["```text", "let x", "```"]),
            ("```rust\nx", &["```text", "x", "```"]),
            ("```json\n{}\n```", &["```json", "{}", "```"]),
            ("      code", &["   code"]),
            ("a <T> and [x] and `<T>`", &["a \\<T> and \\[x] and `<T>`"]),
            ("[x](https://a.b)", &["[x](https://a.b)"]),
            ("see https://a.b/c.", &["see <https://a.b/c>."]),
            ("a\u{202E}b\u{0}", &["ab"]),
            (
                "a\u{2028}b\u{2029}c\u{85}d\u{C}e",
                &["a", "b", "c", "d", "e"],
            ),
            ("a\u{AD}b\u{FFF9}c\u{E0041}d\u{FEFF}", &["abcd"]),
            ("> ```\n> x\n> ```\ny", &["```text", "x", "```", "y"]),
            ("> ```\n> x\ny", &["```text", "x", "```", "y"]),
            (
                "- ```json\n  {}\n  ```\n- b",
                &["```json", "{}", "```", "- b"],
            ),
            ("1. ```\n     x\n\nb", &["```text", "  x", "", "```", "b"]),
            ("-     code", &["- code"]),
            (">     code", &["> code"]),
            ("> -     code", &["> - code"]),
            ("*emphasis* 3.5 -", &["*emphasis* 3.5 -"]),
        ];
        for (text, expected) in cases {
            assert_eq!(lines(text, 80), expected, "{text}");
        }
    }

    #[test]
    fn wraps_prose_but_not_before_a_sign() {
        assert_eq!(lines("aaa bbb ccc", 7), ["aaa bbb", "ccc"]);
        assert_eq!(lines("aaa bbb - c", 7), ["aaa", "bbb - c"]);
        assert_eq!(lines("- aaa bbb", 6), ["- aaa", "  bbb"]);
    }
}
