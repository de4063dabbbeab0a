//! From JSON Schema to Rust by typify. The only file that names typify and its schemars.

use std::panic::{AssertUnwindSafe, catch_unwind};

use schemars_0_8::schema::{InstanceType, Schema, SchemaObject};
use serde_json::Value;
use typify_impl::{TypeSpace, TypeSpaceSettings};

use crate::json_schema::{Definitions, Leaf};

/// Why typify gave no types. No schema that passed the checks should come to this.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the definition of `{name}` is no JSON Schema")]
    Definition {
        name: String,
        source: serde_json::Error,
    },
    #[error("typify refuses the definitions")]
    Refused(#[from] typify_impl::Error),
    #[error("typify panicked: {message}")]
    Panicked { message: String },
    #[error("typify's output is not Rust")]
    Output(#[from] syn::Error),
}

/// Generates a Rust type for each definition, in an order of typify's own. Strings whose format
/// is one of `leaves` get the type of that name.
///
/// # Errors
/// If typify cannot make types of the definitions.
pub(crate) fn generate(definitions: Definitions, leaves: &[Leaf]) -> Result<syn::File, Failure> {
    let schemas = definitions.into_iter().map(parse);
    let schemas = schemas.collect::<Result<Vec<_>, _>>()?;
    // The checks rule out every panic that is known; this turns an unknown one into an error,
    // except in a plugin, where panics abort.
    let stream = catch_unwind(AssertUnwindSafe(|| {
        let mut settings = TypeSpaceSettings::default();
        settings.with_map_type("::std::collections::BTreeMap");
        for leaf in leaves.iter().map(|leaf| leaf.format()) {
            settings.with_conversion(string_of(&leaf), leaf, std::iter::empty());
        }
        let mut space = TypeSpace::new(&settings);
        space.add_ref_types(schemas)?;
        Ok::<_, typify_impl::Error>(space.to_stream())
    }));
    let stream = stream.map_err(|payload| Failure::Panicked {
        message: panic_message(payload.as_ref()),
    })??;
    Ok(syn::parse2(stream)?)
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
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}
