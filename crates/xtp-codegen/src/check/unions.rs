//! The members of a union are objects that leave the tag to the union.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Shape, Union};

pub(super) fn check(document: &Document, report: &mut Report) {
    let schemas = document.schemas.iter();
    let shapes: BTreeMap<&str, &Shape> = schemas
        .map(|schema| (schema.name.text.as_str(), &schema.value.shape))
        .collect();
    document.visit(&mut |item| {
        if let Shape::Union(union) = &item.shape {
            check_union(union, &shapes, report);
        }
    });
}

fn check_union(union: &Union, shapes: &BTreeMap<&str, &Shape>, report: &mut Report) {
    if union.members.is_empty() {
        let problem = report.error(Code::Union, &union.at, "the union has no members");
        problem.help("list some under `oneOf`");
    }
    let mut tags = BTreeSet::new();
    for member in &union.members {
        let (name, tag) = (&member.target.text, &union.tag);
        let at = &member.target.at;
        if !tags.insert(&member.value) {
            let message = format!("two members of the union are tagged `{}`", member.value);
            report.error(Code::Union, at, message);
        }
        match shapes.get(name.as_str()) {
            Some(Shape::Object(object)) => {
                if object.properties.iter().any(|p| p.name.text == *tag) {
                    let message = format!("`{name}` has a property `{tag}`, which is the tag");
                    let problem = report.error(Code::Union, at, message);
                    problem.help("remove the property, or name another tag by `discriminator`");
                }
            }
            Some(_) => {
                let message = format!("`{name}` is no object with `properties`");
                let problem = report.error(Code::Union, at, message);
                problem.help("only objects can carry the tag that tells the members apart");
            }
            // That there is no such schema is reported already.
            None => {}
        }
    }
}
