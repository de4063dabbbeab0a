//! URI templates of RFC 6570, levels 1 to 3, and the check that a URI can be matched against them.

use std::fmt::Write as _;

/// A parsed template.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
}

/// One part of a template.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A literal: it is the same in every URI.
    Text(String),
    /// `{…}`
    Expression {
        operator: Operator,
        variables: Vec<String>,
    },
}

/// The operator that begins an expression; [`Operator::Simple`] has no character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Simple,
    Label,
    Path,
    Parameter,
    Query,
    Continuation,
    Fragment,
    Reserved,
}

impl Operator {
    fn from_sign(sign: char) -> Option<Self> {
        Some(match sign {
            '.' => Self::Label,
            '/' => Self::Path,
            ';' => Self::Parameter,
            '?' => Self::Query,
            '&' => Self::Continuation,
            '#' => Self::Fragment,
            '+' => Self::Reserved,
            _ => return None,
        })
    }

    /// The name of the variant, here and in the library.
    pub(crate) fn name(self) -> String {
        format!("{self:?}")
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Simple => "",
            Self::Label => ".",
            Self::Path => "/",
            Self::Parameter => ";",
            Self::Query => "?",
            Self::Continuation => "&",
            Self::Fragment => "#",
            Self::Reserved => "+",
        }
    }

    /// Whether values may contain reserved characters such as `/`.
    fn takes_all(self) -> bool {
        matches!(self, Self::Fragment | Self::Reserved)
    }
}

impl Template {
    /// Parses a template in which a URI determines the value of each variable.
    ///
    /// # Errors
    /// The message says what is wrong with the template and how to fix it.
    pub(crate) fn parse(template: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = template;
        while !rest.is_empty() {
            let end = rest.find(['{', '}']).unwrap_or(rest.len());
            let (text, after) = rest.split_at(end);
            if !text.is_empty() {
                check_text(text)?;
                parts.push(Part::Text(text.to_owned()));
            }
            if after.is_empty() {
                break;
            }
            let Some(inside) = after.strip_prefix('{') else {
                return Err("unmatched `}`\nhelp: write `%7D` for the character".to_owned());
            };
            let Some((expression, after)) = inside.split_once('}') else {
                return Err(format!("`{{{inside}` is not closed\nhelp: add `}}`"));
            };
            parts.push(parse_expression(expression)?);
            rest = after;
        }
        let template = Self { parts };
        template.check_variables()?;
        Ok(template)
    }

    /// The names of all variables, in order.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &String> {
        self.parts.iter().flat_map(|part| match part {
            Part::Text(_) => &[],
            Part::Expression { variables, .. } => &**variables,
        })
    }

    fn check_variables(&self) -> Result<(), String> {
        let mut seen: Vec<&String> = Vec::new();
        for variable in self.variables() {
            if seen.contains(&variable) {
                return Err(format!(
                    "duplicate variable `{variable}` in the template\nhelp: give the second one another name"
                ));
            }
            seen.push(variable);
        }
        if seen.is_empty() {
            return Err(
                "the template has no variable\nhelp: use `#[resource(uri = …)]` for a fixed URI"
                    .to_owned(),
            );
        }
        check_scheme(self.parts.first())?;
        let all = |part: &&Part| matches!(part, Part::Expression { operator, .. } if operator.takes_all());
        if let Some(Part::Expression { variables, .. }) = self.parts.iter().filter(all).nth(1) {
            return Err(format!(
                "`{}` and an expression before it can both match everything\nhelp: keep one `{{+…}}` or `{{#…}}`",
                variables[0]
            ));
        }
        (0..self.parts.len()).try_for_each(|at| check_end(&self.parts[at..]))
    }
}

/// Checks that the first part, an expression, has an unambiguous end.
fn check_end(parts: &[Part]) -> Result<(), String> {
    let [
        Part::Expression {
            operator,
            variables,
        },
        after @ ..,
    ] = parts
    else {
        return Ok(());
    };
    if variables.len() > 1 && (operator.takes_all() || *operator == Operator::Label) {
        return Err(format!(
            "ambiguous template: a URI does not show where one of `{}` ends\nhelp: use one variable in `{{{}…}}`",
            variables.join("`, `"),
            operator.sign()
        ));
    }
    if ends_before(*operator, after) {
        return Ok(());
    }
    let last = variables.last().map_or("", String::as_str);
    let mut message = format!("ambiguous template: a URI does not show where `{last}` ends");
    if let Some(Part::Text(text)) = after.first() {
        let _ = write!(message, ": it may contain `{text}`");
    }
    message.push_str("\nhelp: put a `/` after it");
    Err(message)
}

/// Whether values of this operator end where the parts after it begin.
fn ends_before(operator: Operator, after: &[Part]) -> bool {
    match (operator, after) {
        (Operator::Query | Operator::Continuation, [next, ..]) => starts_with(next, &['&', '#']),
        (Operator::Parameter, [next, ..]) => starts_with(next, &['/', '?', '#']),
        // A literal at the end of the URI is matched first, so it cannot be part of the value.
        (_, [] | [Part::Text(_)]) => true,
        (_, [Part::Text(text), next, ..]) => {
            let ends = if operator.takes_all() {
                is_delimiter
            } else {
                is_reserved
            };
            text.contains(ends) || starts_with(next, &['/', '?', '#'])
        }
        // Only these characters cannot be part of a value.
        (_, [next, ..]) if operator.takes_all() => starts_with(next, &['/', '?', '#']),
        (_, [next, ..]) => starts_with(next, &['/', '?', '#', ';', '&']),
    }
}

/// Whether a part always begins with one of these characters.
fn starts_with(part: &Part, signs: &[char]) -> bool {
    match part {
        Part::Text(text) => text.starts_with(signs),
        Part::Expression { operator, .. } => operator.sign().starts_with(signs),
    }
}

/// Whether the character ends a value, unless its operator takes reserved characters.
fn is_delimiter(character: char) -> bool {
    matches!(character, '/' | '?' | '#')
}

/// Reserved characters of RFC 3986 §2.2: an encoded value contains them only as `%` escapes.
fn is_reserved(character: char) -> bool {
    ":/?#[]@!$&'()*+,;=".contains(character)
}

fn parse_expression(expression: &str) -> Result<Part, String> {
    let sign = expression.chars().next().and_then(Operator::from_sign);
    let names = match sign {
        Some(_) => &expression[1..],
        None => expression,
    };
    let variables = names
        .split(',')
        .map(|name| parse_variable(expression, name));
    Ok(Part::Expression {
        operator: sign.unwrap_or(Operator::Simple),
        variables: variables.collect::<Result<_, _>>()?,
    })
}

fn parse_variable(expression: &str, name: &str) -> Result<String, String> {
    if name.ends_with('*') || name.contains(':') {
        return Err(format!(
            "unsupported expression `{{{expression}}}`: `*` and `:` (RFC 6570 level 4) cannot be parsed from a URI\nhelp: remove them"
        ));
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(format!(
            "`{{{expression}}}` has an invalid name\nhelp: a variable has the name of a parameter, as in `{{id}}`"
        ));
    }
    Ok(name.to_owned())
}

/// Checks that a URI may contain the text (RFC 3986 §2).
pub(crate) fn check_text(text: &str) -> Result<(), String> {
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let is_right = match character {
            '%' => {
                let digits = rest.as_str().as_bytes();
                digits.len() >= 2 && digits[..2].iter().all(u8::is_ascii_hexdigit)
            }
            _ => {
                character.is_ascii_alphanumeric()
                    || "-._~".contains(character)
                    || is_reserved(character)
            }
        };
        if !is_right {
            return Err(format!(
                "a URI cannot have `{}` here\nhelp: write it as `%` and the hexadecimal digits of its bytes in UTF-8",
                character.escape_debug()
            ));
        }
    }
    Ok(())
}

/// Checks that the URI begins with a scheme (RFC 3986 §3.1).
pub(crate) fn check_scheme(first: Option<&Part>) -> Result<(), String> {
    let text = match first {
        Some(Part::Text(text)) => text,
        _ => "",
    };
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_right = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_right) {
        Ok(())
    } else {
        Err("a URI begins with a scheme\nhelp: write `notes://…` or another one".to_owned())
    }
}
