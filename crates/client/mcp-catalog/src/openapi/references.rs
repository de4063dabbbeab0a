//! What the references of a schema lead to.
//!
//! Most programs that read OpenAPI resolve every `$ref` from the root of the document, with or without an `$id` in between, and
//! make no type of what is in `$defs`: <https://github.com/swagger-api/swagger-core/issues/4469>,
//! <https://github.com/openapi-ts/openapi-typescript/issues/1261>, <https://github.com/pb33f/libopenapi/issues/471>. So whatever a
//! reference leads to becomes a component.

use std::{cmp::Reverse, collections::HashMap};

use mcp_servlet_common::unescape_pointer;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::{
    dialect::Dialect,
    names::{Names, reference},
    parts::{Place, place, walk},
};
use crate::JsonObject;

/// The whole schema, and the schemas within it that references lead to, in the order of the references.
pub(super) struct Targets {
    all: Vec<Target>,
    /// Their positions by JSON pointer.
    at: HashMap<String, usize>,
}

/// A schema that becomes a component.
struct Target {
    pointer: String,
    /// The name of the component.
    name: String,
}

impl Targets {
    /// Finds the targets of all references, and names them after the component of the whole schema.
    ///
    /// # Errors
    /// The first reference that does not lead to a schema within this one.
    pub(super) fn find(
        schema: &mut Value,
        dialect: Dialect,
        name: &str,
        names: &mut Names,
    ) -> Result<Self, String> {
        let found = collect(schema, dialect)?;
        let mut targets = Self {
            all: Vec::new(),
            at: HashMap::new(),
        };
        targets.add(String::new(), || name.to_owned());
        for reference in found {
            let pointer = pointer_of(&reference)
                .filter(|pointer| place(schema, pointer).is_some())
                .ok_or_else(|| not_here(&reference))?;
            let last = pointer.rsplit('/').next().unwrap_or_default().to_owned();
            targets.add(pointer, || names.add(&format!("{name}_{last}")));
        }
        Ok(targets)
    }

    fn add(&mut self, pointer: String, name: impl FnOnce() -> String) {
        if !self.at.contains_key(&pointer) {
            self.at.insert(pointer.clone(), self.all.len());
            let name = name();
            self.all.push(Target { pointer, name });
        }
    }

    /// Splits a schema into its targets, each with its name. Where a target applies, a reference stays.
    pub(super) fn take_out(&self, mut schema: Value) -> Vec<(String, Value)> {
        let mut parts: Vec<_> = self.all.iter().map(|_| Value::Null).collect();
        let mut inner: Vec<_> = (1..self.all.len()).collect();
        // Targets within other targets first.
        inner.sort_by_key(|at| Reverse(self.all[*at].pointer.matches('/').count()));
        for at in inner {
            parts[at] = take(&mut schema, &self.all[at].pointer).unwrap_or_default();
        }
        parts[0] = schema;
        let names = self.all.iter().map(|target| target.name.clone());
        names.zip(parts).collect()
    }

    /// Makes the references of a schema lead to components.
    ///
    /// # Errors
    /// A reference that does not lead to a target.
    pub(super) fn rewrite(&self, schema: &mut JsonObject) -> Result<(), String> {
        if let Some(Value::String(text)) = schema.get_mut("$ref") {
            *text = self.component(text).ok_or_else(|| not_here(text))?;
        }
        let discriminator = schema.get_mut("discriminator");
        let mapping = discriminator
            .and_then(|discriminator| discriminator.get_mut("mapping"))
            .and_then(Value::as_object_mut);
        for target in mapping.into_iter().flat_map(JsonObject::values_mut) {
            if let Some(component) = target.as_str().and_then(|text| self.component(text)) {
                *target = component.into();
            }
        }
        Ok(())
    }

    fn component(&self, text: &str) -> Option<String> {
        let at = self.at.get(&pointer_of(text)?)?;
        Some(reference(&self.all[*at].name))
    }
}

/// The references in a schema.
fn collect(schema: &mut Value, dialect: Dialect) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut visited = 0;
    let mut has_inner_base = false;
    walk(schema, &mut |part| {
        for keyword in ["$dynamicRef", "$recursiveRef"] {
            if part.contains_key(keyword) {
                return Err(format!("`{keyword}` depends on the value"));
            }
        }
        has_inner_base |= visited > 0 && dialect.has_base(part);
        visited += 1;
        if let Some(Value::String(text)) = part.get("$ref") {
            found.push(text.clone());
        }
        Ok(())
    })?;
    match found.first() {
        Some(first) if has_inner_base => Err(format!(
            "`{first}` may be relative to an `$id` within the schema"
        )),
        _ => Ok(found),
    }
}

/// The JSON pointer of a reference within the schema.
fn pointer_of(reference: &str) -> Option<String> {
    let pointer = percent_decode_str(reference.strip_prefix('#')?)
        .decode_utf8()
        .ok()?;
    (pointer.is_empty() || pointer.starts_with('/')).then(|| pointer.into_owned())
}

/// The reference to the schema at this JSON pointer, as [`pointer_of`] reads it.
fn reference_to(pointer: &str) -> String {
    format!("#{}", pointer.replace('%', "%25"))
}

fn not_here(reference: &str) -> String {
    format!("`{reference}` does not lead to a schema within this one")
}

/// Takes out the schema at a pointer.
fn take(schema: &mut Value, pointer: &str) -> Option<Value> {
    if place(schema, pointer)? == Place::Applied {
        let reference = json!({ "$ref": reference_to(pointer) });
        return Some(std::mem::replace(schema.pointer_mut(pointer)?, reference));
    }
    let (parent, name) = pointer.rsplit_once('/')?;
    let name = unescape_pointer(name);
    let parent = schema.pointer_mut(parent)?.as_object_mut()?;
    parent.shift_remove(&name)
}
