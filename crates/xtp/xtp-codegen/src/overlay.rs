//! Overlays: what XTP cannot express, in a file next to the schema.
//!
//! The format is ours: a map `overlay` from addresses to fragments of JSON Schema.
//!
//! ```yaml
//! version: v1-draft
//! overlay:
//!   CallToolResult.structuredContent: {}
//! ```
//!
//! An address is `Type.property`. A fragment replaces the type of the property. The schema still decides whether the
//! property is required, and describes it unless the fragment has a description. The only fragment so far is `{}`,
//! any JSON value.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Item, Name, Property, Shape};
use crate::read::{Cursor, Fields};
use crate::suggest;

/// Applies an overlay to the document that it was written for.
pub(crate) fn apply(root: &Cursor<'_>, report: &mut Report, document: &mut Document) {
    let Some(fields) = Fields::new(root, report) else {
        return;
    };
    for key in fields.others(&["version", "overlay"]) {
        let message = format!("an overlay has no key `{}`", key.text.escape_debug());
        let problem = report.error(Code::UnknownKey, &key.at, message);
        let known = |_: &str| "the keys are `version` and `overlay`".to_owned();
        problem.help(suggest::help(&key.text, &["version", "overlay"], known));
    }
    if let Some(version) = fields.required("version", report)
        && let Some(text) = version.text(report)
        && text != "v1-draft"
    {
        let message = format!("there is no overlay of version `{text}`");
        let problem = report.error(Code::Version, &version.at(), message);
        problem.help("write `version: v1-draft`");
    }
    let entries = fields.required("overlay", report);
    let entries = entries.and_then(|overlay| overlay.entries(report));
    let mut properties = properties(document);
    for (address, fragment) in entries.unwrap_or_default() {
        let target = find(&address, &mut properties, report);
        let read = read(&fragment, report);
        if let (Some(target), Some((value, description))) = (target, read) {
            target.value = value;
            target.description = description.or(target.description.take());
        }
    }
}

/// The properties of a document by schema and name.
type Properties<'d> = BTreeMap<(String, String), &'d mut Property>;

fn properties(document: &mut Document) -> Properties<'_> {
    let mut properties = Properties::new();
    for schema in &mut document.schemas {
        if let Shape::Object(object) = &mut schema.value.shape {
            for property in &mut object.properties {
                let address = (schema.name.text.clone(), property.name.text.clone());
                properties.insert(address, property);
            }
        }
    }
    properties
}

fn find<'p>(
    address: &Name,
    properties: &'p mut Properties<'_>,
    report: &mut Report,
) -> Option<&'p mut Property> {
    let Some((schema, property)) = address.text.split_once('.') else {
        let message = format!(
            "expected the path of a property, found `{}`",
            address.text.escape_debug()
        );
        let problem = report.error(Code::OverlayAddress, &address.at, message);
        problem.help("write `Type.property`");
        return None;
    };
    let found = (schema.to_owned(), property.to_owned());
    if !properties.contains_key(&found) {
        let message = format!(
            "the schema has no property `{}`",
            address.text.escape_debug()
        );
        let problem = report.error(Code::OverlayAddress, &address.at, message);
        let known = properties
            .keys()
            .map(|(schema, name)| format!("{schema}.{name}"));
        let known: Vec<_> = known.collect();
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        problem.help(suggest::help(&address.text, &known, |known| {
            format!("write `Type.property`: {known}")
        }));
    }
    properties.get_mut(&found).map(|found| &mut **found)
}

fn read(fragment: &Cursor<'_>, report: &mut Report) -> Option<(Item, Option<String>)> {
    let mut description = None;
    for (key, value) in fragment.entries(report)? {
        if key.text == "description" {
            description = value.text(report).map(str::to_owned);
        } else {
            let message = format!("an overlay does not support `{}`", key.text);
            let problem = report.error(Code::OverlayFragment, &key.at, message);
            problem.help("write `{}` for any JSON value; the only key that an overlay may add is `description`");
            return None;
        }
    }
    Some((Item::ANY, description))
}
