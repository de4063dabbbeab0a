//! Patterns for names and URIs.

use std::{fmt, str};

use mcp_servlet_common::normalized_uri;

use super::Holds;

/// A pattern for names. `*` stands for any text; everything else stands for itself, and case counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

/// A pattern for URIs, which are compared after their percent-encoded bytes are decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriPattern {
    written: Pattern,
    /// With scheme and host in lower case.
    normalized: Pattern,
}

/// What stands for the variables of a URI template. Only `*` of a pattern matches all that a variable can be.
const VARIABLE: char = '\0';

/// Patterns and templates with more characters than this, multiplied, are not compared: they may have a URI in common.
const MAX_STEPS: usize = 1 << 20;

impl Pattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Whether a name matches.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut at, mut of_name) = (0, 0);
        // Where to go on if the text that the last `*` stands for is longer.
        let mut retry = None;
        while of_name < name.len() {
            if pattern.get(at) == Some(&b'*') {
                at += 1;
                retry = Some((at, of_name));
            } else if pattern.get(at) == Some(&name[of_name]) {
                at += 1;
                of_name += 1;
            } else if let Some((after, from)) = retry {
                at = after;
                of_name = from + 1;
                retry = Some((after, of_name));
            } else {
                return false;
            }
        }
        pattern[at..].iter().all(|byte| *byte == b'*')
    }

    /// Whether every name that matches `other` matches this as well.
    pub fn covers(&self, other: &Self) -> bool {
        self.matches(&other.0.replace('*', "\0"))
    }

    /// Whether the URIs of a template, whose variables are [`VARIABLE`], match: all of them, some or none.
    fn matches_template(&self, template: &str) -> Holds {
        if self.matches(template) {
            Holds::Yes
        } else if self.overlaps(template) {
            Holds::Maybe
        } else {
            Holds::No
        }
    }

    fn overlaps(&self, template: &str) -> bool {
        let pattern: Vec<_> = self.0.chars().collect();
        let template: Vec<_> = template.chars().collect();
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
                    (Some('*'), None) => below[t],
                    (Some('*'), Some(_)) => below[t] || row[t + 1],
                    (None, Some(VARIABLE)) => row[t + 1],
                    (Some(_), Some(VARIABLE)) => row[t + 1] || below[t],
                    (Some(own), Some(other)) => own == other && below[t + 1],
                    (None, Some(_)) | (Some(_), None) => false,
                };
            }
            below = row;
        }
        below[0]
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
        Self {
            written: Pattern(decoded(text)),
            normalized: Pattern(decoded(&normalized_uri(text))),
        }
    }

    /// Whether every URI that matches `other` matches this as well.
    pub fn covers(&self, other: &Self) -> bool {
        self.written.covers(&other.written) && self.normalized.covers(&other.normalized)
    }

    /// Whether a URI matches as it is written, and as it is compared by those who read it.
    pub(super) fn matches(&self, uri: &Uri) -> [Holds; 2] {
        [
            (&self.written, &uri.written),
            (&self.normalized, &uri.normalized),
        ]
        .map(|(pattern, text)| pattern.matches_template(text))
    }

    /// Whether it matches a URI, or some URIs of a template.
    pub fn may_match(&self, uri: &Uri) -> bool {
        self.matches(uri).iter().all(|holds| *holds != Holds::No)
    }
}

/// The forms of a URI, or of the URIs of a template, that patterns are compared with.
#[derive(Clone, Debug)]
pub struct Uri {
    written: String,
    normalized: String,
}

impl Uri {
    /// Reads a URI.
    pub fn new(uri: &str) -> Self {
        Self {
            written: decoded(uri),
            normalized: decoded(&normalized_uri(uri)),
        }
    }

    /// Reads a URI template.
    pub fn of_template(template: &str) -> Self {
        let mut text = String::new();
        let mut rest = template;
        while let Some((literal, variable)) = rest.split_once('{') {
            text.push_str(literal);
            text.push(VARIABLE);
            rest = variable.split_once('}').map_or("", |(_, rest)| rest);
        }
        text.push_str(rest);
        Self::new(&text)
    }

    /// Whether it leaves the folder that it names.
    pub(super) fn climbs(&self) -> bool {
        let mut segments = self.written.split(['/', '\\', '?', '#']);
        segments.any(|segment| segment == "..")
    }
}

/// A text whose percent-encoded bytes are decoded once.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| str::from_utf8(digits).ok());
        // `from_str_radix` also takes a sign.
        let digits = digits.filter(|digits| digits.bytes().all(|one| one.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
            let uri = Uri::of_template(template);
            let matches = UriPattern::new(pattern).matches(&uri);
            assert_eq!(matches, [expected; 2], "{pattern} {template}");
        }
    }

    #[test]
    fn encoded_uris_are_decoded_once() {
        let secret = UriPattern::new("docs://secret/*");
        for (uri, [written, normalized]) in [
            ("docs://secret/a", [Holds::Yes, Holds::Yes]),
            ("docs://%73ecret/a", [Holds::Yes, Holds::Yes]),
            ("DOCS://Secret/a", [Holds::No, Holds::Yes]),
            ("docs://%2573ecret/a", [Holds::No, Holds::No]),
            ("docs://secret/%zz%+1%é", [Holds::Yes, Holds::Yes]),
        ] {
            assert_eq!(
                secret.matches(&Uri::new(uri)),
                [written, normalized],
                "{uri}"
            );
        }
        for (uri, climbs) in [
            ("docs://a/../b", true),
            ("docs://a/%2e%2E/b", true),
            ("docs://a/..%5Cb", true),
            ("docs://a/..?q", true),
            ("docs://a/..b", false),
        ] {
            assert_eq!(Uri::new(uri).climbs(), climbs, "{uri}");
        }
    }
}
