//! Makes components of a JSON Schema.

use serde_json::Value;

use super::{dialect::Dialect, names::Names, parts::walk, references::Targets};
use crate::entry::unexpected;

/// The component of a schema, followed by those of the schemas that it refers to.
///
/// # Errors
/// Why the schema cannot be a component.
pub(super) fn convert(
    schema: &Value,
    name: &str,
    names: &mut Names,
) -> Result<Vec<(String, Value)>, String> {
    if !schema.is_object() && !schema.is_boolean() {
        return Err(unexpected("an object", schema));
    }
    let dialect = Dialect::of(schema)?;
    let mut schema = schema.clone();
    walk(&mut schema, &mut |part| {
        dialect.remove_ignored(part);
        Ok(())
    })?;
    let targets = Targets::find(&mut schema, dialect, name, names)?;
    let mut components = targets.take_out(schema);
    for (_, component) in &mut components {
        walk(component, &mut |part| {
            dialect.upgrade(part);
            targets.rewrite(part)
        })?;
    }
    Ok(components)
}
