//! Names that are different in the schema and the same in Rust.

use std::collections::BTreeMap;

use crate::check::identifiers::is_identifier;
use crate::diagnostic::{Code, Report};
use crate::document::{Body, Document, Name};
use crate::names;

/// What names are given to, with the Rust name it makes of them.
struct Kind {
    code: Code,
    things: &'static str,
    rust_name: fn(&str) -> String,
}

const TYPES: Kind = Kind {
    code: Code::TypeCollision,
    things: "the same Rust type",
    rust_name: names::pascal,
};

const FIELDS: Kind = Kind {
    code: Code::FieldCollision,
    things: "the same Rust field",
    rust_name: names::snake,
};

const VARIANTS: Kind = Kind {
    code: Code::VariantCollision,
    things: "the same Rust variant",
    rust_name: names::pascal,
};

pub(super) fn check(document: &Document, report: &mut Report) {
    let schemas = document.schemas.iter();
    check_names(&TYPES, schemas.map(|schema| &schema.name), report);
    for schema in &document.schemas {
        match &schema.body {
            Body::Object { properties, .. } => {
                let names = properties.iter().map(|property| &property.name);
                check_names(&FIELDS, names, report);
            }
            Body::Enum { values } => check_names(&VARIANTS, values.iter(), report),
            Body::Unread => {}
        }
    }
}

fn check_names<'a>(kind: &Kind, names: impl Iterator<Item = &'a Name>, report: &mut Report) {
    let mut taken: BTreeMap<String, &Name> = BTreeMap::new();
    for name in names.filter(|name| is_identifier(&name.text)) {
        let rust_name = (kind.rust_name)(&name.text);
        let Some(first) = taken.get(&rust_name) else {
            taken.insert(rust_name, name);
            continue;
        };
        // A value that is listed twice is reported as that.
        if first.text == name.text {
            continue;
        }
        let (one, two, things) = (&first.text, &name.text, kind.things);
        let message = format!("`{one}` and `{two}` would be {things} `{rust_name}`");
        let line = first.at.span.line;
        let problem = report.error(kind.code, &name.at, message);
        problem.help(format!("rename one of them; `{one}` is on line {line}"));
    }
}
