//! Patterns for names and URIs.

use std::fmt;

use mcp_servlet_common::asterisk_matches;
use percent_encoding::percent_decode_str;

use super::{Holds, Uri, uri::Text};

/// A pattern for names. `*` stands for any text; everything else stands for itself, and case counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

/// A pattern for URIs, whose percent-encoded bytes are decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriPattern(Vec<u8>);

/// Patterns and templates with more bytes than this, multiplied, are not compared: they may have a URI in common.
const MAX_STEPS: usize = 1 << 20;

impl Pattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Whether a name matches.
    pub fn matches(&self, name: &str) -> bool {
        asterisk_matches(self.0.as_bytes(), name.as_bytes(), u8::eq)
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
        Self(percent_decode_str(text).collect())
    }

    /// Whether every URI that matches `other` matches this as well.
    pub fn covers(&self, other: &Self) -> bool {
        asterisk_matches(&self.0, &other.0, u8::eq)
    }

    /// Whether a URI matches; or the URIs of a template: all of them, some or none.
    pub(super) fn matches(&self, uri: &Uri) -> Holds {
        match &uri.0 {
            Text::One(uri) => Holds::is(asterisk_matches(&self.0, uri, u8::eq)),
            Text::Template(parts) => {
                if asterisk_matches(&self.0, parts, |own, part| Some(*own) == *part) {
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

/// Whether some URI of a template matches a pattern. A variable, which is None, can be any text.
fn overlaps(pattern: &[u8], template: &[Option<u8>]) -> bool {
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
                (Some(b'*'), None) => below[t],
                (Some(b'*'), Some(_)) => below[t] || row[t + 1],
                (None, Some(None)) => row[t + 1],
                (Some(_), Some(None)) => row[t + 1] || below[t],
                (Some(own), Some(Some(other))) => own == other && below[t + 1],
                (None, Some(Some(_))) | (Some(_), None) => false,
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
    fn a_uri_has_no_variables() {
        let uri = Uri::listed("docs://%00");
        let pattern = UriPattern::new("docs://public/*");
        assert_eq!(pattern.matches(&uri), Holds::No);
        let long = format!("docs://{}", "a".repeat(MAX_STEPS));
        assert_eq!(pattern.matches(&Uri::listed(&long)), Holds::No);
    }
}
