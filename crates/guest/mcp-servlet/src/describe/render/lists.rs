//! Renders the lists of resources, templates and prompts, like `describe` for tools.

use super::Side;
use super::json::Text;
use crate::describe::exported::{Item, kind};
use crate::describe::prompt::PromptDef;
use crate::describe::resource::ResourceDef;
use crate::schema::{Kind, Node, Property};

/// The result of an export that lists something.
#[derive(Debug, Clone, Copy)]
pub enum List {
    /// For `list_resources`: those with fixed URIs.
    Resources(&'static [Item<kind::resource>]),
    /// For `list_resource_templates`: the others.
    Templates(&'static [Item<kind::resource>]),
    /// For `list_prompts`.
    Prompts(&'static [Item<kind::prompt>]),
}

impl List {
    /// The length of the rendered list in bytes.
    pub const fn length(&self) -> usize {
        let mut text = Text::<0>::new();
        text.list(self);
        text.length
    }

    /// The list as JSON; `N` is its [`length`](Self::length).
    pub const fn render<const N: usize>(&self) -> [u8; N] {
        let mut text = Text::<N>::new();
        text.list(self);
        text.bytes
    }
}

impl Node {
    /// The length in bytes of the schema as a schema of arguments.
    pub const fn length(&self) -> usize {
        let mut text = Text::<0>::new();
        text.node(self, "", false, Side::Input);
        text.length
    }

    /// The schema of arguments as JSON; `N` is its [`length`](Self::length).
    pub const fn render<const N: usize>(&self) -> [u8; N] {
        let mut text = Text::<N>::new();
        text.node(self, "", false, Side::Input);
        text.bytes
    }
}

impl<const N: usize> Text<N> {
    const fn list(&mut self, list: &List) {
        self.byte(b'{');
        self.key(match list {
            List::Resources(_) => "resources",
            List::Templates(_) => "resourceTemplates",
            List::Prompts(_) => "prompts",
        });
        self.byte(b'[');
        match *list {
            List::Resources(items) => self.resources("uri", items, false),
            List::Templates(items) => self.resources("uriTemplate", items, true),
            List::Prompts(items) => self.prompts(items),
        }
        self.byte(b']');
        self.byte(b'}');
    }

    /// The resources with a template, or those without, each with its URI as the member `uri`.
    const fn resources(&mut self, uri: &str, items: &[Item<kind::resource>], templates: bool) {
        let mut at = 0;
        while at < items.len() {
            if items[at].entry.template.is_some() == templates {
                self.separate();
                self.byte(b'{');
                self.resource(uri, &items[at].def);
                self.byte(b'}');
            }
            at += 1;
        }
    }

    const fn prompts(&mut self, items: &[Item<kind::prompt>]) {
        let mut at = 0;
        while at < items.len() {
            self.separate();
            self.byte(b'{');
            self.prompt(&items[at].def);
            self.byte(b'}');
            at += 1;
        }
    }

    const fn resource(&mut self, uri: &str, resource: &ResourceDef) {
        self.key(uri);
        self.string(resource.uri);
        self.key("name");
        self.string(resource.name);
        self.text("title", resource.title);
        self.text("description", resource.description.trim_ascii());
        self.text("mimeType", resource.mime_type);
        if let Some(size) = resource.size {
            #[allow(clippy::cast_possible_wrap, reason = "what fits into memory fits")]
            self.integer("size", Some(size as i64));
        }
        self.annotations(resource);
        self.presentation(&resource.presentation);
    }

    const fn annotations(&mut self, resource: &ResourceDef) {
        let has_any = !resource.audience.is_empty()
            || !resource.priority.is_empty()
            || !resource.last_modified.is_empty();
        if !has_any {
            return;
        }
        self.key("annotations");
        self.byte(b'{');
        self.strings("audience", resource.audience);
        self.json("priority", resource.priority);
        self.text("lastModified", resource.last_modified);
        self.byte(b'}');
    }

    const fn prompt(&mut self, prompt: &PromptDef) {
        self.key("name");
        self.string(prompt.name);
        self.text("title", prompt.title);
        let description = prompt.description.trim_ascii();
        self.key("description");
        self.string(if description.is_empty() {
            prompt.name
        } else {
            description
        });
        if let Kind::Object(object) = prompt.input.kind {
            if !object.properties.is_empty() {
                self.prompt_arguments(object.properties);
            }
        }
        self.presentation(&prompt.presentation);
    }

    const fn prompt_arguments(&mut self, arguments: &[Property]) {
        self.key("arguments");
        self.byte(b'[');
        let mut at = 0;
        while at < arguments.len() {
            let argument = &arguments[at];
            self.separate();
            self.byte(b'{');
            self.key("name");
            self.string(argument.name);
            let own = argument.description;
            let description = if own.is_empty() {
                argument.node.description
            } else {
                own
            };
            self.text("description", description);
            self.json("required", if argument.is_required() { "true" } else { "" });
            self.byte(b'}');
            at += 1;
        }
        self.byte(b']');
    }
}
