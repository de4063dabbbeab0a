// @generated from schema.yaml by xtp-codegen. Do not edit: run "./x codegen".

/// The result of `describe`.
///
/// Two forms are in use, and this type reads and writes both: the fields of one tool, or
/// `tools` with any number of them. A servlet with exactly one tool fills in both.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct ServletDescription {
    /// Name of the only tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of the only tool for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the only tool, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the only tool's arguments.
    #[serde(rename = "inputSchema", skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<::mcp_servlet_json::RawJson>,
    /// JSON Schema of the only tool's structured content.
    #[serde(rename = "outputSchema", skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<::mcp_servlet_json::RawJson>,
    /// Hints about the behavior of the only tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Icons of the only tool, for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Further data about the only tool.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
    /// All tools, in the order of the servlet's source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolDescription>>,
    /// Name and version of the servlet.
    #[serde(rename = "serverInfo", skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Implementation>,
    /// How to use the servlet's tools and resources together, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// One tool, as the model sees it.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct ToolDescription {
    /// Name of the tool, unique within the servlet.
    pub name: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the tool does and when to use it, for the model.
    pub description: String,
    /// JSON Schema of the arguments, with an object at its root.
    #[serde(rename = "inputSchema")]
    pub input_schema: ::mcp_servlet_json::RawJson,
    /// JSON Schema of the structured content in the tool's results.
    #[serde(rename = "outputSchema", skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<::mcp_servlet_json::RawJson>,
    /// Hints about the tool's behavior.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Icons of the tool, for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Further data about the tool.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl ToolDescription {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: ::mcp_servlet_json::RawJson,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            ..Self::default()
        }
    }
}

/// Hints about a tool's behavior. Clients must not rely on them for safety.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct ToolAnnotations {
    /// Name for people. The `title` of the tool takes precedence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool changes nothing. False by default.
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The tool may destroy or overwrite something, rather than only add. True by default; ignored
    /// for a read-only tool.
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Another call with the same arguments has no further effect. False by default; ignored for a
    /// read-only tool.
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// The tool reaches outside of a closed domain, as a web search does. True by default.
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// A picture for a user interface.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct Icon {
    /// URI of the picture, either `https:` or `data:`.
    pub src: String,
    /// Media type of the picture, if its source does not have one.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Sizes of the picture, such as "48x48", or "any" for a scalable picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<String>>,
    /// The theme it was drawn for. Both by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<IconTheme>,
}

impl Icon {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            ..Self::default()
        }
    }
}

/// The kind of background an icon was drawn for.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Eq,
    Hash,
    Ord,
    PartialEq,
    PartialOrd,
    ::serde::Deserialize,
    ::serde::Serialize,
)]
pub enum IconTheme {
    /// `light` in JSON.
    #[default]
    #[serde(rename = "light")]
    Light,
    /// `dark` in JSON.
    #[serde(rename = "dark")]
    Dark,
}

impl IconTheme {
    /// The value as JSON has it, without quotes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

impl ::core::fmt::Display for IconTheme {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A piece of software, by its name and version.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct Implementation {
    /// Name for programs.
    pub name: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Version, in any scheme.
    pub version: String,
    /// Description of the software.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// URL of its website.
    #[serde(rename = "websiteUrl", skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Its icons, for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
}

impl Implementation {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }
}

/// Asks a servlet to call one of its tools.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct CallToolRequest {
    /// Always `tools/call`, and usually left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The tool and its arguments.
    pub params: CallToolRequestParams,
}

impl CallToolRequest {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(params: CallToolRequestParams) -> Self {
        Self { params, ..Self::default() }
    }
}

/// The tool to call, and its arguments.
///
/// Hosts that support more than the base interface also pass the other parameters of MCP. Under
/// `_meta` they
/// repeat data that a client sends once or with every request:
/// `io.modelcontextprotocol/protocolVersion`,
/// `io.modelcontextprotocol/clientInfo` and `io.modelcontextprotocol/clientCapabilities`.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct CallToolRequestParams {
    /// Name of the tool.
    pub name: String,
    /// Arguments by name. Absent and null mean that there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<::mcp_servlet_json::RawJson>,
    /// Answers to the `inputRequests` of an earlier result, by the same keys.
    #[serde(rename = "inputResponses", skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<::mcp_servlet_json::RawJson>,
    /// The `requestState` of that result, unchanged.
    #[serde(rename = "requestState", skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Data about the request, such as a progress token.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl CallToolRequestParams {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// The result of a tool.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct CallToolResult {
    /// The content blocks, for the model.
    pub content: Vec<Content>,
    /// The result as JSON that matches the tool's output schema.
    #[serde(
        rename = "structuredContent",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub structured_content: Option<::mcp_servlet_json::RawJson>,
    /// The tool failed; the content is the error. False by default.
    #[serde(rename = "isError", skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Further data about the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl CallToolResult {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(content: Vec<Content>) -> Self {
        Self { content, ..Self::default() }
    }
}

/// The result of a tool that needs input from the client. The host sends the requests to the
/// client, and calls
/// the tool again with the responses.
///
/// A servlet returns this only if the request declares the client's capabilities.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct InputRequiredResult {
    /// Always `input_required`.
    #[serde(rename = "resultType")]
    pub result_type: String,
    /// Requests of MCP, each an object of `method` and `params`, by keys of the servlet's choice.
    #[serde(rename = "inputRequests", skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<::mcp_servlet_json::RawJson>,
    /// State for the next call, opaque to the client.
    #[serde(rename = "requestState", skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Further data about the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl InputRequiredResult {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(result_type: impl Into<String>) -> Self {
        Self {
            result_type: result_type.into(),
            ..Self::default()
        }
    }
}

/// A content block. `type` decides which of the fields are filled in:
///
/// - `text`: `text`
/// - `image` and `audio`: `data` and `mimeType`
/// - `resource`: `resource`
/// - `resource_link`: `uri` and `name`, and the other fields of a resource if known
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct Content {
    /// The kind of content.
    pub r#type: ContentType,
    /// The text of a text block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes of an image or of audio, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Media type of the data, or of the linked resource.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The embedded resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceContents>,
    /// URI of the linked resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Name of the linked resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Title of the linked resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the linked resource, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Size in bytes of the linked resource, before any encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Icons of the linked resource, for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Audience and priority of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Further data about this content block.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl Content {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(r#type: ContentType) -> Self {
        Self { r#type, ..Self::default() }
    }
}

/// The kinds of content.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Eq,
    Hash,
    Ord,
    PartialEq,
    PartialOrd,
    ::serde::Deserialize,
    ::serde::Serialize,
)]
pub enum ContentType {
    /// `text` in JSON.
    #[default]
    #[serde(rename = "text")]
    Text,
    /// `image` in JSON.
    #[serde(rename = "image")]
    Image,
    /// `audio` in JSON.
    #[serde(rename = "audio")]
    Audio,
    /// `resource` in JSON.
    #[serde(rename = "resource")]
    Resource,
    /// `resource_link` in JSON.
    #[serde(rename = "resource_link")]
    ResourceLink,
}

impl ContentType {
    /// The value as JSON has it, without quotes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Resource => "resource",
            Self::ResourceLink => "resource_link",
        }
    }
}

impl ::core::fmt::Display for ContentType {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Hints for the client about how to use or show something.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct Annotations {
    /// The audience. Everyone by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Vec<Role>>,
    /// The priority, from 0 (optional) to 1 (effectively required).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f32>,
    /// When it last changed, as in RFC 3339.
    #[serde(rename = "lastModified", skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// The two sides of a conversation.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Eq,
    Hash,
    Ord,
    PartialEq,
    PartialOrd,
    ::serde::Deserialize,
    ::serde::Serialize,
)]
pub enum Role {
    /// `assistant` in JSON.
    #[default]
    #[serde(rename = "assistant")]
    Assistant,
    /// `user` in JSON.
    #[serde(rename = "user")]
    User,
}

impl Role {
    /// The value as JSON has it, without quotes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Assistant => "assistant",
            Self::User => "user",
        }
    }
}

impl ::core::fmt::Display for Role {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The resources of a servlet.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct ListResourcesResult {
    /// The resources with fixed URIs, in the order of the source, and then those that functions
    /// list.
    pub resources: Vec<Resource>,
    /// The cursor of the next page. Servlets return one page and leave it out.
    #[serde(rename = "nextCursor", skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Further data about the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl ListResourcesResult {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(resources: Vec<Resource>) -> Self {
        Self {
            resources,
            ..Self::default()
        }
    }
}

/// A resource that can be read.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct Resource {
    /// Its URI.
    pub uri: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its description, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its media type, if known.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes, before any encoding, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Its icons, for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Its audience and priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Further data about it.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl Resource {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            ..Self::default()
        }
    }
}

/// The resource templates of a servlet.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct ListResourceTemplatesResult {
    /// The templates, in the order of the servlet's source.
    #[serde(rename = "resourceTemplates")]
    pub resource_templates: Vec<ResourceTemplate>,
    /// The cursor of the next page. Servlets return one page and leave it out.
    #[serde(rename = "nextCursor", skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Further data about the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl ListResourceTemplatesResult {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(resource_templates: Vec<ResourceTemplate>) -> Self {
        Self {
            resource_templates,
            ..Self::default()
        }
    }
}

/// A template for the URIs of resources.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct ResourceTemplate {
    /// The URI template, as in RFC 6570.
    #[serde(rename = "uriTemplate")]
    pub uri_template: String,
    /// Name of the template for programs.
    pub name: String,
    /// Name of the template for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the resources, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Media type of the resources, if they all share it.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Icons of the template, for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Audience and priority of the resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Further data about the template.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl ResourceTemplate {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            ..Self::default()
        }
    }
}

/// Asks a servlet for the contents of a resource.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct ReadResourceRequest {
    /// Always `resources/read`, and usually left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The URI of the resource. Without it the request fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<ReadResourceRequestParams>,
}

/// The resource to read.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct ReadResourceRequestParams {
    /// URI of the resource. Without it the request fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Data about the request, such as a progress token.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

/// The contents of a resource.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct ReadResourceResult {
    /// The contents. A resource such as a directory may have several.
    pub contents: Vec<ResourceContents>,
    /// Reading failed; the contents are the error. MCP has no such field; hosts return an error.
    #[serde(rename = "isError", skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Further data about the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl ReadResourceResult {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self {
            contents,
            ..Self::default()
        }
    }
}

/// The contents of one resource. Exactly one of `text` and `blob` is filled in.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct ResourceContents {
    /// URI of the resource.
    pub uri: String,
    /// Media type of the resource, if known.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The contents, if they are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The contents as base64, if they are bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// Further data about these contents.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl ResourceContents {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::default()
        }
    }
}

/// The prompts of a servlet.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct ListPromptsResult {
    /// The prompts, in the order of the servlet's source.
    pub prompts: Vec<Prompt>,
    /// The cursor of the next page. Servlets return one page and leave it out.
    #[serde(rename = "nextCursor", skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Further data about the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl ListPromptsResult {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(prompts: Vec<Prompt>) -> Self {
        Self { prompts, ..Self::default() }
    }
}

/// A prompt that a user can choose.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct Prompt {
    /// Its name for programs, unique within the servlet.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its arguments, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Vec<PromptArgument>>,
    /// Its icons, for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Further data about it.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl Prompt {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// An argument of a prompt.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct PromptArgument {
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it is required. False by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
}

impl PromptArgument {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// Asks a servlet to fill in one of its prompts.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct GetPromptRequest {
    /// Always `prompts/get`, and usually left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The prompt and its arguments.
    pub params: GetPromptRequestParams,
}

impl GetPromptRequest {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(params: GetPromptRequestParams) -> Self {
        Self { params, ..Self::default() }
    }
}

/// The prompt to fill in, and its arguments.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct GetPromptRequestParams {
    /// Name of the prompt.
    pub name: String,
    /// Arguments by name, each a string. Absent and null mean that there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<::mcp_servlet_json::RawJson>,
    /// Data about the request, such as a progress token.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl GetPromptRequestParams {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// A prompt, filled in.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct GetPromptResult {
    /// Description of the prompt, as filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages, in the order of the conversation.
    pub messages: Vec<PromptMessage>,
    /// Further data about the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl GetPromptResult {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }
}

/// One message of a prompt.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct PromptMessage {
    /// The role of the speaker.
    pub role: Role,
    /// The content of the message.
    pub content: Content,
}

impl PromptMessage {
    /// With its fields.
    #[must_use]
    pub fn new(role: Role, content: Content) -> Self {
        Self { role, content }
    }
}

/// Asks a servlet for suggestions.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct CompleteRequest {
    /// Always `completion/complete`, and usually left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The argument that is being typed, and the values of other arguments.
    pub params: CompleteRequestParams,
}

impl CompleteRequest {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(params: CompleteRequestParams) -> Self {
        Self { params, ..Self::default() }
    }
}

/// The argument to complete.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct CompleteRequestParams {
    /// The prompt or the resource template.
    pub r#ref: CompletionReference,
    /// The argument or variable, and what is typed so far.
    pub argument: CompletionArgument,
    /// The values of other arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<CompletionContext>,
    /// Data about the request, such as a progress token.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl CompleteRequestParams {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(r#ref: CompletionReference, argument: CompletionArgument) -> Self {
        Self {
            r#ref,
            argument,
            ..Self::default()
        }
    }
}

/// A prompt or a resource template. `type` decides which of the fields is filled in:
///
/// - `ref/prompt`: `name`
/// - `ref/resource`: `uri`
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct CompletionReference {
    /// Either `ref/prompt` or `ref/resource`.
    pub r#type: String,
    /// Name of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The resource template, as it is listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
}

impl CompletionReference {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(r#type: impl Into<String>) -> Self {
        Self {
            r#type: r#type.into(),
            ..Self::default()
        }
    }
}

/// An argument while it is being typed.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct CompletionArgument {
    /// Name of the argument or variable.
    pub name: String,
    /// The text that is typed so far.
    pub value: String,
}

impl CompletionArgument {
    /// With its fields.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

/// The values of other arguments, while an argument is being typed.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct CompletionContext {
    /// The other arguments or variables that have values, each a string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<::mcp_servlet_json::RawJson>,
}

/// Suggestions for an argument.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct CompleteResult {
    /// The suggestions.
    pub completion: Completion,
    /// Further data about the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<::mcp_servlet_json::RawJson>,
}

impl CompleteResult {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(completion: Completion) -> Self {
        Self {
            completion,
            ..Self::default()
        }
    }
}

/// Values that an argument may have.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct Completion {
    /// The values, at most 100, the best first.
    pub values: Vec<String>,
    /// How many values there are in all, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
    /// Whether there are more values than these, known or not.
    #[serde(rename = "hasMore", skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

impl Completion {
    /// With the required fields; the others are `None`.
    #[must_use]
    pub fn new(values: Vec<String>) -> Self {
        Self { values, ..Self::default() }
    }
}

/// Deserializes a field that is present, even if it is `null`.
fn present<'de, D, T>(
    from: D,
) -> ::core::result::Result<::core::option::Option<T>, D::Error>
where
    D: ::serde::Deserializer<'de>,
    T: ::serde::Deserialize<'de>,
{
    T::deserialize(from).map(::core::option::Option::Some)
}
