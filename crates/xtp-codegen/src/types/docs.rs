//! Descriptions as rustdoc: one attribute a line, and nothing that rustdoc would run, link or
//! warn about.

mod inline;
mod wrap;

use proc_macro2::TokenStream;
use quote::quote;

/// Lines of source end before this column.
const WIDTH: usize = 100;

/// The doc attributes of a description, for an item indented by `indent`.
pub(crate) fn attributes(description: Option<&str>, indent: usize) -> Vec<TokenStream> {
    // Three slashes and a blank stand before each line.
    let width = WIDTH - indent - 4;
    let lines = lines(description.unwrap_or_default(), width);
    let attribute = |line: &String| {
        let blank = if line.is_empty() { "" } else { " " };
        let line = format!("{blank}{line}");
        quote!(#[doc = #line])
    };
    lines.iter().map(attribute).collect()
}

fn lines(description: &str, width: usize) -> Vec<String> {
    let text: String = description.chars().filter(|c| is_visible(*c)).collect();
    let mut lines: Vec<String> = Vec::new();
    let mut fence: Option<String> = None;
    for line in text.replace('\t', "    ").lines().map(str::trim_end) {
        match (&fence, fence_of(line)) {
            (None, Some((mark, language))) => {
                lines.push(format!("{mark}{}", safe_language(language)));
                fence = Some(mark.to_owned());
            }
            (Some(open), Some((mark, ""))) if mark.starts_with(open.as_str()) => {
                lines.push(mark.to_owned());
                fence = None;
            }
            (Some(_), _) => lines.push(line.to_owned()),
            (None, None) if line.is_empty() => {
                if lines.last().is_some_and(|last| !last.is_empty()) {
                    lines.push(String::new());
                }
            }
            (None, None) => lines.extend(wrap::wrap(&inline::escape(dedent(line)), width)),
        }
    }
    lines.extend(fence);
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Whether a character may stand in source: no control characters, and none that reorder or
/// hide text, which rustc refuses.
fn is_visible(c: char) -> bool {
    let hidden = matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{061C}' | '\u{FEFF}');
    !hidden && (!c.is_control() || c == '\n' || c == '\t')
}

/// The mark and the language of a line that opens or closes a code block.
fn fence_of(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|c| "`~".contains(*c))?;
    let length = line.chars().take_while(|c| *c == sign).count();
    let (mark, language) = line.split_at(length);
    (length >= 3).then_some((mark, language.trim()))
}

/// The language of a code block, unless rustdoc would take the code for Rust and test it.
fn safe_language(language: &str) -> &str {
    let known = ["json", "yaml", "toml", "html", "sh", "go", "python"];
    let scripts = ["javascript", "js", "typescript", "ts", "csharp", "zig"];
    let mut safe = known.iter().chain(&scripts);
    safe.find(|safe| **safe == language)
        .map_or("text", |safe| safe)
}

/// Four blanks would start a block of code, which rustdoc tests.
fn dedent(line: &str) -> &str {
    let text = line.trim_start();
    let indent = (line.len() - text.len()).min(3);
    &line[line.len() - text.len() - indent..]
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn keeps_rustdoc_from_running_and_linking() {
        let cases: [(&str, &[&str]); 9] = [
            ("one\n\n\ntwo \n", &["one", "", "two"]),
            ("```\nlet x\n```", &["```text", "let x", "```"]),
            ("```rust\nx", &["```text", "x", "```"]),
            ("```json\n{}\n```", &["```json", "{}", "```"]),
            ("      code", &["   code"]),
            ("a <T> and [x] and `<T>`", &["a \\<T> and \\[x] and `<T>`"]),
            ("[x](https://a.b)", &["[x](https://a.b)"]),
            ("see https://a.b/c.", &["see <https://a.b/c>."]),
            ("a\u{202E}b\u{0}", &["ab"]),
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
