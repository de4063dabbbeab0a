//! Patterns for names and URIs.

use std::fmt;

use mcp_servlet_common::{asterisk_matches, is_plain_uri};
use percent_encoding::percent_decode_str;

use super::{Holds, Uri, uri::Text};

/// A pattern for names. `*` stands for any text; everything else stands for itself, and case counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

/// A pattern for URIs, whose percent-encoded bytes are decoded. A `*`, which is None, stands for any text; an encoded one does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriPattern(Vec<Option<u8>>);

/// Patterns and templates with more bytes than this, multiplied, are not compared: they may have a URI in common.
const MAX_STEPS: usize = 1 << 20;

/// Texts for a `*` with which a pattern becomes a URI, if it can be one.
const FILLS: [&str; 14] = [
    "", "a", "1/", "a/", "/a", ":a", "a:", "a:a", "a://a", "://a/", ":///a", "//a/", "///a", "?a",
];

/// Patterns with more `*` than this are not filled.
const MAX_FILLED: usize = 3;

impl Pattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Whether a name matches.
    pub fn matches(&self, name: &str) -> bool {
        let is_any = |byte: &u8| *byte == b'*';
        asterisk_matches(self.0.as_bytes(), name.as_bytes(), is_any, u8::eq)
    }

    /// Whether every name that matches `other` matches this as well.
    pub fn covers(&self, other: &Self) -> bool {
        // Only `*` matches `*`.
        self.matches(&other.0)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl UriPattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Self {
        let mut bytes = Vec::new();
        for (at, literal) in text.split('*').enumerate() {
            if at > 0 {
                bytes.push(None);
            }
            bytes.extend(percent_decode_str(literal).map(Some));
        }
        Self(bytes)
    }

    /// Whether every URI that matches `other` matches this as well.
    pub fn covers(&self, other: &Self) -> bool {
        self.fits(&other.0, |own, other| own == other)
    }

    /// Whether a client can write a URI that matches: one in plain form. True if that is not known.
    pub fn has_plain_uri(&self) -> bool {
        let literals: Vec<String> = self
            .0
            .split(Option::is_none)
            .map(|literal| literal.iter().flatten().copied().map(encoded).collect())
            .collect();
        let [first, rest @ ..] = &*literals else {
            return true;
        };
        if rest.len() > MAX_FILLED {
            return true;
        }
        let mut uris = vec![first.clone()];
        for literal in rest {
            let filled = uris
                .iter()
                .flat_map(|uri| FILLS.map(|fill| format!("{uri}{fill}{literal}")));
            uris = filled.collect();
        }
        uris.iter().any(|uri| is_plain_uri(uri))
    }

    fn fits<T>(&self, text: &[T], is: impl Fn(&Option<u8>, &T) -> bool) -> bool {
        asterisk_matches(&self.0, text, Option::is_none, is)
    }

    /// Whether a URI matches; or the URIs of a template: all of them, some or none.
    pub(super) fn matches(&self, uri: &Uri) -> Holds {
        match &uri.0 {
            Text::One(uri) => Holds::is(self.fits(uri, |own, byte| *own == Some(*byte))),
            Text::Template(parts) => {
                if self.fits(parts, |own, part| own == part) {
                    Holds::Yes
                } else if overlaps(&self.0, parts) {
                    Holds::Maybe
                } else {
                    Holds::No
                }
            }
        }
    }
}

/// A byte of a URI, encoded if it must be.
fn encoded(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&()*+,;=".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

/// Whether some URI of a template matches a pattern. A variable, which is None, can be any text.
fn overlaps(pattern: &[Option<u8>], template: &[Option<u8>]) -> bool {
    if pattern.len().saturating_mul(template.len()) > MAX_STEPS {
        return true;
    }
    // `below[t]`: whether the rest of the pattern and the rest of the template after `t` have a text in common.
    let mut below = vec![false; template.len() + 1];
    for p in (0..=pattern.len()).rev() {
        let own = pattern.get(p).copied();
        let mut row = vec![false; template.len() + 1];
        for t in (0..=template.len()).rev() {
            row[t] = match (own, template.get(t).copied()) {
                (None, None) => true,
                (Some(None), None) => below[t],
                (Some(None), Some(_)) => below[t] || row[t + 1],
                (None, Some(None)) => row[t + 1],
                (Some(Some(_)), Some(None)) => row[t + 1] || below[t],
                (Some(Some(own)), Some(Some(other))) => own == other && below[t + 1],
                (None, Some(Some(_))) | (Some(Some(_)), None) => false,
            };
        }
        below = row;
    }
    below[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_asterisk_is_special() {
        for (pattern, name, expected) in [
            ("pay", "pay", true),
            ("pay", "Pay", false),
            ("pay", "pay_out", false),
            ("pay_*", "pay_out", true),
            ("pay_*", "pay_", true),
            ("*_out", "pay_out_out", true),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXbX", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a?c", "abc", false),
            ("[ab]", "a", false),
            ("**", "ab", true),
            ("é*", "éa", true),
        ] {
            assert_eq!(
                Pattern::new(pattern).matches(name),
                expected,
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn a_pattern_covers_what_it_always_matches() {
        for (pattern, other, expected) in [
            ("*", "a*", true),
            ("a*", "a*", true),
            ("a*", "ab*c", true),
            ("a*", "*", false),
            ("a*c", "a*b*c", true),
            ("a*b", "a*c", false),
            ("ab", "a*", false),
        ] {
            let covers = Pattern::new(pattern).covers(&Pattern::new(other));
            assert_eq!(covers, expected, "{pattern} {other}");
        }
    }

    #[test]
    fn a_template_matches_with_all_some_or_none_of_its_uris() {
        for (pattern, template, expected) in [
            ("docs://*", "docs://{id}", Holds::Yes),
            ("docs://*", "docs://a/{id}", Holds::Yes),
            ("docs://a/*", "docs://{id}", Holds::Maybe),
            ("docs://a", "docs://{id}", Holds::Maybe),
            ("docs://a/b", "docs://{+path}/b", Holds::Maybe),
            ("docs://a/c", "docs://{+path}/b", Holds::No),
            ("files://*", "docs://{id}", Holds::No),
            ("docs://*/x", "docs://a{?q}", Holds::Maybe),
            ("docs://a", "docs://a", Holds::Yes),
            ("*", "{+uri}", Holds::Yes),
        ] {
            let matches = UriPattern::new(pattern).matches(&Uri::of_template(template));
            assert_eq!(matches, expected, "{pattern} {template}");
        }
    }

    #[test]
    fn an_encoded_asterisk_stands_for_itself() {
        let [one, all] = ["docs://a/%2A", "docs://a/*"].map(UriPattern::new);
        for (uri, expected) in [
            ("docs://a/%2A", Holds::Yes),
            ("docs://a/*", Holds::Yes),
            ("docs://a/b", Holds::No),
            ("docs://a/*b", Holds::No),
        ] {
            assert_eq!(one.matches(&Uri::listed(uri)), expected, "{uri}");
            assert_eq!(all.matches(&Uri::listed(uri)), Holds::Yes, "{uri}");
        }
        let template = Uri::of_template("docs://a/{id}");
        assert_eq!(one.matches(&template), Holds::Maybe);
        assert_eq!((all.covers(&one), one.covers(&all)), (true, false));
    }

    #[test]
    fn some_patterns_match_no_uri_of_a_client() {
        for (pattern, expected) in [
            ("*", true),
            ("*secret*", true),
            ("docs*", true),
            ("docs:*", true),
            ("docs://secret/*", true),
            ("docs://*/b c/%C3%A9", true),
            ("file:*", true),
            ("file:///etc/*", true),
            ("https*", true),
            ("https://a.example/*", true),
            ("https://a.example:443*", true),
            ("FILE:///etc/*", false),
            ("file://host/*", false),
            ("docs://Secret/*", false),
            ("docs://secret//*", false),
            ("docs://a/../*", false),
            ("docs://a/b#*", false),
            ("https://a.example", false),
            ("https://a.example:443/*", false),
        ] {
            let pattern_of_uris = UriPattern::new(pattern);
            assert_eq!(pattern_of_uris.has_plain_uri(), expected, "{pattern}");
        }
    }

    #[test]
    fn a_uri_has_no_variables() {
        let uri = Uri::listed("docs://%00");
        let pattern = UriPattern::new("docs://public/*");
        assert_eq!(pattern.matches(&uri), Holds::No);
        let long = format!("docs://{}", "a".repeat(MAX_STEPS));
        assert_eq!(pattern.matches(&Uri::listed(&long)), Holds::No);
    }
}
