//! The content blocks of results.

use serde_json::Value;

use crate::{
    problem::{Place, Problem},
    template::Template,
};

/// The types of blocks, and the members that each needs.
const BLOCKS: [(&str, &[&str]); 5] = [
    ("text", &["text"]),
    ("image", &["data", "mimeType"]),
    ("audio", &["data", "mimeType"]),
    ("resource_link", &["uri", "name"]),
    ("resource", &["resource"]),
];

/// Reports blocks that lack a member, as far as their keys are known before a call.
pub(super) fn check(content: &Template, place: &Place, problems: &mut Vec<Problem>) {
    match content {
        Template::Constant(Value::Array(blocks)) => {
            for (number, block) in blocks.iter().enumerate() {
                constant(block, &place.item(number), problems);
            }
        }
        Template::Constant(_) | Template::Object(_) | Template::Text(_) => {
            problems.push(Problem::new(
                place.clone(),
                "expected a list of content blocks",
            ));
        }
        Template::List(blocks) => {
            for (number, block) in blocks.iter().enumerate() {
                if let Template::Constant(block) = block {
                    constant(block, &place.item(number), problems);
                }
                if let Template::Object(members) = block {
                    let keys: Vec<_> = members.iter().map(|(key, _)| key.as_str()).collect();
                    let kind = members.iter().find(|(key, _)| key == "type");
                    let place = place.item(number);
                    match kind {
                        // The type is an expression.
                        Some((_, kind)) if kind.constant().is_none() => {}
                        kind => {
                            let kind = kind.and_then(|(_, kind)| kind.constant());
                            block_problem(kind, &keys, &place, problems);
                        }
                    }
                }
            }
        }
        Template::One(..) => {}
    }
}

fn constant(block: &Value, place: &Place, problems: &mut Vec<Problem>) {
    let members = block.as_object().into_iter().flatten();
    let keys: Vec<_> = members.map(|(key, _)| key.as_str()).collect();
    block_problem(block.get("type"), &keys, place, problems);
}

fn block_problem(kind: Option<&Value>, keys: &[&str], place: &Place, problems: &mut Vec<Problem>) {
    let kind = kind.and_then(Value::as_str).unwrap_or_default();
    let Some((_, needed)) = BLOCKS.iter().find(|(name, _)| *name == kind) else {
        let names = BLOCKS.map(|(name, _)| name);
        let message = format!(
            "a content block needs a `type`: {}",
            crate::problem::listed(names)
        );
        return problems.push(Problem::new(place.clone(), message));
    };
    if let Some(missing) = needed.iter().find(|key| !keys.contains(key)) {
        let message = format!("`{missing}` is missing: a content block of type `{kind}` needs it");
        problems.push(Problem::new(place.clone(), message));
    }
}

/// What is wrong with the content of a result: a JSON pointer, and why.
pub(crate) fn problem(content: Option<&Value>) -> Option<(String, &'static str)> {
    let Some(Value::Array(blocks)) = content else {
        return Some(("/content".to_owned(), "expected an array of content blocks"));
    };
    blocks.iter().enumerate().find_map(|(number, block)| {
        let (at, why) = wrong_block(block)?;
        Some((format!("/content/{number}{at}"), why))
    })
}

fn wrong_block(block: &Value) -> Option<(String, &'static str)> {
    let kind = block.get("type").and_then(Value::as_str);
    let Some((_, needed)) = BLOCKS.iter().find(|(name, _)| Some(*name) == kind) else {
        return Some(("/type".to_owned(), "expected the type of a content block"));
    };
    if kind == Some("resource") {
        return wrong_resource(block.get("resource"));
    }
    let wrong = needed
        .iter()
        .find(|key| !block.get(**key).is_some_and(Value::is_string));
    wrong.map(|key| (format!("/{key}"), "expected a string"))
}

fn wrong_resource(resource: Option<&Value>) -> Option<(String, &'static str)> {
    let is_string = |key| {
        resource
            .and_then(|one| one.get(key))
            .is_some_and(Value::is_string)
    };
    if !is_string("uri") {
        Some(("/resource/uri".to_owned(), "expected a string"))
    } else if is_string("text") == is_string("blob") {
        Some(("/resource".to_owned(), "expected either `text` or `blob`"))
    } else {
        None
    }
}
