//! The content blocks of results.

use serde_json::Value;

use crate::{
    problem::{Place, Problem, listed},
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

const TEXT_OR_BLOB: &str = "expected either `text` or `blob`";

/// Reports what is wrong with the blocks in every call.
pub(super) fn check_content(content: &Template, place: &Place, problems: &mut Vec<Problem>) {
    let Some(blocks) = content.items() else {
        if content.kind().is_some() {
            let message = "expected a list of content blocks";
            problems.push(Problem::new(place.clone(), message));
        }
        return;
    };
    for (number, block) in blocks.iter().enumerate() {
        // Otherwise, the block is an expression.
        if block.kind().is_some() {
            let members = block.members().unwrap_or_default();
            check_block(&members, &place.item(number), problems);
        }
    }
}

/// The names and values of the members of an object.
type Members = [(String, Template)];

fn member<'m>(members: &'m Members, key: &str) -> Option<&'m Template> {
    let (_, value) = members.iter().find(|(name, _)| name == key)?;
    Some(value)
}

fn check_block(members: &Members, place: &Place, problems: &mut Vec<Problem>) {
    let kind = match member(members, "type").map(Template::constant) {
        // The type is known only in a call.
        Some(None) => return,
        Some(Some(kind)) => kind.as_str().unwrap_or_default(),
        None => "",
    };
    let Some((_, needed)) = BLOCKS.iter().find(|(name, _)| *name == kind) else {
        let names = BLOCKS.map(|(name, _)| name);
        let message = format!("a content block needs a `type`: {}", listed(names));
        return problems.push(Problem::new(place.clone(), message));
    };
    for key in *needed {
        match member(members, key) {
            None => {
                let message =
                    format!("`{key}` is missing: a content block of type `{kind}` needs it");
                problems.push(Problem::new(place.clone(), message));
            }
            Some(resource) if *key == "resource" => {
                check_resource(resource, &place.key(key), problems);
            }
            Some(value) => value.expect("a string", &place.key(key), problems),
        }
    }
}

fn check_resource(resource: &Template, place: &Place, problems: &mut Vec<Problem>) {
    resource.expect("an object", place, problems);
    let Some(members) = resource.members() else {
        return;
    };
    let keys = ["uri", "text", "blob"];
    let [uri, text, blob] = keys.map(|key| member(&members, key));
    if uri.is_none() {
        let message = "`uri` is missing: a resource needs it";
        problems.push(Problem::new(place.clone(), message));
    }
    for (key, value) in keys.into_iter().zip([uri, text, blob]) {
        if let Some(value) = value {
            value.expect("a string", &place.key(key), problems);
        }
    }
    let is_certain = |value: Option<&Template>| value.is_some_and(|one| one.kind().is_some());
    if (text.is_none() && blob.is_none()) || (is_certain(text) && is_certain(blob)) {
        problems.push(Problem::new(place.clone(), TEXT_OR_BLOB));
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
        Some(("/resource".to_owned(), TEXT_OR_BLOB))
    } else {
        None
    }
}
