//! Hides credentials in errors that quote what the user typed.

use std::borrow::Cow;

use mcp_servlet_common::public_url;

/// The text with `…` instead of `user:password` in each URL and address.
pub(crate) fn hidden(text: &str) -> Cow<'_, str> {
    if !text.contains('@') {
        return Cow::Borrowed(text);
    }
    let words = text.split_inclusive(ends_word).map(without_credentials);
    Cow::Owned(words.collect())
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
