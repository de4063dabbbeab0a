//! Families of resources: matches URIs against templates of RFC 6570.
//!
//! The macro parses a template at compile time. Here a URI is compared with the parts, and the text that matches a
//! variable becomes an argument.

pub(crate) mod order;
#[cfg(test)]
mod tests;

use crate::arguments::Field;
use crate::schema::Property;

/// A URI template.
#[derive(Debug, Clone, Copy)]
pub struct Template {
    pub(crate) parts: &'static [Part],
    pub(crate) fields: &'static [Field],
    /// Compares a URI with the template. A servlet without templates does not link it.
    values: for<'u> fn(&Self, &'u str) -> Option<Vec<Option<&'u str>>>,
}

impl Template {
    /// The template with these parts. Its variables are `fields`, one for each argument of the function.
    pub const fn new(parts: &'static [Part], fields: &'static [Field]) -> Self {
        Self {
            parts,
            fields,
            values,
        }
    }

    /// The values of the variables as written in `uri`, if it matches the template.
    pub(crate) fn values<'u>(&self, uri: &'u str) -> Option<Vec<Option<&'u str>>> {
        (self.values)(self, uri)
    }
}

impl Property {
    /// Stops the build unless the value can be a part of a URI.
    #[track_caller]
    pub const fn check_variable(&self) {
        assert!(
            self.node.is_plain(),
            "a variable of a template is text, a number, a boolean, or an enum without fields"
        );
    }
}

/// One part of a template.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// Literal text of the URI.
    Text(&'static str),
    /// An expression: an operator and variables, each the index of an argument.
    Variables(Operator, &'static [usize]),
}

/// How the values of an expression are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `{a}`: up to `/`, `?` or `#`.
    Simple,
    /// `{.a}`: like simple, after a dot.
    Label,
    /// `{/a}`: like simple, after a slash.
    Path,
    /// `{;a}`: `;a=value`.
    Parameter,
    /// `{?a}`: `?a=value`.
    Query,
    /// `{&a}`: `&a=value`.
    Continuation,
    /// `{#a}`: anything, after `#`.
    Fragment,
    /// `{+a}`: anything.
    Reserved,
}

impl Operator {
    /// The separators before the first value and before each further one.
    const fn separators(self) -> (&'static str, &'static str) {
        match self {
            Self::Simple | Self::Reserved => ("", ","),
            Self::Label => (".", "."),
            Self::Path => ("/", "/"),
            Self::Parameter => (";", ";"),
            Self::Query => ("?", "&"),
            Self::Continuation => ("&", "&"),
            Self::Fragment => ("#", ","),
        }
    }

    /// Whether values are written with their names.
    const fn is_named(self) -> bool {
        matches!(self, Self::Parameter | Self::Query | Self::Continuation)
    }

    /// Whether a value cannot contain this byte.
    fn ends_at(self, byte: u8) -> bool {
        match self {
            Self::Simple | Self::Label | Self::Path => matches!(byte, b'/' | b'?' | b'#'),
            Self::Parameter => matches!(byte, b'/' | b'?' | b'#' | b';'),
            Self::Query | Self::Continuation => matches!(byte, b'#' | b'&'),
            Self::Fragment | Self::Reserved => false,
        }
    }
}

fn values<'u>(template: &Template, uri: &'u str) -> Option<Vec<Option<&'u str>>> {
    let mut matcher = Matcher {
        fields: template.fields,
        values: vec![None; template.fields.len()],
        length: uri.len(),
        failed: Vec::new(),
    };
    matcher.parts(template.parts, uri).then_some(matcher.values)
}

/// The state of a match: the value of each variable so far.
struct Matcher<'u> {
    fields: &'static [Field],
    values: Vec<Option<&'u str>>,
    /// The length of the whole URI.
    length: usize,
    /// Positions where values in order did not match. They cannot match later either, whatever comes
    /// before. Without this, the time for some URIs would grow with a high power of their length.
    failed: Vec<bool>,
}

impl<'u> Matcher<'u> {
    /// Whether all of `rest` matches the parts.
    fn parts(&mut self, parts: &'static [Part], rest: &'u str) -> bool {
        match parts.split_first() {
            None => rest.is_empty(),
            Some((Part::Text(text), after)) => {
                let rest = rest.strip_prefix(text);
                rest.is_some_and(|rest| self.parts(after, rest))
            }
            Some((Part::Variables(operator, variables), after)) if operator.is_named() => {
                self.named(*operator, variables, after, rest)
            }
            Some((Part::Variables(operator, variables), after)) => {
                let separator = operator.separators().0;
                self.in_order(*operator, separator, variables, after, rest)
            }
        }
    }

    /// Matches values without names, each as short as the rest of the template allows.
    fn in_order(
        &mut self,
        operator: Operator,
        separator: &str,
        variables: &'static [usize],
        after: &'static [Part],
        rest: &'u str,
    ) -> bool {
        let Some((variable, others)) = variables.split_first() else {
            return self.parts(after, rest);
        };
        let place = after.len() * (self.fields.len() + 1) + variables.len();
        let state = place * (self.length + 1) + rest.len();
        if self.failed.get(state) == Some(&true) {
            return false;
        }
        if let Some(value) = rest.strip_prefix(separator) {
            for end in ends(operator, value) {
                self.values[*variable] = Some(&value[..end]);
                let separator = operator.separators().1;
                if self.in_order(operator, separator, others, after, &value[end..]) {
                    return true;
                }
            }
            self.values[*variable] = None;
        }
        // The last values may be absent, each with its separator.
        if variables.iter().all(|at| !self.fields[*at].required) && self.parts(after, rest) {
            return true;
        }
        if state >= self.failed.len() {
            self.failed.resize(state + 1, false);
        }
        self.failed[state] = true;
        false
    }

    /// Matches values with names, in any order.
    fn named(
        &mut self,
        operator: Operator,
        variables: &'static [usize],
        after: &'static [Part],
        mut rest: &'u str,
    ) -> bool {
        let (mut separator, next) = operator.separators();
        while let Some(pair) = rest.strip_prefix(separator) {
            let end = pair
                .bytes()
                .position(|byte| operator.ends_at(byte))
                .unwrap_or(pair.len());
            let (name, value) = pair[..end].split_once('=').unwrap_or((&pair[..end], ""));
            let wanted = |at: &&usize| self.fields[**at].name == name;
            match variables.iter().find(wanted) {
                Some(at) if self.values[*at].is_none() => self.values[*at] = Some(value),
                _ => break,
            }
            (rest, separator) = (&pair[end..], next);
        }
        let is_complete = |at: &usize| self.values[*at].is_some() || !self.fields[*at].required;
        let matches = variables.iter().all(is_complete) && self.parts(after, rest);
        if !matches {
            for at in variables {
                self.values[*at] = None;
            }
        }
        matches
    }
}

/// The possible ends of a value that starts here, the shortest first; it has at least one character.
fn ends(operator: Operator, text: &str) -> impl Iterator<Item = usize> {
    let inside = text.bytes().position(|byte| operator.ends_at(byte));
    let longest = inside.unwrap_or(text.len());
    (1..=longest).filter(|end| text.is_char_boundary(*end))
}

/// The decoded value, if its `%` escapes are valid and make UTF-8.
pub(crate) fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let [high, low, after @ ..] = rest else {
            return None;
        };
        bytes.push(hexadecimal(*high)? * 16 + hexadecimal(*low)?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

fn hexadecimal(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}
