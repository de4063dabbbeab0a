//! URIs, as rules compare them.

use mcp_servlet_common::is_plain_uri;
use percent_encoding::percent_decode_str;

/// A URI, or the URIs of a template. Percent-encoded bytes are decoded.
#[derive(Clone, Debug)]
pub struct Uri(pub(super) Text);

/// The bytes that patterns are compared with.
#[derive(Clone, Debug)]
pub(super) enum Text {
    /// Those of a URI.
    One(Vec<u8>),
    /// Those of a template. A variable is None.
    Template(Vec<Option<u8>>),
}

impl Uri {
    /// Reads a URI that a member lists.
    pub fn listed(uri: &str) -> Self {
        Self(Text::One(percent_decode_str(uri).collect()))
    }

    /// Reads a URI that a client wrote. None if it is not in plain form: a member could take it for another URI.
    pub fn of_client(uri: &str) -> Option<Self> {
        is_plain_uri(uri).then(|| Self::listed(uri))
    }

    /// Whether it stands for the URIs of a template.
    pub fn is_template(&self) -> bool {
        matches!(self.0, Text::Template(_))
    }

    /// Reads a URI template.
    pub fn of_template(template: &str) -> Self {
        Self::of_template_with(template, &[])
    }

    /// Reads a URI template, some of whose variables have these values.
    pub fn of_template_with(template: &str, known: &[(&str, &str)]) -> Self {
        let mut bytes = Vec::new();
        let mut rest = template;
        while let Some((literal, variable)) = rest.split_once('{') {
            bytes.extend(percent_decode_str(literal).map(Some));
            let (variable, after) = variable.split_once('}').unwrap_or((variable, ""));
            rest = after;
            let name = variable.strip_prefix('+').unwrap_or(variable);
            match known.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => bytes.extend(value.bytes().map(Some)),
                None => bytes.push(None),
            }
        }
        bytes.extend(percent_decode_str(rest).map(Some));
        Self(Text::Template(bytes))
    }
}
