//! The lists that a catalog was made of.

use serde::Serialize;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use crate::{
    JsonObject,
    catalog::{Catalog, Detail, Item, Prompt},
    diagnostic::ItemKind,
    lists::{Lists, ServerText},
};

impl Catalog {
    /// The lists of the server again, made of what the catalog keeps of them. Parts that could not be read are missing.
    pub fn to_lists(&self) -> Lists {
        let capabilities = &self.server.capabilities;
        let list = |capability: &str, kind: ItemKind| {
            let items = self.items.iter().filter(|item| item.kind() == kind);
            let entries = items.map(|item| raw(&entry(item))).collect();
            capabilities.contains_key(capability).then_some(entries)
        };
        Lists {
            protocol: self.protocol.clone(),
            server: ServerText {
                info: raw(&self.server.info),
                capabilities: raw(capabilities),
                instructions: self.server.instructions.clone(),
            },
            tools: list("tools", ItemKind::Tool),
            resources: list("resources", ItemKind::Resource),
            resource_templates: list("resources", ItemKind::ResourceTemplate),
            prompts: list("prompts", ItemKind::Prompt),
            problems: Vec::new(),
        }
    }
}

fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).expect("JSON can be written")
}

/// The entry of an item.
fn entry(item: &Item) -> JsonObject {
    let meta = &item.meta;
    let mut entry = JsonObject::from_iter([("name".to_owned(), json!(item.name))]);
    let mut add = |name: &str, value: Value| {
        if !value.is_null() {
            entry.insert(name.to_owned(), value);
        }
    };
    add("title", json!(item.title));
    add("description", json!(item.description));
    match &item.detail {
        Detail::Tool(tool) => {
            add("inputSchema", tool.input.json.clone());
            add(
                "outputSchema",
                json!(tool.output.as_ref().map(|output| &output.json)),
            );
        }
        Detail::Resource(resource) => {
            add("uri", json!(resource.uri));
            add("mimeType", json!(resource.mime_type));
            add("size", json!(resource.size));
        }
        Detail::ResourceTemplate(template) => {
            add("uriTemplate", json!(template.uri_template));
            add("mimeType", json!(template.mime_type));
        }
        Detail::Prompt(prompt) => add("arguments", arguments(prompt)),
    }
    add("icons", json!(meta.icons));
    add("annotations", json!(meta.annotations));
    add("_meta", json!(meta.meta));
    entry.extend(item.extra.clone());
    entry
}

/// The arguments of a prompt. Their schema has the members of each as keywords.
fn arguments(prompt: &Prompt) -> Value {
    let schema = &prompt.input.json;
    let required = schema["required"].as_array();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let arguments: Vec<_> = properties
        .map(|(name, property)| {
            let mut argument = JsonObject::from_iter([("name".to_owned(), json!(name))]);
            let members = property
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(keyword, _)| *keyword != "type");
            argument.extend(members.map(|(keyword, value)| (keyword.clone(), value.clone())));
            if required.is_some_and(|required| required.contains(&json!(name))) {
                argument.insert("required".to_owned(), true.into());
            }
            argument
        })
        .collect();
    if arguments.is_empty() {
        return Value::Null;
    }
    json!(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalog_of_the_lists_is_the_same_catalog() {
        let lists = json!({
            "protocol": "2025-11-25",
            "server": {
                "info": { "name": "s", "version": "1" },
                "capabilities": { "tools": {}, "resources": {}, "prompts": {} },
                "instructions": "none",
            },
            "tools": [{
                "name": "t", "title": "T", "description": "d", "vendor": 1,
                "inputSchema": { "type": "object", "properties": { "a": { "type": "string" } } },
                "outputSchema": { "type": "object" },
                "icons": [{ "src": "https://a.example/i.png" }],
                "annotations": { "readOnlyHint": true },
                "_meta": { "ui": { "resourceUri": "ui://a" }, "x": 1 },
            }],
            "resources": [{ "uri": "ui://a", "name": "a", "mimeType": "text/html", "size": 3 }],
            "resourceTemplates": [{ "uriTemplate": "a:{b}", "name": "b" }],
            "prompts": [
                { "name": "p", "arguments": [
                    { "name": "x", "description": "dx", "required": true }, { "name": "y" },
                ] },
                { "name": "q" },
            ],
        });
        let lists: Lists = serde_json::from_value(lists).expect("lists");
        let catalog = Catalog::from(&lists);
        let again = Catalog::from(&catalog.to_lists());
        let json = |catalog: &Catalog| serde_json::to_value(catalog).expect("JSON");
        assert_eq!(json(&again), json(&catalog));
    }
}
