//! Checks that the members of a union can be distinguished: by a tag that either all of them declare or none does, or
//! by the properties that they require.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Member, Shape, Union};
use crate::unions::{Schemas, Tag};

/// The largest union whose members are compared with each other.
const MAX_UNTAGGED_MEMBERS: usize = 100;

pub(super) fn check_unions(document: &Document, report: &mut Report) {
    let schemas = Schemas::new(document);
    document.visit(&mut |item| {
        if let Shape::Union(union) = &item.shape {
            check_union(union, &schemas, report);
        }
    });
}

fn check_union(union: &Union, schemas: &Schemas<'_>, report: &mut Report) {
    if union.members.is_empty() {
        let problem = report.error(Code::Union, &union.at, "the union has no members");
        problem.help("list some under `oneOf`");
    }
    match &union.tag {
        None => check_untagged(union, schemas, report),
        Some(tag) if schemas.declare_tag(union) => check_declared(union, tag, schemas, report),
        Some(_) => check_tagged(union, schemas, report),
    }
}

/// Without a tag, a value belongs to the first member that accepts it.
fn check_untagged(union: &Union, schemas: &Schemas<'_>, report: &mut Report) {
    if union.members.len() > MAX_UNTAGGED_MEMBERS {
        let message = format!("a union of more than {MAX_UNTAGGED_MEMBERS} members needs a tag");
        let problem = report.error(Code::Union, &union.at, message);
        problem.help("add `discriminator: {propertyName: type}`");
        return;
    }
    for (index, member) in union.members.iter().enumerate() {
        let Some(shape) = schemas.member(member) else {
            continue;
        };
        let mut earlier = union.members[..index].iter();
        let taken = earlier.find(|earlier| {
            let earlier = schemas.member(earlier);
            earlier.is_some_and(|earlier| !schemas.refuses(earlier, shape))
        });
        if let Some(earlier) = taken {
            let (name, earlier) = (&member.target.text, &earlier.target.text);
            let message = format!("values of `{name}` may be taken for `{earlier}`");
            let problem = report.error(Code::Union, &member.target.at, message);
            problem.help(format!(
                "add `discriminator: {{propertyName: type}}`, or a property to `{earlier}` that it requires and `{name}` does not have"
            ));
        }
    }
}

/// The union alone writes the tag.
fn check_tagged(union: &Union, schemas: &Schemas<'_>, report: &mut Report) {
    let mut tags = BTreeMap::new();
    for member in &union.members {
        let value = member.mapped.as_ref().unwrap_or(&member.target);
        claim(&value.text, member, &mut tags, report);
        if let Some(shape) = schemas.member(member)
            && !matches!(shape, Shape::Object(_))
        {
            no_object(member, report);
        }
    }
}

/// The tag is a property of the members, which write it themselves.
fn check_declared(union: &Union, tag: &str, schemas: &Schemas<'_>, report: &mut Report) {
    let mut tags = BTreeMap::new();
    for member in &union.members {
        if schemas.member(member).is_none() {
            // Another check reports a missing schema.
            continue;
        }
        let name = &member.target.text;
        let tagged = member.mapped.as_ref().unwrap_or(&member.target);
        let value = tagged.text.escape_debug();
        let (message, help) = match schemas.tag(member, tag) {
            Tag::NoObject => {
                no_object(member, report);
                continue;
            }
            Tag::Undeclared => (
                format!("`{name}` does not declare the tag `{tag}`, unlike other members"),
                format!(
                    "add the property `{tag}: {{enum: [{value}]}}` and require it, or let no member declare it"
                ),
            ),
            Tag::NoEnum => (
                format!("the tag `{tag}` of `{name}` may have any value"),
                format!("write `enum: [{value}]`, or leave the property to the union"),
            ),
            Tag::Values { always: false, .. } => (
                format!("the tag `{tag}` of `{name}` may be absent"),
                format!("add `{tag}` to `required`, without `nullable`"),
            ),
            Tag::Values { values, .. } => {
                for value in &values {
                    claim(value, member, &mut tags, report);
                }
                match &member.mapped {
                    Some(mapped) if !values.contains(&mapped.text.as_str()) => (
                        format!(
                            "`mapping` has `{value}` for `{name}`, whose `{tag}` is `{}`",
                            values.join("` or `")
                        ),
                        "use the same value in both".to_owned(),
                    ),
                    _ => continue,
                }
            }
        };
        let problem = report.error(Code::Union, &member.target.at, message);
        problem.help(help);
    }
}

/// Reports a tag value that another member has.
fn claim<'v>(
    value: &'v str,
    member: &'v Member,
    tags: &mut BTreeMap<&'v str, &'v str>,
    report: &mut Report,
) {
    if tags.insert(value, &member.target.text).is_some() {
        let value = value.escape_debug();
        let message = format!("two members of the union are tagged `{value}`");
        report.error(Code::Union, &member.target.at, message);
    }
}

fn no_object(member: &Member, report: &mut Report) {
    let message = format!(
        "`{}` is not an object with `properties`",
        member.target.text
    );
    let problem = report.error(Code::Union, &member.target.at, message);
    problem.help("only objects can have the tag that distinguishes the members");
}
