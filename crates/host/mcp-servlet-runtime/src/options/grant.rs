//! What a servlet may call and read of other servlets and remotes.

use std::{fmt, str::FromStr};

use mcp_servlet_common::{asterisk_matches, is_plain_uri, normalized_uri};
use serde::{Serialize, Serializer};

/// A permission to call tools or to read resources of a servlet or remote, such as `weather:get_*` or `docs:file:///*`.
///
/// What follows the first colon is a pattern, in which `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    member: String,
    pattern: String,
}

/// A text is no [`Grant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseGrantError {
    /// It does not have both parts.
    #[error(
        "expected the name of a servlet or remote, a colon, and a name or pattern, such as `weather:get_*`"
    )]
    Form,
    /// The name of the servlet or remote is a pattern.
    #[error("the name of a servlet or remote has no `*`; only what follows the colon may have one")]
    Member,
}

impl FromStr for Grant {
    type Err = ParseGrantError;

    fn from_str(text: &str) -> Result<Self, ParseGrantError> {
        let (member, pattern) = text.split_once(':').ok_or(ParseGrantError::Form)?;
        if member.is_empty() || pattern.is_empty() {
            return Err(ParseGrantError::Form);
        }
        if member.contains('*') {
            return Err(ParseGrantError::Member);
        }
        Ok(Self {
            member: member.to_owned(),
            pattern: pattern.to_owned(),
        })
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.member, self.pattern)
    }
}

impl Serialize for Grant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Grant {
    /// The servlet or remote.
    pub fn member(&self) -> &str {
        &self.member
    }

    /// The names or URIs.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The only tool, if the pattern is a name.
    pub fn exact(&self) -> Option<&str> {
        (!self.pattern.contains('*')).then_some(&self.pattern)
    }

    /// Whether it covers what another one does.
    pub fn covers(&self, other: &Self) -> bool {
        // Only `*` matches `*`.
        self.allows_tool(&other.member, &other.pattern)
    }

    /// Whether it is for this tool.
    pub fn allows_tool(&self, member: &str, tool: &str) -> bool {
        self.member == member && matches(&self.pattern, tool)
    }

    /// Whether it is for this resource. Unless all are allowed, the URI must be in a form that has one reading.
    pub fn allows_resource(&self, member: &str, uri: &str) -> bool {
        if self.member != member {
            return false;
        }
        let uri = normalized_uri(uri);
        self.pattern == "*"
            || self.pattern == uri
            || is_plain_uri(&uri) && matches(&normalized_uri(&self.pattern), &uri)
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let is_any = |byte: &u8| *byte == b'*';
    asterisk_matches(pattern.as_bytes(), text.as_bytes(), is_any, u8::eq)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(text: &str) -> Grant {
        text.parse().expect("a grant")
    }

    #[test]
    fn a_grant_names_a_member_and_a_pattern() {
        let grant = grant("docs:file:///*");
        assert_eq!((grant.member(), grant.pattern()), ("docs", "file:///*"));
        assert_eq!(grant.to_string(), "docs:file:///*");
        for (text, error) in [
            ("", ParseGrantError::Form),
            ("weather", ParseGrantError::Form),
            (":get", ParseGrantError::Form),
            ("weather:", ParseGrantError::Form),
            ("*:get", ParseGrantError::Member),
        ] {
            assert_eq!(text.parse::<Grant>(), Err(error), "{text}");
        }
    }

    #[test]
    fn a_grant_allows_what_its_pattern_matches() {
        for (text, member, tool, expected) in [
            ("weather:get", "weather", "get", true),
            ("weather:get", "weather", "Get", false),
            ("weather:get", "Weather", "get", false),
            ("weather:get_*", "weather", "get_now", true),
            ("weather:get?", "weather", "get1", false),
            ("a:b:c", "a", "b:c", true),
        ] {
            let is_allowed = grant(text).allows_tool(member, tool);
            assert_eq!(is_allowed, expected, "{text} {member}:{tool}");
        }
        for (text, uri, expected) in [
            ("docs:file:///public/*", "file:///public/a.md", true),
            ("docs:file:///public/*", "FILE:///public/a.md", true),
            ("docs:file:///public/*", "file:///public/../secret", false),
            (
                "docs:file:///public/*",
                "file:///public/%2E%2E/secret",
                false,
            ),
            ("docs:file:///public/*", "file:///secret", false),
            ("docs:*", "file:///public/../secret", true),
            ("docs:file:///a b", "file:///a b", true),
            ("docs:docs://caf%c3%a9/*", "docs://caf%C3%A9/a", true),
        ] {
            let is_allowed = grant(text).allows_resource("docs", uri);
            assert_eq!(is_allowed, expected, "{text} {uri}");
        }
        assert!(!grant("docs:*").allows_resource("other", "file:///a"));
        assert!(grant("a:*").covers(&grant("a:get_*")));
        assert!(!grant("a:get_*").covers(&grant("a:*")));
    }
}
