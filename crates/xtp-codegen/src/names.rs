//! From names of the schema to names of Rust. The same words as typify's, so that what it
//! generates is found again.

/// The name of a type or a variant: `resource_link` becomes `ResourceLink`.
pub(crate) fn pascal(name: &str) -> String {
    let words = words(name);
    let joined: String = words.iter().map(|word| capitalized(word)).collect();
    identifier(joined, "X")
}

/// The name of a field: `mimeType` becomes `mime_type`.
pub(crate) fn snake(name: &str) -> String {
    identifier(words(name).join("_").to_lowercase(), "x")
}

/// How a field is spelt in Rust source: `type` as `r#type`, `self` as `self_`.
pub(crate) fn field_source(name: &str) -> String {
    if PATH_WORDS.contains(&name) {
        format!("{name}_")
    } else if KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

/// How a type or a variant is spelt in Rust source. `Self` is the only keyword in its case.
pub(crate) fn type_source(name: &str) -> String {
    let underscore = if name == "Self" { "_" } else { "" };
    format!("{name}{underscore}")
}

/// Gives a first character to a name that cannot start as it does.
fn identifier(name: String, first: &str) -> String {
    match name.chars().next() {
        Some(c) if !c.is_ascii_digit() => name,
        Some(_) | None => format!("{first}{name}"),
    }
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    let rest = chars.map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}

/// Whether the letters before a place are small or capital; digits go with what precedes them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    None,
    Lower,
    Upper,
}

impl Case {
    fn after(self, c: char) -> Self {
        if c.is_ascii_lowercase() {
            Self::Lower
        } else if c.is_ascii_uppercase() {
            Self::Upper
        } else {
            self
        }
    }
}

/// Splits at signs, before a capital after a small letter, and before the last capital of a
/// row if a small letter follows: `getHTTPServer` is `get`, `HTTP`, `Server`.
fn words(name: &str) -> Vec<&str> {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    let mut words = Vec::new();
    for part in parts {
        let mut start = 0;
        let mut case = Case::None;
        for (index, c) in part.char_indices() {
            let next = part[index + 1..].chars().next();
            let ends_row = case == Case::Upper
                && c.is_ascii_uppercase()
                && next.is_some_and(|next| next.is_ascii_lowercase());
            let starts_row = case == Case::Lower && c.is_ascii_uppercase();
            if index > start && (ends_row || starts_row) {
                words.push(&part[start..index]);
                start = index;
            }
            case = case.after(c);
        }
        words.push(&part[start..]);
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Words that a raw identifier cannot spell.
const PATH_WORDS: [&str; 4] = ["self", "super", "crate", "Self"];

/// Words that are reserved in edition 2024, besides those of [`PATH_WORDS`].
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_names_into_words() {
        let cases = [
            ("HTTPRequest", "HttpRequest", "http_request"),
            ("A2B", "A2b", "a2b"),
            ("ghostGang", "GhostGang", "ghost_gang"),
            ("_meta", "Meta", "meta"),
            ("aUInt64", "AUInt64", "a_u_int64"),
            ("resource_link", "ResourceLink", "resource_link"),
            ("NameWith$2341", "NameWith2341", "name_with_2341"),
            ("$", "X", "x"),
            ("_1", "X1", "x1"),
        ];
        for (name, ty, field) in cases {
            assert_eq!((pascal(name).as_str(), snake(name).as_str()), (ty, field));
        }
    }

    #[test]
    fn spells_keywords_so_that_rust_takes_them() {
        assert_eq!(field_source("type"), "r#type");
        assert_eq!(field_source("self"), "self_");
        assert_eq!(type_source(&pascal("self")), "Self_");
    }
}
