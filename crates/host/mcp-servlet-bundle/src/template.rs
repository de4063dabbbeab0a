//! JSON with expressions in its strings: `${{ … }}`.

mod known;

use std::fmt;

use mcp_servlet_expression::{Budget, Expression, Failure, Mistake, Scope};
use serde_json::{Map, Value};

use crate::problem::{Place, Problem};

/// An expression whose value can be anything.
const UNKNOWN: &str = "json('')";

/// Replaces the environment variables in a text, `${NAME}`, and `$$` by a dollar.
pub type Expand<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// A value whose strings may contain expressions.
#[derive(Clone)]
pub(crate) enum Template {
    /// No expression. It may be secret.
    Constant(Value),
    /// A string that is one expression and nothing else, so that the value keeps its type.
    One(Expression, usize),
    /// A string with expressions.
    Text(Vec<Piece>),
    List(Vec<Template>),
    Object(Vec<(String, Template)>),
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Template")
    }
}

/// A string that is one expression.
#[derive(Clone, Debug)]
pub(crate) struct Single {
    pub(crate) expression: Expression,
    /// Where it begins in the string.
    pub(crate) start: usize,
}

/// A piece of a text.
#[derive(Clone)]
pub(crate) enum Piece {
    Text(String),
    /// An expression, and where it begins in the text.
    Expression(Expression, usize),
}

/// Why a template has no value, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) place: Place,
    pub(crate) failure: Failure,
}

impl Failed {
    /// The same, in a value that has this place.
    pub(crate) fn within(mut self, place: &Place) -> Self {
        self.place.0.splice(0..0, place.0.iter().cloned());
        self
    }

    pub(crate) fn within_key(self, key: &str) -> Self {
        self.within(&Place::of(key))
    }
}

impl Template {
    /// Compiles the expressions of a value.
    pub(crate) fn parse(
        value: &Value,
        place: &Place,
        expand: &mut Expand<'_>,
        problems: &mut Vec<Problem>,
    ) -> Self {
        match value {
            Value::String(text) => match Self::text(text, expand) {
                Ok(template) => template,
                Err(mistakes) => {
                    problems.extend(mistakes.into_iter().map(|mistake| {
                        Problem::within(place.clone(), mistake.range, mistake.message)
                    }));
                    Self::Constant(Value::Null)
                }
            },
            Value::Array(items) => {
                let items = items.iter().enumerate();
                Self::list(
                    items
                        .map(|(at, item)| Self::parse(item, &place.item(at), expand, problems))
                        .collect(),
                )
            }
            Value::Object(members) => Self::object(
                members
                    .iter()
                    .map(|(key, value)| {
                        (
                            key.clone(),
                            Self::parse(value, &place.key(key), expand, problems),
                        )
                    })
                    .collect(),
            ),
            other => Self::Constant(other.clone()),
        }
    }

    fn list(items: Vec<Self>) -> Self {
        let constants = items.iter().map(|item| item.constant().cloned());
        match constants.collect::<Option<_>>() {
            Some(items) => Self::Constant(Value::Array(items)),
            None => Self::List(items),
        }
    }

    fn object(members: Vec<(String, Self)>) -> Self {
        let constants = members
            .iter()
            .map(|(name, value)| Some((name.clone(), value.constant()?.clone())));
        match constants.collect::<Option<Map<_, _>>>() {
            Some(members) => Self::Constant(Value::Object(members)),
            None => Self::Object(members),
        }
    }

    fn text(text: &str, expand: &mut Expand<'_>) -> Result<Self, Vec<Mistake>> {
        let mut pieces = Vec::new();
        let mut mistakes = Vec::new();
        for part in parts(text).map_err(|mistake| vec![mistake])? {
            let piece = match part {
                Part::Text(start, text) => expand(text).map(Piece::Text).map_err(|message| {
                    vec![Mistake {
                        range: start..start + text.len(),
                        message,
                    }]
                }),
                Part::Expression(start, source) => Expression::parse(source)
                    .map(|expression| Piece::Expression(expression, start))
                    .map_err(|found| found.into_iter().map(|one| one.moved(start)).collect()),
            };
            match piece {
                Ok(piece) => pieces.push(piece),
                Err(found) => mistakes.extend(found),
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Ok(Self::of_pieces(pieces))
    }

    fn of_pieces(mut pieces: Vec<Piece>) -> Self {
        match pieces.as_slice() {
            [] => return Self::Constant("".into()),
            [Piece::Text(text)] => return Self::Constant(text.as_str().into()),
            _ => {}
        }
        match (pieces.pop(), pieces.is_empty()) {
            (Some(Piece::Expression(expression, start)), true) => Self::One(expression, start),
            (last, _) => {
                pieces.extend(last);
                Self::Text(pieces)
            }
        }
    }

    /// Compiles a string that is one expression. `example` is one. The result of a wrong one can have any value.
    pub(crate) fn single(
        text: &str,
        place: &Place,
        example: &str,
        problems: &mut Vec<Problem>,
    ) -> Single {
        let message = || format!("expected one expression, such as \"{example}\"");
        // It is not a template, so it has no variables.
        let mut expand = |_: &str| Err(message());
        let before = problems.len();
        if let Self::One(expression, start) =
            Self::parse(&text.into(), place, &mut expand, problems)
        {
            return Single { expression, start };
        }
        if problems.len() == before {
            problems.push(Problem::new(place.clone(), message()));
        }
        Single {
            expression: Expression::parse(UNKNOWN).expect("it is an expression"),
            start: 0,
        }
    }

    /// Calls a function for each expression, with its place and where it begins in the string.
    pub(crate) fn each<'t>(
        &'t self,
        place: &Place,
        visit: &mut dyn FnMut(&Place, usize, &'t Expression),
    ) {
        match self {
            Self::Constant(_) => {}
            Self::One(expression, start) => visit(place, *start, expression),
            Self::Text(pieces) => {
                for piece in pieces {
                    if let Piece::Expression(expression, start) = piece {
                        visit(place, *start, expression);
                    }
                }
            }
            Self::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    item.each(&place.item(at), visit);
                }
            }
            Self::Object(members) => {
                for (name, value) in members {
                    value.each(&place.key(name), visit);
                }
            }
        }
    }

    /// The value for a call. `Ok(None)` is an absent value, which leaves out its key or item. The place of a failure is within
    /// this value.
    pub(crate) fn fill(
        &self,
        scope: &Scope<'_>,
        budget: &mut Budget,
    ) -> Result<Option<Value>, Failed> {
        let here = |failure| Failed {
            place: Place::default(),
            failure,
        };
        match self {
            Self::Constant(value) => Ok(Some(value.clone())),
            Self::One(expression, _) => expression.run(scope, budget).map_err(here),
            Self::Text(pieces) => fill_text(pieces, scope, budget).map(Some).map_err(here),
            Self::List(items) => {
                let mut filled = Vec::with_capacity(items.len());
                for (number, item) in items.iter().enumerate() {
                    let value = item.fill(scope, budget);
                    filled.extend(
                        value.map_err(|failed| failed.within(&Place::default().item(number)))?,
                    );
                }
                Ok(Some(filled.into()))
            }
            Self::Object(members) => {
                let mut filled = Map::new();
                for (name, value) in members {
                    let value = value.fill(scope, budget);
                    if let Some(value) = value.map_err(|failed| failed.within_key(name))? {
                        filled.insert(name.clone(), value);
                    }
                }
                Ok(Some(filled.into()))
            }
        }
    }
}

/// In a text, strings are inserted as they are, absent values as nothing, and other values as JSON.
fn fill_text(pieces: &[Piece], scope: &Scope<'_>, budget: &mut Budget) -> Result<Value, Failure> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(piece) => text += piece,
            Piece::Expression(expression, _) => match expression.run(scope, budget)? {
                None => {}
                Some(Value::String(value)) => text += &value,
                Some(value) => text += &value.to_string(),
            },
        }
    }
    Ok(text.into())
}

/// A part of a string, and where it begins.
enum Part<'t> {
    Text(usize, &'t str),
    Expression(usize, &'t str),
}

/// Splits a string at its expressions.
fn parts(text: &str) -> Result<Vec<Part<'_>>, Mistake> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(found) = text[at..].find('$') {
        let dollar = at + found;
        if text[dollar..].starts_with("$$") {
            at = dollar + 2;
        } else if text[dollar..].starts_with("${{") {
            if start < dollar {
                parts.push(Part::Text(start, &text[start..dollar]));
            }
            let inside = dollar + 3;
            let Some(length) = end(&text[inside..]) else {
                let message = "`${{` has no `}}`".to_owned();
                return Err(Mistake {
                    range: dollar..dollar + 3,
                    message,
                });
            };
            parts.push(Part::Expression(inside, &text[inside..inside + length]));
            (start, at) = (inside + length + 2, inside + length + 2);
        } else {
            at = dollar + 1;
        }
    }
    if start < text.len() {
        parts.push(Part::Text(start, &text[start..]));
    }
    Ok(parts)
}

/// The length of an expression: up to the first `}}` outside of strings and braces.
fn end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match (quote, character) {
            (Some(_), '\\') => {
                characters.next();
            }
            (Some(open), _) if character == open => quote = None,
            (None, '"' | '\'') => quote = Some(character),
            (None, '{') => depth += 1,
            (None, '}') if depth > 0 => depth -= 1,
            (None, '}') if text[at..].starts_with("}}") => return Some(at),
            (Some(_) | None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
