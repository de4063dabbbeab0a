//! How the forms of a value can be told apart: by a property, or by their types in JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::walk::Members;
use crate::document::Scalar;

/// How many references are followed.
const MAX_REFERENCES: usize = 8;

/// One of the forms that a value may have.
pub(super) struct Form {
    pub(super) schema: Value,
    pub(super) at: String,
    /// The schema behind references.
    pub(super) resolved: Value,
    /// The name of the definition that it refers to.
    pub(super) definition: Option<String>,
    /// The type in JSON, if there is only one.
    pub(super) kind: Option<Json>,
}

/// A type of JSON. Integers are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Json {
    String,
    Number,
    Boolean,
    Array,
    Object,
}

impl Json {
    /// The name of a variant, and what it is.
    pub(super) fn variant(self) -> (&'static str, &'static str) {
        match self {
            Self::String => ("String", "A string"),
            Self::Number => ("Number", "A number"),
            Self::Boolean => ("Boolean", "A boolean"),
            Self::Array => ("Array", "An array"),
            Self::Object => ("Object", "An object"),
        }
    }

    fn of_schema(schema: &Value) -> Option<Self> {
        let members = schema.as_object()?;
        let kind = |ty: &str| match ty {
            "string" => Some(Self::String),
            "number" | "integer" => Some(Self::Number),
            "boolean" => Some(Self::Boolean),
            "array" => Some(Self::Array),
            "object" => Some(Self::Object),
            _ => None,
        };
        if let Some(values) = values(members) {
            let kind_of = |value: &&Value| kind(type_of(value));
            let first = values.first().and_then(kind_of)?;
            return values
                .iter()
                .all(|value| kind_of(value) == Some(first))
                .then_some(first);
        }
        match &types(members)[..] {
            [ty] => kind(ty),
            _ => None,
        }
    }
}

impl Form {
    pub(super) fn new(schema: Value, at: String, root: &Value) -> Self {
        let (mut resolved, mut definition) = (&schema, None);
        for _ in 0..MAX_REFERENCES {
            let pointer = resolved.get("$ref").and_then(local);
            let Some((pointer, target)) = pointer.and_then(|at| Some((at, root.pointer(at)?)))
            else {
                break;
            };
            resolved = target;
            definition = pointer.rsplit('/').next().map(str::to_owned);
        }
        let resolved = resolved.clone();
        Self {
            kind: Json::of_schema(&resolved),
            resolved,
            definition,
            schema,
            at,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        let is_null = |members: &Members| match values(members) {
            Some(values) => values.iter().all(|value| value.is_null()) && !values.is_empty(),
            None => types(members) == ["null"],
        };
        self.resolved.as_object().is_some_and(is_null)
    }

    /// The strings that it allows, if it allows nothing else.
    fn texts(&self) -> Option<Vec<&str>> {
        let values = values(self.resolved.as_object()?)?;
        values.into_iter().map(Value::as_str).collect()
    }
}

/// The pointer of a reference into the same schema.
pub(super) fn local(reference: &Value) -> Option<&str> {
    let pointer = reference.as_str()?.strip_prefix('#')?;
    (pointer.is_empty() || pointer.starts_with('/')).then_some(pointer)
}

/// The types that `type` lists, or the one that other keywords imply.
pub(super) fn types(members: &Members) -> Vec<&str> {
    match members.get("type") {
        Some(Value::String(ty)) => vec![ty],
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        _ => {
            let has = |keys: &[&str]| keys.iter().any(|key| members.contains_key(*key));
            if has(&["properties", "required", "additionalProperties"]) {
                vec!["object"]
            } else if has(&["items", "prefixItems"]) {
                vec!["array"]
            } else {
                Vec::new()
            }
        }
    }
}

/// The values that a schema lists.
pub(super) fn values(members: &Members) -> Option<Vec<&Value>> {
    match (members.get("const"), members.get("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether forms only say which members an object must have, as in `anyOf: [{required: [a]}, {required: [b]}]`.
pub(super) fn are_rules(forms: &[Value]) -> bool {
    let rules = ["required", "not", "description", "title"];
    let is_rule = |form: &Value| {
        let members = form.as_object();
        members.is_some_and(|members| members.keys().all(|key| rules.contains(&&**key)))
    };
    !forms.is_empty() && forms.iter().all(is_rule)
}

/// The strings of forms that are nothing but strings.
pub(super) fn texts(forms: &[Form]) -> Option<Vec<String>> {
    let of_forms: Vec<_> = forms.iter().map(Form::texts).collect::<Option<_>>()?;
    let texts: Vec<_> = of_forms.into_iter().flatten().map(str::to_owned).collect();
    (!texts.is_empty()).then_some(texts)
}

/// The property that tells objects apart, and its value in each.
pub(super) fn tag(forms: &[Form]) -> Option<(String, Vec<String>)> {
    let first = forms.first()?.resolved.get("properties")?.as_object()?;
    first.keys().find_map(|name| {
        let values: Vec<_> = forms
            .iter()
            .map(|form| tag_value(&form.resolved, name))
            .collect::<Option<_>>()?;
        let distinct: BTreeSet<_> = values.iter().collect();
        (distinct.len() == forms.len()).then(|| (name.clone(), values.clone()))
    })
}

/// The only value of a property.
fn tag_value(schema: &Value, name: &str) -> Option<String> {
    let members = schema.as_object()?;
    let has_others = ["allOf", "anyOf", "oneOf"]
        .iter()
        .any(|key| members.contains_key(*key));
    let property = members.get("properties")?.get(name)?.as_object()?;
    match &values(property)?[..] {
        [Value::String(value)] if !has_others => Some(value.clone()),
        _ => None,
    }
}

/// Whether each form is another type of JSON.
pub(super) fn are_distinct(forms: &[Form]) -> bool {
    let kinds: Option<BTreeSet<Json>> = forms.iter().map(|form| form.kind).collect();
    kinds.is_some_and(|kinds| kinds.len() == forms.len() && !kinds.is_empty())
}

/// The type of all forms, if it is a string, a number or a boolean.
pub(super) fn scalar(forms: &[Form]) -> Option<Scalar> {
    let kinds: BTreeSet<Json> = forms.iter().map(|form| form.kind).collect::<Option<_>>()?;
    match Vec::from_iter(kinds)[..] {
        [Json::String] => Some(Scalar::String),
        [Json::Number] => Some(Scalar::Double),
        [Json::Boolean] => Some(Scalar::Boolean),
        _ => None,
    }
}

/// The first form, if all are equal.
pub(super) fn only_one(forms: &[Form]) -> Option<&Form> {
    let (first, rest) = forms.split_first()?;
    rest.iter()
        .all(|form| form.resolved == first.resolved)
        .then_some(first)
}

/// The text of a schema and of everything that it refers to; `None` if that is longer than `limit`.
pub(super) fn closure(members: &Members, root: &Value, limit: usize) -> Option<String> {
    let mut text = Value::from(members.clone()).to_string();
    let mut seen: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut open = Vec::new();
    for value in members.values() {
        references(value, &mut open);
    }
    open.extend(members.get("$ref").and_then(local));
    while let Some(pointer) = open.pop() {
        if text.len() > limit {
            return None;
        }
        let Some(target) = root.pointer(pointer) else {
            continue;
        };
        if !seen.contains_key(pointer) {
            // The order is that of the schema itself, so that equal schemas have equal texts.
            text.extend(["\n", pointer, " ", &target.to_string()]);
            seen.insert(pointer, target);
            references(target, &mut open);
        }
    }
    (text.len() <= limit).then_some(text)
}

/// The references in a schema.
fn references<'s>(schema: &'s Value, into: &mut Vec<&'s str>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| references(item, into)),
        Value::Object(members) => {
            into.extend(members.get("$ref").and_then(local));
            members.values().for_each(|value| references(value, into));
        }
        _ => {}
    }
}
