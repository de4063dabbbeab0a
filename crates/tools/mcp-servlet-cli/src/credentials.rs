//! Hides credentials and private keys in errors that quote what the user typed.

use std::borrow::Cow;

use mcp_servlet_common::public_url;

/// What the text of a key in PEM begins with.
pub(crate) const PEM: &str = "-----BEGIN ";

/// The text with `…` instead of `user:password` in each URL and address, and instead of each key in PEM.
pub(crate) fn hidden(text: &str) -> Cow<'_, str> {
    let text = without_keys(text);
    if !text.contains('@') {
        return text;
    }
    let words = text.split_inclusive(ends_word).map(without_credentials);
    Cow::Owned(words.collect())
}

/// Hides what follows the first line of each key, up to the end of the quotation. A message may have the first line alone.
fn without_keys(text: &str) -> Cow<'_, str> {
    if !text.contains(PEM) {
        return text.into();
    }
    let mut parts = text.split(PEM);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let label = part.find("-----").map_or(0, |at| at + "-----".len());
        let (label, key) = part.split_at(label);
        // A color may end before the quotation.
        let end = key.find(['\'', '`', '\u{1b}']).unwrap_or(key.len());
        let mark = if end == 0 { "" } else { "…" };
        shown.extend([PEM, label, mark, &key[end..]]);
    }
    shown.into()
}

fn ends_word(one: char) -> bool {
    one.is_whitespace() || "`'\"<>".contains(one)
}

fn without_credentials(word: &str) -> Cow<'_, str> {
    let Some(end) = word.rfind('@') else {
        return word.into();
    };
    match word.find("://") {
        // Several URLs in a word: no separator between them is certain, because a password may contain it.
        Some(at) if word[at + 3..].contains("://") => {
            format!("{}…{}", &word[..at + 3], &word[end.max(at + 3)..]).into()
        }
        Some(at) => {
            let is_scheme = |one: char| one.is_ascii_alphanumeric() || "+-.".contains(one);
            let start = word[..at].trim_end_matches(is_scheme).len();
            let url = word[start..].trim_end_matches(ends_word);
            let rest = &word[start + url.len()..];
            format!("{}{}{rest}", &word[..start], public_url(url)).into()
        }
        None if word[..end].contains(':') && !word.contains('\\') => {
            format!("…{}", &word[end..]).into()
        }
        None => word.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_all_of_a_key_but_its_first_line() {
        let key = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n";
        for (text, shown) in [
            (
                format!("unexpected '{key}' found: use '-- {key}'"),
                "unexpected '-----BEGIN PRIVATE KEY-----…' found: use '-- -----BEGIN PRIVATE KEY-----…'",
            ),
            (
                format!("'\u{1b}[33m{key}\u{1b}[0m'"),
                "'\u{1b}[33m-----BEGIN PRIVATE KEY-----…\u{1b}[0m'",
            ),
            (
                "cannot read `-----BEGIN \nMIGH`".to_owned(),
                "cannot read `-----BEGIN …`",
            ),
            (
                "it begins with `-----BEGIN PRIVATE KEY-----`".to_owned(),
                "it begins with `-----BEGIN PRIVATE KEY-----`",
            ),
        ] {
            assert_eq!(hidden(&text), shown);
        }
    }

    #[test]
    fn hides_users_and_passwords_only() {
        for (text, shown) in [
            (
                "cannot read `https://u:p@h/a`",
                "cannot read `https://…@h/a`",
            ),
            ("cannot read `https://u:p/w@h/a`", "cannot read `https://…`"),
            ("`https://u:p@h/?k=secret`", "`https://…@h/?…`"),
            ("`a=https://x,https://u:p@h`", "`a=https://…@h`"),
            ("https://h/?r=https://u:p@z", "https://…@z"),
            (
                "cannot listen on `u:p@127.0.0.1:1`",
                "cannot listen on `…@127.0.0.1:1`",
            ),
            ("`u:p/w@127.0.0.1:1`", "`…@127.0.0.1:1`"),
            (
                "'socks5://token@h' and http://h/@x",
                "'socks5://…@h' and http://h/@x",
            ),
            (
                "mail a@b.example, npx @scope/name@1.2",
                "mail a@b.example, npx @scope/name@1.2",
            ),
            (r"C:\a@b\c.wasm", r"C:\a@b\c.wasm"),
        ] {
            assert_eq!(hidden(text), shown);
        }
    }
}
