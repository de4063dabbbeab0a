//! Functions that replace those of `cel` in expressions.
//!
//! They charge the [`Meter`] before they do work that depends on more than the size of their
//! arguments. Their names begin with `@`, so that an expression can only reach them through
//! [`rewrite`](crate::rewrite).

use std::{collections::BTreeSet, sync::Arc};

use super::{budget::Meter, pattern::Pattern, value};
use cel::{
    Context, ExecutionError, FunctionContext,
    common::{
        types::{CelBool, CelInt, CelList, CelOptional, CelString},
        value::{CowVal, Val},
    },
};

/// Charges for a value and returns it.
pub(super) const COST: &str = "@cost";
/// The operator `in`.
pub(super) const CONTAINS: &str = "@contains";
/// Looks up a member that may be absent, and charges for it before it is copied.
pub(super) const OPTIONAL: &str = "@optional";
/// Charges one step and returns the condition of a loop.
pub(super) const TICK: &str = "@tick";
/// Matches a string against the pattern with this number.
pub(super) const MATCHES: &str = "@matches";

/// Methods that are replaced by functions, and how many arguments they take.
pub(super) const METHODS: &[(&str, &str, std::ops::RangeInclusive<usize>)] = &[
    ("indexOf", "@indexOf", 1..=2),
    ("join", "@join", 0..=1),
    ("lastIndexOf", "@lastIndexOf", 1..=1),
    ("matches", MATCHES, 1..=1),
    ("replace", "@replace", 2..=3),
    ("split", "@split", 1..=2),
];

/// Functions that `cel` does not have, and how many arguments they take.
pub(super) const FUNCTIONS: &[(&str, &str, std::ops::RangeInclusive<usize>)] =
    &[("json", "@json", 1..=1), ("text", "@text", 1..=1)];

type Args<'c, 'v> = Vec<CowVal<'c, 'v>>;
type Outcome<'c, 'v> = Result<CowVal<'c, 'v>, ExecutionError>;
type Body = for<'c, 'v> fn(&Meter, Args<'c, 'v>) -> Outcome<'c, 'v>;
type CelFunction = Box<
    dyn for<'c, 'v> Fn(&mut FunctionContext<'c, 'v>) -> Result<CowVal<'c, 'v>, ExecutionError>
        + Send
        + Sync,
>;

const BODIES: &[(&str, Body)] = &[
    (CONTAINS, contains),
    (COST, cost),
    (OPTIONAL, optional),
    (TICK, tick),
    ("@indexOf", index_of),
    ("@join", join),
    ("@json", json),
    ("@lastIndexOf", last_index_of),
    ("@replace", replace),
    ("@split", split),
    ("@text", text),
];

/// Adds the functions with these names to the context of one run.
pub(super) fn add(
    context: &mut Context<'_, '_>,
    names: &BTreeSet<&'static str>,
    meter: &Arc<Meter>,
    patterns: &Arc<[Pattern]>,
) {
    for (name, body) in BODIES.iter().filter(|(name, _)| names.contains(name)) {
        let meter = Arc::clone(meter);
        let function: CelFunction =
            Box::new(move |context| body(&meter, std::mem::take(&mut context.args)));
        declare(context, name, function);
    }
    if !names.contains(MATCHES) {
        return;
    }
    let (meter, patterns) = (Arc::clone(meter), Arc::clone(patterns));
    let function: CelFunction = Box::new(move |context| {
        let args = std::mem::take(&mut context.args);
        matches(&meter, &patterns, &args)
    });
    declare(context, MATCHES, function);
}

fn declare(context: &mut Context<'_, '_>, name: &str, function: CelFunction) {
    context
        .add_function(name, function)
        .expect("no overload has a name with `@`");
}

fn cost<'c, 'v>(meter: &Meter, mut args: Args<'c, 'v>) -> Outcome<'c, 'v> {
    let value = args.pop().ok_or_else(wrong)?;
    meter.charge(1)?;
    meter.charge_value(value.as_ref())?;
    Ok(value)
}

fn optional<'c, 'v>(meter: &Meter, args: Args<'c, 'v>) -> Outcome<'c, 'v> {
    let [value, key] = args.as_slice() else {
        return Err(wrong());
    };
    let inside = match value.downcast_ref::<CelOptional<'_>>() {
        Some(optional) => optional.inner(),
        None => Some(value.as_ref()),
    };
    let found = inside
        .and_then(Val::as_indexer)
        .and_then(|inside| inside.get(key.as_ref()).ok());
    let Some(found) = found else {
        return Ok(CowVal::owned(CelOptional::none()));
    };
    meter.charge_value(found.as_ref())?;
    Ok(CowVal::owned(CelOptional::of(found.into_owned())))
}

fn contains<'c, 'v>(meter: &Meter, args: Args<'c, 'v>) -> Outcome<'c, 'v> {
    let [value, container] = args.as_slice() else {
        return Err(wrong());
    };
    let value = value.as_ref();
    let found = if let Some(list) = container.downcast_ref::<CelList<'_>>() {
        is_in_list(meter, value, list)?
    } else {
        let container = container.as_container().ok_or_else(wrong)?;
        container.contains(value)?
    };
    Ok(CowVal::owned(CelBool::from(found)))
}

fn is_in_list(meter: &Meter, value: &dyn Val, list: &CelList<'_>) -> Result<bool, ExecutionError> {
    let weight = meter.weight(value);
    for item in list.inner() {
        // If the item has another type, `cel` copies the value into an error.
        meter.charge_bytes(weight)?;
        if item.equals(value) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn tick<'c, 'v>(meter: &Meter, mut args: Args<'c, 'v>) -> Outcome<'c, 'v> {
    meter.charge(1)?;
    args.pop().ok_or_else(wrong)
}

fn matches<'c, 'v>(meter: &Meter, patterns: &[Pattern], args: &Args<'c, 'v>) -> Outcome<'c, 'v> {
    let text = string(args, 0)?;
    let number = usize::try_from(integer(args, 1)?).map_err(|_| wrong())?;
    let pattern = patterns.get(number).ok_or_else(wrong)?;
    meter.charge_bytes(pattern.cost(text))?;
    Ok(CowVal::owned(CelBool::from(pattern.is_match(text))))
}

fn index_of<'c, 'v>(meter: &Meter, args: Args<'c, 'v>) -> Outcome<'c, 'v> {
    let (text, wanted) = (string(&args, 0)?, string(&args, 1)?);
    meter.charge_bytes((text.len() + wanted.len()) as u64)?;
    let from = if args.len() > 2 {
        integer(&args, 2)?
    } else {
        0
    };
    let from = usize::try_from(from).map_err(|_| wrong())?;
    let count = text.chars().count();
    if from > count || from == count && from > 0 && !wanted.is_empty() {
        return Err(wrong());
    }
    let start = text
        .char_indices()
        .nth(from)
        .map_or(text.len(), |(at, _)| at);
    let found = text[start..].find(wanted).map(|at| start + at);
    Ok(position(text, found))
}

fn last_index_of<'c, 'v>(meter: &Meter, args: Args<'c, 'v>) -> Outcome<'c, 'v> {
    let (text, wanted) = (string(&args, 0)?, string(&args, 1)?);
    meter.charge_bytes((text.len() + wanted.len()) as u64)?;
    Ok(position(text, text.rfind(wanted)))
}

/// The position in characters, or -1.
fn position<'c, 'v>(text: &str, found: Option<usize>) -> CowVal<'c, 'v> {
    let position = found.map_or(-1, |at| {
        i64::try_from(text[..at].chars().count()).unwrap_or(i64::MAX)
    });
    CowVal::owned(CelInt::from(position))
}

fn join<'c, 'v>(meter: &Meter, args: Args<'c, 'v>) -> Outcome<'c, 'v> {
    let list = args
        .first()
        .ok_or_else(wrong)?
        .as_ref()
        .downcast_ref::<CelList<'_>>()
        .ok_or_else(wrong)?;
    let between = if args.len() > 1 {
        string(&args, 1)?
    } else {
        ""
    };
    let mut parts = Vec::with_capacity(list.inner().len());
    for item in list.inner() {
        let part = item.downcast_ref::<CelString<'_>>().ok_or_else(wrong)?;
        meter.charge_bytes((part.inner().len() + between.len()) as u64 + 1)?;
        parts.push(part.inner());
    }
    Ok(owned_string(parts.join(between)))
}

fn replace<'c, 'v>(meter: &Meter, args: Args<'c, 'v>) -> Outcome<'c, 'v> {
    let (text, from, to) = (string(&args, 0)?, string(&args, 1)?, string(&args, 2)?);
    let most = if args.len() > 3 {
        integer(&args, 3)?
    } else {
        -1
    };
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    meter.charge_bytes(text.len() as u64)?;
    let count = text.matches(from).take(most).count();
    meter.charge_bytes(text.len() as u64 + (count as u64).saturating_mul(to.len() as u64))?;
    Ok(owned_string(text.replacen(from, to, most)))
}

fn split<'c, 'v>(meter: &Meter, args: Args<'c, 'v>) -> Outcome<'c, 'v> {
    let (text, between) = (string(&args, 0)?, string(&args, 1)?);
    let most = if args.len() > 2 {
        integer(&args, 2)?
    } else {
        -1
    };
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    meter.charge_bytes(text.len() as u64)?;
    let mut parts: Vec<Box<dyn Val + 'v>> = Vec::new();
    for part in pieces(text, between, most) {
        meter.charge(1)?;
        parts.push(Box::new(CelString::from(part.to_owned())));
    }
    Ok(CowVal::owned(CelList::from(parts)))
}

/// The pieces of a text, at most `most`. An empty separator is between all characters.
fn pieces<'t>(
    text: &'t str,
    between: &'t str,
    most: usize,
) -> Box<dyn Iterator<Item = &'t str> + 't> {
    if !between.is_empty() {
        return Box::new(text.splitn(most, between));
    }
    let mut starts = text.char_indices().map(|(at, _)| at).take(most).peekable();
    // The last piece is the rest of the text.
    Box::new(std::iter::from_fn(move || {
        let start = starts.next()?;
        Some(&text[start..starts.peek().copied().unwrap_or(text.len())])
    }))
}

fn json<'c, 'v>(meter: &Meter, args: Args<'c, 'v>) -> Outcome<'c, 'v> {
    let text = string(&args, 0)?;
    meter.charge_bytes(text.len() as u64)?;
    // A value can take much more memory than its text. Each but the first one follows such a character.
    let values = text.bytes().filter(|byte| b",:[{".contains(byte)).count();
    meter.charge(values as u64)?;
    let json: serde_json::Value = serde_json::from_str(text).map_err(|_| wrong())?;
    Ok(CowVal::Owned(owned(&json)))
}

fn text<'c, 'v>(meter: &Meter, args: Args<'c, 'v>) -> Outcome<'c, 'v> {
    let value = args.first().ok_or_else(wrong)?.as_ref();
    meter.charge_value(value)?;
    match value::to_json(value) {
        Ok(Some(json)) => Ok(owned_string(json.to_string())),
        Ok(None) | Err(_) => Err(wrong()),
    }
}

/// A value that borrows nothing.
fn owned<'v>(json: &serde_json::Value) -> Box<dyn Val + 'v> {
    use serde_json::Value;
    match json {
        Value::String(text) => Box::new(CelString::from(text.clone())),
        Value::Array(items) => Box::new(CelList::from(items.iter().map(owned).collect::<Vec<_>>())),
        Value::Object(members) => {
            let members = members.iter();
            let members: std::collections::HashMap<
                cel::common::types::CelMapKey<'v>,
                Box<dyn Val + 'v>,
            > = members
                .map(|(name, value)| (name.clone().into(), owned(value)))
                .collect();
            Box::new(cel::common::types::CelMap::from(members))
        }
        scalar => value::from_scalar(scalar),
    }
}

fn owned_string<'c, 'v>(text: String) -> CowVal<'c, 'v> {
    CowVal::owned(CelString::from(text))
}

fn string<'a>(args: &'a Args<'_, '_>, number: usize) -> Result<&'a str, ExecutionError> {
    let value = args.get(number).ok_or_else(wrong)?.as_ref();
    let text = value.downcast_ref::<CelString<'_>>().ok_or_else(wrong)?;
    Ok(text.inner())
}

fn integer(args: &Args<'_, '_>, number: usize) -> Result<i64, ExecutionError> {
    let value = args.get(number).ok_or_else(wrong)?.as_ref();
    Ok(*value.downcast_ref::<CelInt>().ok_or_else(wrong)?.inner())
}

/// The arguments have other types than the function takes, or are out of range.
fn wrong() -> ExecutionError {
    ExecutionError::function_error("function", "arguments")
}
