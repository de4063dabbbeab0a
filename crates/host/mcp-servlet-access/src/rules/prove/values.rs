//! Sets of JSON values, as far as a few keywords describe them.

use std::{cmp::Ordering, collections::BTreeSet, ops::RangeInclusive};

use serde_json::{Number, Value};

use super::{path::MAX_PARTS, target};
use crate::rules::argument::type_of;

/// A superset of the values that a schema accepts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Values {
    /// The values, if the schema lists them.
    pub(super) only: Option<Vec<Value>>,
    /// Whether the set is exact, apart from `enum`, `const`, `pattern` and `multipleOf`.
    pub(super) is_exact: bool,
    /// Which of the types `null`, `boolean` and `object` it contains.
    plain: BTreeSet<&'static str>,
    numbers: Numbers,
    /// The lengths of strings.
    strings: Lengths,
    /// The lengths of arrays.
    arrays: Lengths,
}

const PLAIN: [&str; 3] = ["null", "boolean", "object"];

/// Lengths, from the least to the greatest. None if there are none.
type Lengths = Option<RangeInclusive<u64>>;

const ANY_LENGTH: Lengths = Some(0..=u64::MAX);

/// Numbers between two edges.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Numbers {
    low: Edge,
    high: Edge,
    are_integers: bool,
}

/// A bound. The second field is -1 for just below the number, 1 for just above, else 0.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Edge(f64, i8);

/// Smaller integers are exact as floats.
const MAX_SAFE: f64 = 9_007_199_254_740_992.0;

impl Edge {
    fn cmp(self, other: Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }

    fn max(self, other: Self) -> Self {
        if self.cmp(other).is_lt() { other } else { self }
    }

    fn min(self, other: Self) -> Self {
        if self.cmp(other).is_gt() { other } else { self }
    }

    /// Rounds to an integer within the bound: up for 1, down for -1.
    fn rounded(self, by: i8) -> Self {
        let Self(at, side) = self;
        let is_integer = at.fract() == 0.0 && at.abs() < MAX_SAFE;
        let at = match by {
            1 if is_integer && side > 0 => at + 1.0,
            1 => at.ceil(),
            _ if is_integer && side < 0 => at - 1.0,
            _ => at.floor(),
        };
        Self(at, 0)
    }
}

impl Numbers {
    const ALL: Self = Self {
        low: Edge(f64::NEG_INFINITY, 0),
        high: Edge(f64::INFINITY, 0),
        are_integers: false,
    };
    const NONE: Self = Self {
        low: Edge(f64::INFINITY, 0),
        high: Edge(f64::NEG_INFINITY, 0),
        are_integers: false,
    };

    fn one(number: f64) -> Self {
        Self {
            low: Edge(number, 0),
            high: Edge(number, 0),
            are_integers: number.fract() == 0.0,
        }
    }

    /// The same numbers; for integers, with edges that are integers.
    fn rounded(self) -> Self {
        if !self.are_integers {
            return self;
        }
        Self {
            low: self.low.rounded(1),
            high: self.high.rounded(-1),
            are_integers: true,
        }
    }

    fn is_empty(self) -> bool {
        let Self { low, high, .. } = self.rounded();
        low.cmp(high).is_gt()
    }

    fn meet(self, other: Self) -> Self {
        Self {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
            are_integers: self.are_integers || other.are_integers,
        }
    }

    fn join(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            are_integers: self.are_integers && other.are_integers,
        }
    }

    fn is_within(self, other: Self) -> bool {
        let Self { low, high, .. } = self.rounded();
        self.is_empty()
            || low.cmp(other.low).is_ge()
                && high.cmp(other.high).is_le()
                && (self.are_integers || !other.are_integers)
    }
}

impl Values {
    fn all() -> Self {
        Self {
            only: None,
            is_exact: true,
            plain: BTreeSet::from(PLAIN),
            numbers: Numbers::ALL,
            strings: ANY_LENGTH,
            arrays: ANY_LENGTH,
        }
    }

    fn none() -> Self {
        Self {
            only: None,
            is_exact: true,
            plain: BTreeSet::new(),
            numbers: Numbers::NONE,
            strings: None,
            arrays: None,
        }
    }

    /// The set for a schema that is not understood.
    fn unknown() -> Self {
        Self {
            is_exact: false,
            ..Self::all()
        }
    }

    /// All values of these types. None if there are other types.
    fn of_types<'t>(types: impl IntoIterator<Item = &'t str>) -> Option<Self> {
        let mut values = Self::none();
        for name in types {
            match name {
                "string" => values.strings = ANY_LENGTH,
                "array" => values.arrays = ANY_LENGTH,
                "number" => values.numbers = Numbers::ALL,
                "integer" if values.numbers.is_empty() => {
                    values.numbers = Numbers {
                        are_integers: true,
                        ..Numbers::ALL
                    };
                }
                "integer" => {}
                name => {
                    values
                        .plain
                        .insert(PLAIN.into_iter().find(|one| *one == name)?);
                }
            }
        }
        Some(values)
    }

    /// The values of a part of a schema.
    pub(super) fn of(root: &Value, part: &Value) -> Self {
        values_of(root, part, &mut MAX_PARTS.clone())
    }

    /// The types of the values.
    pub(super) fn types(&self) -> Vec<&'static str> {
        let mut types: Vec<_> = self.plain.iter().copied().collect();
        types.extend((!self.numbers.is_empty()).then_some("number"));
        types.extend((!is_none(&self.strings)).then_some("string"));
        types.extend((!is_none(&self.arrays)).then_some("array"));
        if let Some(values) = &self.only {
            types.retain(|name| values.iter().any(|value| type_of(value) == *name));
        }
        types
    }

    pub(super) fn is_empty(&self) -> bool {
        self.types().is_empty()
    }

    /// The values that both sets have.
    pub(super) fn meet(&self, other: &Self) -> Self {
        let only = match (&self.only, &other.only) {
            (Some(own), Some(_)) => Some(
                own.iter()
                    .filter(|value| other.may_have(value))
                    .cloned()
                    .collect(),
            ),
            (Some(own), None) | (None, Some(own)) => Some(
                own.iter()
                    .filter(|value| self.may_have(value) && other.may_have(value))
                    .cloned()
                    .collect(),
            ),
            (None, None) => None,
        };
        Self {
            only,
            is_exact: self.is_exact && other.is_exact,
            plain: self.plain.intersection(&other.plain).copied().collect(),
            numbers: self.numbers.meet(other.numbers),
            strings: meet(&self.strings, &other.strings),
            arrays: meet(&self.arrays, &other.arrays),
        }
    }

    fn join(&self, other: &Self) -> Self {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() {
            return self.clone();
        }
        let only = match (&self.only, &other.only) {
            (Some(own), Some(others)) => Some(own.iter().chain(others).cloned().collect()),
            _ => None,
        };
        Self {
            only,
            is_exact: false,
            plain: self.plain.union(&other.plain).copied().collect(),
            numbers: self.numbers.join(other.numbers),
            strings: join(&self.strings, &other.strings),
            arrays: join(&self.arrays, &other.arrays),
        }
    }

    /// The values of these types.
    pub(super) fn within(&self, types: &[&'static str]) -> Self {
        let of_types = Self::of_types(types.iter().copied());
        self.meet(&of_types.unwrap_or_else(Self::unknown))
    }

    /// Whether `other`, which has no list, contains all of these values.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.plain.is_subset(&other.plain)
            && self.numbers.is_within(other.numbers)
            && is_within(&self.strings, &other.strings)
            && is_within(&self.arrays, &other.arrays)
    }

    /// False if a value is not in the set.
    fn may_have(&self, value: &Value) -> bool {
        let length = |length: usize, of: &Lengths| {
            let length = u64::try_from(length).unwrap_or(u64::MAX);
            of.as_ref().is_some_and(|range| range.contains(&length))
        };
        match value {
            Value::Number(number) => {
                exact(number).is_none_or(|number| Numbers::one(number).is_within(self.numbers))
            }
            Value::String(text) => length(text.chars().count(), &self.strings),
            Value::Array(items) => length(items.len(), &self.arrays),
            value => self.plain.contains(type_of(value)),
        }
    }
}

/// The values that a part of a schema allows. `left` counts down the parts of the schema that may still be read.
fn values_of(root: &Value, part: &Value, left: &mut usize) -> Values {
    let Some(rest) = left.checked_sub(1) else {
        return Values::unknown();
    };
    *left = rest;
    let keywords = match part {
        // References in a part with an id would begin elsewhere.
        Value::Object(keywords) if keywords.contains_key("$id") => return Values::unknown(),
        Value::Object(keywords) => keywords,
        Value::Bool(false) => return Values::none(),
        _ => return Values::all(),
    };
    // Older dialects ignore what is next to a reference.
    if let Some(target) = target(root, part) {
        return values_of(root, target, left);
    }
    let mut values = Values::all();
    for (name, value) in keywords {
        let parts = value.as_array().into_iter().flatten();
        values = values.meet(&match name.as_str() {
            "allOf" => parts.fold(Values::all(), |all, part| {
                all.meet(&values_of(root, part, left))
            }),
            "anyOf" | "oneOf" => parts.fold(Values::none(), |any, part| {
                any.join(&values_of(root, part, left))
            }),
            name => of_keyword(name, value),
        });
    }
    values
}

/// The values that match one keyword.
fn of_keyword(name: &str, value: &Value) -> Values {
    let values = match name {
        "type" => {
            let names = value
                .as_array()
                .map_or(std::slice::from_ref(value), Vec::as_slice);
            Values::of_types(names.iter().map(|name| name.as_str().unwrap_or_default()))
        }
        "enum" => value.as_array().map(|values| list(values)),
        "const" => Some(list(std::slice::from_ref(value))),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => bounded(name, value),
        "minLength" | "maxLength" | "minItems" | "maxItems" => of_length(name, value),
        "title" | "description" | "default" | "examples" | "pattern" | "multipleOf" => {
            Some(Values::all())
        }
        _ => None,
    };
    values.unwrap_or_else(Values::unknown)
}

fn list(values: &[Value]) -> Values {
    Values {
        only: Some(values.to_vec()),
        ..Values::all()
    }
}

fn bounded(name: &str, value: &Value) -> Option<Values> {
    // Zero has one sign here.
    let bound = value.as_number().and_then(exact)? + 0.0;
    let mut numbers = Numbers::ALL;
    match name {
        "minimum" => numbers.low = Edge(bound, 0),
        "exclusiveMinimum" => numbers.low = Edge(bound, 1),
        "maximum" => numbers.high = Edge(bound, 0),
        _ => numbers.high = Edge(bound, -1),
    }
    Some(Values {
        numbers,
        ..Values::all()
    })
}

fn of_length(name: &str, value: &Value) -> Option<Values> {
    let bound = value.as_u64()?;
    let range = if name.starts_with("min") {
        bound..=u64::MAX
    } else {
        0..=bound
    };
    let mut values = Values::all();
    if name.ends_with("Length") {
        values.strings = Some(range);
    } else {
        values.arrays = Some(range);
    }
    Some(values)
}

/// A number, if a float can express it exactly.
fn exact(number: &Number) -> Option<f64> {
    let float = number.as_f64()? + 0.0;
    (number.is_f64() || float.abs() < MAX_SAFE).then_some(float)
}

fn is_none(lengths: &Lengths) -> bool {
    lengths.as_ref().is_none_or(RangeInclusive::is_empty)
}

fn meet(one: &Lengths, other: &Lengths) -> Lengths {
    let (one, other) = (one.as_ref()?, other.as_ref()?);
    Some(*one.start().max(other.start())..=*one.end().min(other.end()))
}

fn join(one: &Lengths, other: &Lengths) -> Lengths {
    match (one, other) {
        (Some(one), Some(other)) if !one.is_empty() && !other.is_empty() => {
            Some(*one.start().min(other.start())..=*one.end().max(other.end()))
        }
        (Some(one), _) if !one.is_empty() => Some(one.clone()),
        (_, other) => other.clone(),
    }
}

fn is_within(one: &Lengths, other: &Lengths) -> bool {
    is_none(one)
        || one
            .as_ref()
            .zip(other.as_ref())
            .is_some_and(|(one, other)| one.start() >= other.start() && one.end() <= other.end())
}
