//! The operation that reads resources.

use serde_json::{Value, json};

use super::{
    members::{extensions, present, text},
    names::Names,
    operation::responses,
    results,
};
use crate::{
    JsonObject,
    catalog::{Detail, Item, Resource, ResourceTemplate},
};

/// The operation; `None` if there are no resources and no resource templates.
pub(super) fn operation<'a>(
    items: impl Iterator<Item = &'a Item>,
    id: impl FnOnce() -> String,
) -> Option<Value> {
    let (mut examples, mut templates) = (Examples::default(), Vec::new());
    for item in items {
        match &item.detail {
            Detail::Resource(resource) => examples.add(item, resource),
            Detail::ResourceTemplate(template) => templates.push(entry(item, template)),
            Detail::Tool(_) | Detail::Prompt(_) => {}
        }
    }
    if examples.all.is_empty() && templates.is_empty() {
        return None;
    }
    let mut operation = json!({
        "operationId": id(),
        "summary": "Read a resource",
        "parameters": [parameter(examples.all, !templates.is_empty())],
        "responses": responses("The contents of the resource", results::RESOURCE_RESULT),
    });
    if !templates.is_empty() {
        operation["x-mcp-resource-templates"] = templates.into();
    }
    Some(operation)
}

fn parameter(examples: JsonObject, has_templates: bool) -> Value {
    let description = if has_templates {
        "The URI of a resource, or one that matches a template in `x-mcp-resource-templates`"
    } else {
        "The URI of a resource"
    };
    let mut parameter = json!({
        "name": "uri",
        "in": "query",
        "required": true,
        "description": description,
        "schema": { "type": "string", "format": "uri" },
    });
    if !examples.is_empty() {
        parameter["examples"] = examples.into();
    }
    parameter
}

/// The resources as examples of the parameter.
#[derive(Default)]
struct Examples {
    all: JsonObject,
    names: Names,
}

impl Examples {
    fn add(&mut self, item: &Item, resource: &Resource) {
        let name = Some(&*item.name).filter(|name| !name.is_empty());
        let title = item.title.as_deref();
        let mut example = JsonObject::new();
        example.extend(present([
            ("summary", text(title.or(name))),
            ("description", text(item.description.as_deref())),
            ("value", text(Some(&resource.uri))),
            ("x-mcp-name", text(title.and(name))),
            ("x-mcp-mime-type", text(resource.mime_type.as_deref())),
            ("x-mcp-size", resource.size.map(Value::from)),
        ]));
        example.extend(extensions(item));
        let key = self.names.add(name.unwrap_or("resource"));
        self.all.insert(key, Value::Object(example));
    }
}

/// The entry of a resource template, as MCP has it.
fn entry(item: &Item, template: &ResourceTemplate) -> Value {
    let name = Some(&*item.name).filter(|name| !name.is_empty());
    let meta = &item.meta;
    let mut entry = JsonObject::new();
    entry.extend(present([
        ("uriTemplate", text(Some(&template.uri_template))),
        ("name", text(name)),
        ("title", text(item.title.as_deref())),
        ("description", text(item.description.as_deref())),
        ("mimeType", text(template.mime_type.as_deref())),
        ("icons", meta.icons.clone().map(Value::from)),
        ("annotations", meta.annotations.clone().map(Value::from)),
        ("_meta", meta.meta.clone().map(Value::from)),
    ]));
    for (name, value) in &item.extra {
        let value = || value.clone();
        entry.entry(name.as_str()).or_insert_with(value);
    }
    Value::Object(entry)
}
