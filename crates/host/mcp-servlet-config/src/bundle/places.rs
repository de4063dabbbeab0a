//! The values of a tool's table as JSON, and where each is in the file.

use std::ops::Range;

use mcp_servlet_host::bundle::{Place, Problem as ToolProblem};
use serde_json::{Map, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{
    Problem,
    problem::{inside, line},
};

/// The positions of the values of a tool in the file.
#[derive(Clone, Debug)]
pub(super) struct Places {
    name: Range<usize>,
    values: Vec<(Place, Range<usize>, Option<usize>)>,
}

impl Places {
    /// The places of all values of a tool's table. `name` is the span of its name.
    pub(super) fn of(name: Range<usize>, value: &Spanned<DeValue<'_>>, text: &str) -> Self {
        let mut places = Self {
            name,
            values: Vec::new(),
        };
        places.add(&Place::default(), value, text);
        places
    }

    fn add(&mut self, place: &Place, value: &Spanned<DeValue<'_>>, text: &str) {
        self.add_at(place, value.span(), value, text);
    }

    fn add_at(
        &mut self,
        place: &Place,
        span: Range<usize>,
        value: &Spanned<DeValue<'_>>,
        text: &str,
    ) {
        let inside = match value.get_ref() {
            DeValue::String(content) => inside(content, &value.span(), text),
            _ => None,
        };
        self.values.push((place.clone(), span, inside));
        match value.get_ref() {
            DeValue::Table(table) => {
                // A problem with a step is shown at its name.
                let are_steps = *place == Place::of("step");
                for (key, value) in table {
                    let span = if are_steps { key.span() } else { value.span() };
                    self.add_at(&place.key(key.get_ref()), span, value, text);
                }
            }
            DeValue::Array(items) => {
                for (number, item) in items.iter().enumerate() {
                    self.add(&place.item(number), item, text);
                }
            }
            _ => {}
        }
    }

    /// The name of the tool.
    pub(super) fn name(&self) -> Range<usize> {
        self.name.clone()
    }

    /// Where the tool begins.
    pub(super) fn start(&self) -> usize {
        self.name.start
    }

    /// A value of the tool.
    pub(super) fn at(&self, place: &Place) -> Range<usize> {
        self.find(place).0
    }

    /// The problem at its place in the file, which has this text.
    pub(super) fn problem(&self, problem: &ToolProblem, text: &str) -> Problem {
        let (span, inside) = self.find(&problem.place);
        let part = problem
            .range
            .as_ref()
            .zip(inside)
            .map(|(range, start)| range.start + start..range.end + start);
        Problem {
            span: part.unwrap_or(span),
            message: problem.in_words(|part| {
                let line = line(text, self.find(part).0.start);
                format!(" (line {line})")
            }),
        }
    }

    /// The span of a value, or of the innermost table around it that is in the file.
    fn find(&self, place: &Place) -> (Range<usize>, Option<usize>) {
        let mut place = place.clone();
        while !place.0.is_empty() {
            if let Some((_, span, inside)) = self.values.iter().find(|(known, ..)| *known == place)
            {
                return (span.clone(), *inside);
            }
            place.0.pop();
        }
        (self.name.clone(), None)
    }
}

/// The positions of numbers that JSON does not have: `inf`, `nan`, and integers of more than 64 bits.
pub(super) fn wrong_numbers(value: &Spanned<DeValue<'_>>) -> Vec<Range<usize>> {
    match value.get_ref() {
        DeValue::Array(items) => items.iter().flat_map(wrong_numbers).collect(),
        DeValue::Table(table) => {
            let values = table.iter().map(|(_, value)| value);
            values.flat_map(wrong_numbers).collect()
        }
        DeValue::Integer(_) | DeValue::Float(_) if json(value.get_ref()).is_null() => {
            vec![value.span()]
        }
        _ => Vec::new(),
    }
}

/// A value as JSON, with the keys in the order of the file.
pub(super) fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => {
            let digits = i64::from_str_radix(number.as_str(), number.radix());
            digits.map_or(Value::Null, Value::from)
        }
        DeValue::Float(number) => number
            .as_str()
            .parse::<f64>()
            .map_or(Value::Null, Value::from),
        DeValue::Boolean(value) => (*value).into(),
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => object(table).into(),
    }
}

fn object(table: &DeTable<'_>) -> Map<String, Value> {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    let members = members.into_iter();
    members
        .map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref())))
        .collect()
}

/// The byte ranges of constants in bundles. What is inside of `${{ }}` is shown.
pub(crate) fn secrets(table: &DeTable<'_>, text: &str, secrets: &mut Vec<Range<usize>>) {
    let bundles = table
        .get("bundle")
        .and_then(|value| value.get_ref().as_table())
        .into_iter()
        .flatten()
        .filter_map(|(_, bundle)| bundle.get_ref().get("tool"));
    for tools in bundles.filter_map(|tools| tools.get_ref().as_table()) {
        for (_, tool) in tools {
            let by_name = tool.get_ref().get("step");
            let steps = by_name.and_then(|steps| steps.get_ref().as_table());
            let tables = steps.into_iter().flatten().map(|(_, step)| step);
            for table in std::iter::once(tool).chain(tables) {
                for key in ["inputs", "set"] {
                    if let Some(values) = table.get_ref().get(key) {
                        constants(values, text, secrets);
                    }
                }
            }
        }
    }
}

fn constants(value: &Spanned<DeValue<'_>>, text: &str, secrets: &mut Vec<Range<usize>>) {
    let span = value.span();
    match value.get_ref() {
        DeValue::Table(table) => table
            .iter()
            .for_each(|(_, value)| constants(value, text, secrets)),
        DeValue::Array(items) => items.iter().for_each(|item| constants(item, text, secrets)),
        DeValue::String(_) => {
            let written = text.get(span.clone()).unwrap_or_default();
            let mut start = 0;
            while let Some(found) = written[start..].find("${{") {
                secrets.push(span.start + start..span.start + start + found);
                start += found;
                start += written[start..]
                    .find("}}")
                    .map_or(written.len() - start, |end| end + 2);
            }
            secrets.push(span.start + start..span.end);
        }
        _ => secrets.push(span),
    }
}
