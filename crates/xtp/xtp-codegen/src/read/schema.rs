//! The entries of `components.schemas`.

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Item, Name, Schema};
use crate::read::shape::{self, Place};
use crate::read::{Cursor, Fields, Keys};
use crate::rules::Rule;

pub(crate) fn read_all(components: &Cursor<'_>, report: &mut Report, document: &mut Document) {
    let keys = Keys {
        what: "`components`",
        published: &["schemas"],
        beyond: &[],
    };
    let Some(fields) = Fields::read(components, &keys, report) else {
        return;
    };
    fields.wanted("schemas", Rule::Published, report);
    let Some(schemas) = fields.filled("schemas", "a map", report) else {
        return;
    };
    for (name, cursor) in schemas.entries(report).unwrap_or_default() {
        let schema = read_one(name, &cursor, report);
        document.schemas.push(schema);
    }
}

fn read_one(name: Name, cursor: &Cursor<'_>, report: &mut Report) -> Schema {
    let Some(fields) = Fields::new(cursor, report) else {
        return Schema {
            name,
            description: None,
            value: Item::UNREAD,
        };
    };
    if fields.has_any(&["properties", "enum"]) {
        shape::expect_keys(&fields, Place::Schema, report);
    } else {
        let message = "by the published rules, only objects and enums are schemas";
        let at = fields.whole.at_key();
        let problem = report.add(Rule::Published, Code::BeyondPublished, &at, message);
        problem.help("the official library takes it, and so does this generator");
        shape::expect_keys(&fields, Place::Alias, report);
    }
    Schema {
        name,
        description: fields.text("description", report),
        value: shape::read(&fields, report),
    }
}
