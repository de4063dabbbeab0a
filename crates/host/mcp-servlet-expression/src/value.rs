//! JSON to values of `cel`, and back.
//!
//! The conversion of `cel` reads all JSON integers as unsigned, so that `days + 1` fails
//! (<https://github.com/cel-rust/cel-rust/issues/122>).

use std::collections::{BTreeMap, HashMap};

use cel::common::{
    types::{
        CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelOptional, CelString,
        CelUInt,
    },
    value::Val,
};
use serde_json::{Map, Number, Value};

use crate::scope::Part;

/// A part of what expressions see as a value, which borrows the strings of the JSON.
pub(super) fn from_part(part: Part<'_>) -> Box<dyn Val + '_> {
    match part {
        Part::Json(json) => from_json(json),
        Part::Map(members) => from_members(members),
        Part::Text(text) => Box::new(CelString::from(text)),
        Part::Object(object) => {
            let members = object.members().into_iter();
            map(members.map(|(name, part)| (name, from_part(part))))
        }
    }
}

/// A map with these members.
pub(super) fn map<'v>(
    members: impl Iterator<Item = (&'v str, Box<dyn Val + 'v>)>,
) -> Box<dyn Val + 'v> {
    let members = members.map(|(name, value)| (CelMapKey::from(name), value));
    Box::new(CelMap::from(members.collect::<HashMap<_, _>>()))
}

fn from_members(members: &Map<String, Value>) -> Box<dyn Val + '_> {
    let members = members.iter();
    map(members.map(|(name, value)| (name.as_str(), from_json(value))))
}

fn from_json(json: &Value) -> Box<dyn Val + '_> {
    match json {
        Value::String(text) => Box::new(CelString::from(text.as_str())),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(from_json).collect();
            Box::new(CelList::from(items))
        }
        Value::Object(members) => from_members(members),
        scalar => from_scalar(scalar),
    }
}

/// The value of a number, a boolean or null.
pub(super) fn from_scalar<'v>(json: &Value) -> Box<dyn Val + 'v> {
    match json {
        Value::Bool(value) => Box::new(CelBool::from(*value)),
        Value::Number(number) => from_number(number),
        _ => Box::new(CelNull),
    }
}

fn from_number<'v>(number: &Number) -> Box<dyn Val + 'v> {
    if let Some(number) = number.as_i64() {
        Box::new(CelInt::from(number))
    } else if let Some(number) = number.as_u64() {
        Box::new(CelUInt::from(number))
    } else {
        Box::new(CelDouble::from(number.as_f64().unwrap_or(f64::NAN)))
    }
}

/// The JSON of a value. `Ok(None)` is an optional value that is absent.
///
/// # Errors
/// The kind of a value that JSON cannot express.
pub(super) fn to_json(value: &dyn Val) -> Result<Option<Value>, &'static str> {
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        return Ok(Some(text.inner().into()));
    }
    if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        let items = list
            .inner()
            .iter()
            .filter_map(|item| to_json(item.as_ref()).transpose());
        return items.collect::<Result<_, _>>().map(Value::Array).map(Some);
    }
    if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        return object(map).map(Some);
    }
    if let Some(optional) = value.downcast_ref::<CelOptional<'_>>() {
        return optional.inner().map_or(Ok(None), to_json);
    }
    scalar(value).map(Some)
}

/// The members in the order of their names: `cel` has lost the order in which they were written.
fn object(map: &CelMap<'_>) -> Result<Value, &'static str> {
    let mut members = BTreeMap::new();
    for (key, value) in map.inner() {
        let Some(key) = key.inner().downcast_ref::<CelString<'_>>() else {
            return Err("a map with keys that are not strings");
        };
        if let Some(value) = to_json(value.as_ref())? {
            members.insert(key.inner().to_owned(), value);
        }
    }
    Ok(Value::Object(Map::from_iter(members)))
}

fn scalar(value: &dyn Val) -> Result<Value, &'static str> {
    if let Some(number) = value.downcast_ref::<CelInt>() {
        return Ok((*number.inner()).into());
    }
    if let Some(number) = value.downcast_ref::<CelUInt>() {
        return Ok((*number.inner()).into());
    }
    if let Some(value) = value.downcast_ref::<CelBool>() {
        return Ok((*value.inner()).into());
    }
    if let Some(number) = value.downcast_ref::<CelDouble>() {
        let number = Number::from_f64(*number.inner());
        return number
            .map(Value::Number)
            .ok_or("a number that is not finite");
    }
    if value.downcast_ref::<CelNull>().is_some() {
        return Ok(Value::Null);
    }
    Err("a value that JSON does not have")
}
