//! The Rust names for the parts of a document.

use std::collections::BTreeSet;

use crate::document::{Document, Function, Member, Name, Object};
use crate::ir::Names;
use crate::names::{Taken, field_source, pascal, snake, unique, variant_source};

/// The field of a struct for its further properties.
const EXTRA: &str = "extra";

/// The Rust names of the schemas, in order. They may still collide with the prelude.
pub(crate) fn schemas(document: &Document) -> Vec<String> {
    let names = texts(document.schemas.iter().map(|schema| &schema.name));
    unique(&names, pascal)
}

/// The names of an object's fields, in order, and the name of the field for further properties.
pub(crate) fn fields(object: &Object) -> (Vec<Names>, String) {
    let wire = texts(object.properties.iter().map(|property| &property.name));
    let rust = unique(&wire, snake);
    let mut taken = Taken::default();
    for name in &rust {
        taken.take(name);
    }
    let names = rust.iter().map(|name| field_source(name)).collect();
    (pairs(&wire, names), taken.take(EXTRA))
}

/// The names of an enum's values, without duplicates.
pub(crate) fn variants(values: &[Name]) -> Vec<Names> {
    let mut seen = BTreeSet::new();
    let wire = texts(values.iter().filter(|value| seen.insert(&value.text)));
    let rust = unique(&wire, pascal);
    let names = rust.iter().map(|name| variant_source(name)).collect();
    pairs(&wire, names)
}

/// The names of a union's members, in order: in JSON the value of the tag, in Rust the type.
pub(crate) fn members(members: &[Member], tags: &[String]) -> Vec<Names> {
    let targets = texts(members.iter().map(|member| &member.target));
    let wire: Vec<&str> = tags.iter().map(String::as_str).collect();
    let rust = unique(&targets, pascal);
    let names = rust.iter().map(|name| variant_source(name)).collect();
    pairs(&wire, names)
}

/// The names of functions, in order.
pub(crate) fn functions(functions: &[Function]) -> Vec<Names> {
    let wire = texts(functions.iter().map(|function| &function.name));
    let rust = unique(&wire, snake);
    let names = rust.iter().map(|name| field_source(name)).collect();
    pairs(&wire, names)
}

fn texts<'a>(names: impl Iterator<Item = &'a Name>) -> Vec<&'a str> {
    names.map(|name| name.text.as_str()).collect()
}

fn pairs(wire: &[&str], rust: Vec<String>) -> Vec<Names> {
    let pair = |(wire, rust): (&&str, String)| Names {
        wire: (*wire).to_owned(),
        rust,
    };
    wire.iter().zip(rust).map(pair).collect()
}
