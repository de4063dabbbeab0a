//! Types in schemas, properties, parameters, lists and maps.
//!
//! Several keys can define a type; the order of the official library's normaliser decides between them.

mod every;
mod object;
mod union;

pub(crate) use self::every::every_key;
use crate::diagnostic::{Code, Report};
use crate::document::{Item, Name, Shape};
use crate::node::Value;
use crate::read::{Cursor, Fields, Keys, simple};
use crate::rules::Rule;

/// How deep types may nest in each other. A type that is deeper needs a schema of its own.
const MAX_TYPE_DEPTH: usize = 16;

/// The position of a type, which determines its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Schema,
    /// A schema that is neither an object nor an enum.
    Alias,
    Property,
    Parameter,
    Element,
    MapValue,
}

/// Every key that a type can have, except those of parameters and extensions.
const ALL: &[&str] = &[
    "type",
    "format",
    "description",
    "nullable",
    "$ref",
    "items",
    "additionalProperties",
    "properties",
    "required",
    "enum",
];

impl Place {
    fn what(self) -> &'static str {
        match self {
            Self::Schema | Self::Alias => "a schema",
            Self::Property => "a property",
            Self::Parameter => "a parameter",
            Self::Element => "an element",
            Self::MapValue => "the values of a map",
        }
    }

    /// The keys of the published rules for the kind of type that `fields` shows.
    fn published(self, fields: &Fields<'_>) -> Vec<&'static str> {
        let reference = fields.has_any(&["$ref"]);
        let map = fields.has_any(&["additionalProperties"]);
        let mut keys = match self {
            Self::Schema if fields.has_any(&["enum"]) => vec!["type", "description", "enum"],
            Self::Schema => vec!["description", "properties", "required"],
            Self::Alias => ALL.to_vec(),
            _ if reference => vec!["$ref", "nullable"],
            Self::Element if map => vec!["type", "additionalProperties"],
            Self::MapValue if map => vec!["type", "nullable"],
            _ if map => vec!["type", "nullable", "additionalProperties"],
            Self::Element => vec!["type", "format", "nullable"],
            _ => vec!["type", "format", "nullable", "items"],
        };
        if matches!(self, Self::Property | Self::Parameter) {
            keys.push("description");
        }
        if self == Self::Parameter {
            keys.push("contentType");
        }
        keys
    }
}

/// Reads the keys of a type.
pub(crate) fn fields<'a>(
    cursor: &Cursor<'a>,
    place: Place,
    report: &mut Report,
) -> Option<Fields<'a>> {
    let fields = Fields::new(cursor, report)?;
    expect_keys(&fields, place, report);
    Some(fields)
}

/// Reports the keys that a type must not have.
pub(crate) fn expect_keys(fields: &Fields<'_>, place: Place, report: &mut Report) {
    let mut beyond = ALL.to_vec();
    if report.options.one_of {
        beyond.extend(["oneOf", "discriminator"]);
    }
    let keys = Keys {
        what: place.what(),
        published: &place.published(fields),
        beyond: &beyond,
    };
    fields.expect(&keys, report);
    if place == Place::Parameter
        && let Some(map) = fields.get("additionalProperties")
    {
        let message = "by the published rules, no parameter is a map";
        let code = Code::BeyondPublished;
        let problem = report.add(Rule::Published, code, &map.at_key(), message);
        problem.help("the official library takes it, and so does this generator");
    }
}

/// Reads a type from its keys.
pub(crate) fn read(fields: &Fields<'_>, report: &mut Report) -> Item {
    read_at(0, fields, report)
}

/// Reads a type inside `depth` others.
fn read_at(depth: usize, fields: &Fields<'_>, report: &mut Report) -> Item {
    Item {
        nullable: nullable(fields, report),
        shape: shape(depth, fields, report),
    }
}

/// The library accepts any truthy value. A text such as `no`, which YAML 1.1 took as a boolean, is truthy but means false, so
/// that is never accepted.
fn nullable(fields: &Fields<'_>, report: &mut Report) -> bool {
    const NO: [&str; 7] = ["", "0", "f", "false", "n", "no", "off"];
    let Some(cursor) = fields.get("nullable") else {
        return false;
    };
    let truth = cursor.value().is_truthy();
    match cursor.value() {
        Value::Bool(_) => truth,
        Value::Text(text) => {
            let text = text.to_lowercase();
            let meant = !NO.contains(&&*text);
            let rule = if meant { Rule::Published } else { Rule::Always };
            let problem = cursor.wrong_kind("a boolean", rule, report);
            problem.help(format!("write `nullable: {meant}`"));
            meant
        }
        _ => {
            let problem = cursor.wrong_kind("a boolean", Rule::Published, report);
            problem.help(format!("it is taken as `{truth}`"));
            truth
        }
    }
}

fn shape(depth: usize, fields: &Fields<'_>, report: &mut Report) -> Shape {
    if report.options.one_of
        && let Some(members) = fields.get("oneOf")
    {
        return union::read(fields, members, report);
    }
    let ty = simple::ty(fields, report);
    let format = simple::format(fields, ty, report);
    let values = map_values(fields, report);
    if let Some(properties) = properties(fields, report)
        && (!is_empty(properties) || ty.is_none())
    {
        return object::read(depth, fields, properties, values.as_ref(), report);
    }
    if let Some(values) = &values {
        expect_object(fields, values, ty, report);
        return Shape::Map(Box::new(element(depth, values, Place::MapValue, report)));
    }
    if let Some(target) = fields.filled("$ref", "a reference", report) {
        let (Some(beside), Some(ty)) = (fields.get("type"), ty) else {
            return reference(target, report);
        };
        let message = format!("type `{ty}` wins over `$ref`");
        let code = Code::TypeKeys;
        let problem = report.add(Rule::Lint, code, &beside.at_key(), message);
        problem.help("remove one of them; `type` is probably too much");
    }
    if let Some(values) = fields.filled("enum", "a list", report) {
        return object::values(fields, values, report);
    }
    if let Some(items) = fields.filled("items", "a type", report) {
        if let Some(ty) = ty.filter(|ty| *ty != "array") {
            let message = format!("`items` makes it a list, although its type is `{ty}`");
            let code = Code::TypeKeys;
            let problem = report.add(Rule::Lint, code, &items.at_key(), message);
            problem.help("write `type: array`");
        } else if fields.get("type").is_none() {
            let message = "by the published rules, a list needs `type: array`";
            let code = Code::MissingKey;
            let problem = report.add(Rule::Published, code, &items.at_key(), message);
            problem.help("add `type: array`");
        }
        return Shape::List(Box::new(element(depth, items, Place::Element, report)));
    }
    simple::shape(fields, ty, format, report)
}

/// The properties, which may be empty.
fn properties<'f, 'a>(fields: &'f Fields<'a>, report: &mut Report) -> Option<&'f Cursor<'a>> {
    let properties = fields.get("properties")?;
    if properties.is_null() {
        let problem = properties.wrong_kind("a map", Rule::BothNeedlessly, report);
        problem.help("write `properties: {}`");
    }
    Some(properties)
}

fn is_empty(properties: &Cursor<'_>) -> bool {
    match properties.value() {
        Value::Map(entries) => entries.is_empty(),
        Value::Null => true,
        _ => false,
    }
}

/// The type of the values of a map, if the type is a map. `true` allows any values, and `false` allows none, which
/// others read as if it were missing.
fn map_values<'a>(fields: &Fields<'a>, report: &mut Report) -> Option<Cursor<'a>> {
    let values = fields.get("additionalProperties")?;
    match values.value() {
        _ if values.value().is_truthy() => Some(values.clone()),
        _ => {
            let code = Code::BeyondPublished;
            let message = format!(
                "by the published rules, `additionalProperties` is a type, not {}",
                values.value().kind()
            );
            let problem = report.add(Rule::Published, code, &values.at_key(), message);
            problem.help("it has no effect; remove it");
            None
        }
    }
}

/// Reports a map that is not an object, or lacks `type: object`.
fn expect_object(fields: &Fields<'_>, values: &Cursor<'_>, ty: Option<&str>, report: &mut Report) {
    match ty {
        Some("object") => {}
        // A type of another kind, or an unreadable one, has its own problem.
        None if fields.has("type") => {}
        None => {
            let message =
                "the official library requires `type: object` with `additionalProperties`";
            let code = Code::BeyondLibrary;
            let rule = Rule::LibraryNeedlessly;
            let problem = report.add(rule, code, &values.at_key(), message);
            problem.help("add `type: object`");
        }
        Some(ty) => {
            let message = format!("`additionalProperties` needs type `object`, not `{ty}`");
            let problem = report.error(Code::TypeKeys, &values.at_key(), message);
            problem.help("write `type: object`");
        }
    }
}

/// Reads what lists and maps consist of.
fn element(depth: usize, cursor: &Cursor<'_>, place: Place, report: &mut Report) -> Item {
    if depth >= MAX_TYPE_DEPTH {
        let message = "types nest too deeply";
        let problem = report.error(Code::TooDeep, &cursor.at_key(), message);
        problem.help("give the inner type a name under `components.schemas`");
        return Item::UNREAD;
    }
    if is_anything(cursor, place, report) {
        return Item::ANY;
    }
    match fields(cursor, place, report) {
        Some(fields) => read_at(depth + 1, &fields, report),
        None => Item::UNREAD,
    }
}

/// Whether the type is `true`, which is any JSON.
fn is_anything(cursor: &Cursor<'_>, place: Place, report: &mut Report) -> bool {
    if !matches!(cursor.value(), Value::Bool(true)) {
        return false;
    }
    let (key, help) = match place {
        Place::MapValue => (
            "additionalProperties",
            "write the type of the values, or leave it out for a free-form object",
        ),
        _ => (
            "items",
            "write the type of the elements, or leave it out for any JSON",
        ),
    };
    let message = format!("the official generators fail at `{key}: true`");
    let code = Code::BeyondLibrary;
    let problem = report.add(Rule::BothNeedlessly, code, &cursor.at(), message);
    problem.help(help);
    true
}

fn reference(cursor: &Cursor<'_>, report: &mut Report) -> Shape {
    let Some(text) = cursor.text(report) else {
        return Shape::Any;
    };
    match target(cursor, text, report) {
        Some(name) => Shape::Ref(name),
        None => Shape::Any,
    }
}

/// The schema that a `$ref` names. The library ignores the text after the name.
fn target(cursor: &Cursor<'_>, text: &str, report: &mut Report) -> Option<Name> {
    let reference = text
        .strip_prefix("#/components/schemas/")
        .and_then(|path| path.split('/').next().map(|name| (path, name)))
        .filter(|(_, name)| !name.is_empty());
    let Some((path, name)) = reference else {
        let message = format!("`{}` does not point to a schema", text.escape_debug());
        let problem = report.error(Code::RefForm, &cursor.at(), message);
        problem.help("write `#/components/schemas/<Name>`");
        return None;
    };
    if path != name {
        let message = format!("`$ref` points to schemas only; this means all of `{name}`");
        let code = Code::RefForm;
        let problem = report.add(Rule::Published, code, &cursor.at(), message);
        problem.help(format!("write `#/components/schemas/{name}`"));
    }
    Some(Name {
        text: name.to_owned(),
        at: cursor.at(),
    })
}
