//! The types of the normal form.

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap as _};
use serde_json::Value;

use crate::{
    JsonObject,
    diagnostic::{Diagnostic, ItemKey, ItemKind},
    template,
};

/// Everything that a server offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// The protocol version of the connection.
    pub protocol: String,
    /// What the server says about itself.
    pub server: Server,
    /// Tools, resources, resource templates and prompts, each in the order of their list.
    pub items: Vec<Item>,
    /// What is wrong with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

impl Catalog {
    /// The item that a request with this name, URI or URI template means: the first of several.
    pub fn find(&self, kind: ItemKind, key: &str) -> Option<&Item> {
        let mut items = self.items.iter();
        items.find(|item| item.kind() == kind && item.key() == key)
    }
}

/// What a server says about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Server {
    /// Its name, version and more.
    pub info: JsonObject,
    /// The parts of MCP that it implements.
    pub capabilities: JsonObject,
    /// How to use it, for models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// A tool, resource, resource template or prompt.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Item {
    /// The name; empty if the server left it out.
    pub name: String,
    /// The name for people. For tools, `annotations.title` if there is no `title`.
    #[serde(default)]
    pub title: Option<String>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Images, hints and data of extensions.
    pub meta: Meta,
    /// The members of this kind of item.
    #[serde(flatten)]
    pub detail: Detail,
    /// Members of the entry that have no other place in the item, as the server wrote them.
    #[serde(default)]
    pub extra: JsonObject,
    /// The SHA-256 of the entry as [canonical JSON](crate::canonical_json), in hexadecimal. If a part of
    /// the entry cannot be read, it is the SHA-256 of the text that the server sent.
    pub sha256: String,
}

impl Item {
    /// The kind of the item.
    pub fn kind(&self) -> ItemKind {
        match self.detail {
            Detail::Tool(_) => ItemKind::Tool,
            Detail::Resource(_) => ItemKind::Resource,
            Detail::ResourceTemplate(_) => ItemKind::ResourceTemplate,
            Detail::Prompt(_) => ItemKind::Prompt,
        }
    }

    /// What requests call the item by: its name, URI or URI template.
    pub fn key(&self) -> &str {
        match &self.detail {
            Detail::Tool(_) | Detail::Prompt(_) => &self.name,
            Detail::Resource(resource) => &resource.uri,
            Detail::ResourceTemplate(template) => &template.uri_template,
        }
    }

    /// The item's name for diagnostics, where it is item `index` of its catalog.
    pub(crate) fn to_key(&self, index: usize) -> ItemKey {
        ItemKey {
            kind: self.kind(),
            key: self.key().to_owned(),
            index,
        }
    }
}

/// Writes `type` first, then the members that all items have.
impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("type", &self.kind())?;
        members.serialize_entry("name", &self.name)?;
        if let Some(title) = &self.title {
            members.serialize_entry("title", title)?;
        }
        if let Some(description) = &self.description {
            members.serialize_entry("description", description)?;
        }
        members.serialize_entry("meta", &self.meta)?;
        match &self.detail {
            Detail::Tool(tool) => members.serialize_entry("detail", tool)?,
            Detail::Resource(resource) => members.serialize_entry("detail", resource)?,
            Detail::ResourceTemplate(template) => members.serialize_entry("detail", template)?,
            Detail::Prompt(prompt) => members.serialize_entry("detail", prompt)?,
        }
        if !self.extra.is_empty() {
            members.serialize_entry("extra", &self.extra)?;
        }
        members.serialize_entry("sha256", &self.sha256)?;
        members.end()
    }
}

/// Images, hints and data of extensions, as the server wrote them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Images for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Value>>,
    /// Hints for clients, such as `readOnlyHint` and `audience`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<JsonObject>,
    /// What extensions of MCP add.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<JsonObject>,
}

/// The members of each kind of item.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", content = "detail", rename_all = "kebab-case")]
pub enum Detail {
    /// Of a tool.
    Tool(Tool),
    /// Of a resource.
    Resource(Resource),
    /// Of a resource template.
    ResourceTemplate(ResourceTemplate),
    /// Of a prompt.
    Prompt(Prompt),
}

/// The members of tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// The schema of the arguments.
    pub input: Schema,
    /// The schema of the structured content, if the tool has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Schema>,
    /// The user interface that shows results (MCP Apps).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ui: Option<Ui>,
}

/// The members of resources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// The URI; empty if the server left it out.
    pub uri: String,
    /// The type of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The size of the content in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// What the resource needs as a user interface (MCP Apps).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ui: Option<Ui>,
}

/// The members of resource templates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// The URI template (RFC 6570); empty if the server left it out.
    pub uri_template: String,
    /// The type of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

impl ResourceTemplate {
    /// The names of the template's variables, in their order and without repetitions.
    ///
    /// # Errors
    /// What is wrong with the template.
    pub fn variables(&self) -> Result<Vec<&str>, String> {
        template::variables(&self.uri_template)
    }
}

/// The members of prompts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    /// The arguments as a schema: an object of strings.
    pub input: Schema,
}

/// A JSON Schema of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// The schema as the server wrote it; null if it is missing or cannot be read.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub json: Value,
    /// Why the schema cannot be used to check values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A user interface (MCP Apps): which one a tool has, or what one needs as a resource.
///
/// Members that are not listed here are in `_meta.ui` of [`Meta::meta`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ui {
    /// The `ui://` URI of a tool's user interface, also from the older `_meta["ui/resourceUri"]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_uri: Option<String>,
    /// `model` if models may call the tool, `app` if the page may; `None` means both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Vec<String>>,
    /// The origins that the page may use, such as `connectDomains`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csp: Option<JsonObject>,
    /// The permissions that the page asks for, such as `camera`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<JsonObject>,
    /// The origin that the page wants to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Whether the page wants a border.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefers_border: Option<bool>,
}
