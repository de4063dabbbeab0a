//! Texts in other languages: filters for templates, and for the variables of templates.

/// A TOML string, with its quotes.
pub(crate) fn toml(text: String) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            c if c.is_control() => quoted.extend(["\\u", &format!("{:04X}", u32::from(c))]),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// One word of a shell command.
pub(crate) fn shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A doc comment: each line gets the prefix. A carriage return ends a line too, because Rust allows none in a doc
/// comment.
pub(crate) fn doc(text: String, prefix: &str) -> String {
    let lines: Vec<_> = text
        .trim_end()
        .lines()
        .flat_map(|line| line.split('\r'))
        .map(|line| format!("{prefix} {line}").trim_end().to_owned())
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_for_toml() {
        let quoted = toml("a \"b\" \\ c\n\u{7f}é".to_owned());
        assert_eq!(quoted, r#""a \"b\" \\ c\n\u007Fé""#);
    }

    #[test]
    fn quotes_for_a_shell() {
        assert_eq!(shell("it's $x"), r"'it'\''s $x'");
    }

    #[test]
    fn comments_every_line() {
        assert_eq!(doc("a\n\n b\n".to_owned(), "//!"), "//! a\n//!\n//!  b");
        assert_eq!(doc("a\rb\r\nc".to_owned(), "//!"), "//! a\n//! b\n//! c");
    }
}
