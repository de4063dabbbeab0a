//! Turns JSON Schema into Rust types. The only file that names typify and its schemars.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use schemars_0_8::schema::{InstanceType, Schema, SchemaObject};
use serde_json::Value;
use typify_impl::{TypeDetails, TypeSpace, TypeSpaceSettings};

use crate::json_schema::{Definitions, Leaf};

/// Why typify made no types. Schemas that passed the checks should not cause this.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the definition of `{name}` is not a valid JSON Schema")]
    Definition {
        name: String,
        source: serde_json::Error,
    },
    #[error("typify refuses the definitions")]
    Rule(#[from] typify_impl::Error),
    #[error("typify panicked: {message}")]
    Panicked { message: String },
    #[error("typify's output is not Rust")]
    Output(#[from] syn::Error),
}

/// Finds the Rust type of each property, by the names of the definition and of the property. Strings whose format is
/// one of `leaves` have the type of that name.
///
/// typify also generates source, which is not used: its names are numbers.
///
/// # Errors
/// If typify cannot make types from the definitions.
pub(crate) fn types(definitions: Definitions, leaves: &[Leaf]) -> Result<Types, Failure> {
    let schemas = definitions
        .into_iter()
        .map(parse)
        .collect::<Result<Vec<_>, _>>()?;
    // The checks rule out every known panic. This turns an unknown one into an error, except in a plugin, where
    // panics abort.
    let found = catch_unwind(AssertUnwindSafe(|| {
        let mut settings = TypeSpaceSettings::default();
        settings.with_map_type("::std::collections::BTreeMap");
        for leaf in leaves {
            let name = leaf.format();
            match leaf {
                // Replacements are looked up by name; conversions are compared one by one.
                Leaf::Named(_) => settings.with_replacement(&name, &name, std::iter::empty()),
                _ => settings.with_conversion(string_of(&name), name, std::iter::empty()),
            };
        }
        let mut space = TypeSpace::new(&settings);
        space.add_ref_types(schemas)?;
        properties(&space)
    }));
    found.map_err(|payload| Failure::Panicked {
        message: panic_message(payload.as_ref()),
    })?
}

/// Rust types by the names of a definition and its property.
pub(crate) type Types = BTreeMap<(String, String), syn::Type>;

fn properties(space: &TypeSpace) -> Result<Types, Failure> {
    let mut types = Types::new();
    for definition in space.iter_types() {
        let TypeDetails::Struct(details) = definition.details() else {
            continue;
        };
        for (property, id) in details.properties() {
            let ty = syn::parse2(space.get_type(&id)?.ident())?;
            types.insert((definition.name(), property.to_owned()), ty);
        }
    }
    Ok(types)
}

fn string_of(format: &str) -> SchemaObject {
    SchemaObject {
        instance_type: Some(InstanceType::String.into()),
        format: Some(format.to_owned()),
        ..SchemaObject::default()
    }
}

fn parse((name, definition): (String, Value)) -> Result<(String, Schema), Failure> {
    match serde_json::from_value(definition) {
        Ok(schema) => Ok((name, schema)),
        Err(source) => Err(Failure::Definition { name, source }),
    }
}

fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
        .to_owned()
}
