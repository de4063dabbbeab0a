//! Content of results and prompts: views of the JSON that a servlet returned.

use serde_json::Value;

/// Content of a tool's result or of a prompt's message.
///
/// It is a view: `json` has all members, including `annotations` and `_meta`, as the servlet wrote
/// them.
///
/// ```
/// use mcp_servlet_host::Content;
///
/// let json = serde_json::json!({ "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" });
/// let shown = match Content::new(&json) {
///     Content::Text { text, .. } => text.to_owned(),
///     Content::Image { mime_type: Some(kind), .. } => format!("an image, {kind}"),
///     other => other.json().to_string(),
/// };
/// assert_eq!(shown, "an image, image/png");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content<'a> {
    /// Text.
    #[non_exhaustive]
    Text {
        /// The text.
        text: &'a str,
        /// All members.
        json: &'a Value,
    },
    /// An image.
    #[non_exhaustive]
    Image {
        /// The image in base64.
        data: &'a str,
        /// The media type. MCP requires it, but some servlets leave it out of prompts.
        mime_type: Option<&'a str>,
        /// All members.
        json: &'a Value,
    },
    /// Audio.
    #[non_exhaustive]
    Audio {
        /// The audio in base64.
        data: &'a str,
        /// The media type. MCP requires it, but some servlets leave it out of prompts.
        mime_type: Option<&'a str>,
        /// All members.
        json: &'a Value,
    },
    /// A link to a resource.
    #[non_exhaustive]
    ResourceLink {
        /// The URI of the resource.
        uri: &'a str,
        /// All members.
        json: &'a Value,
    },
    /// An embedded resource.
    #[non_exhaustive]
    Resource {
        /// The contents of the resource.
        resource: ResourceContents<'a>,
        /// All members.
        json: &'a Value,
    },
    /// Content of a type that this crate does not know, or that lacks a member of its type.
    #[non_exhaustive]
    Other {
        /// All members.
        json: &'a Value,
    },
}

impl<'a> Content<'a> {
    /// Reads content as MCP writes it.
    pub fn new(json: &'a Value) -> Self {
        Self::known(json).unwrap_or(Self::Other { json })
    }

    fn known(json: &'a Value) -> Option<Self> {
        let member = |key| json.get(key)?.as_str();
        Some(match member("type")? {
            "text" => Self::Text {
                text: member("text")?,
                json,
            },
            "image" => Self::Image {
                data: member("data")?,
                mime_type: member("mimeType"),
                json,
            },
            "audio" => Self::Audio {
                data: member("data")?,
                mime_type: member("mimeType"),
                json,
            },
            "resource_link" => Self::ResourceLink {
                uri: member("uri")?,
                json,
            },
            "resource" => Self::Resource {
                resource: ResourceContents::read(json.get("resource")?)?,
                json,
            },
            _ => return None,
        })
    }

    /// The text, if this is text.
    pub fn text(self) -> Option<&'a str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// All members.
    pub fn json(self) -> &'a Value {
        match self {
            Self::Text { json, .. }
            | Self::Image { json, .. }
            | Self::Audio { json, .. }
            | Self::ResourceLink { json, .. }
            | Self::Resource { json, .. }
            | Self::Other { json } => json,
        }
    }
}

/// The contents of a resource.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceContents<'a> {
    /// The URI of the resource.
    pub uri: &'a str,
    /// The media type, if the servlet provides it.
    pub mime_type: Option<&'a str>,
    /// The text or the bytes.
    pub data: ResourceData<'a>,
    /// All members.
    pub json: &'a Value,
}

/// The text or the bytes of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceData<'a> {
    /// Text.
    Text(&'a str),
    /// Bytes in base64.
    Blob(&'a str),
}

impl<'a> ResourceContents<'a> {
    pub(crate) fn read(json: &'a Value) -> Option<Self> {
        let member = |key| json.get(key)?.as_str();
        let text = member("text").map(ResourceData::Text);
        Some(Self {
            uri: member("uri")?,
            mime_type: member("mimeType"),
            data: text.or_else(|| member("blob").map(ResourceData::Blob))?,
            json,
        })
    }

    /// The text, if the contents are text.
    pub fn text(self) -> Option<&'a str> {
        match self.data {
            ResourceData::Text(text) => Some(text),
            ResourceData::Blob(_) => None,
        }
    }
}

/// A message of a prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage<'a> {
    /// `user` or `assistant`. MCP requires it, but some servlets leave it out.
    pub role: Option<&'a str>,
    /// The content.
    pub content: Content<'a>,
    /// All members.
    pub json: &'a Value,
}

impl<'a> PromptMessage<'a> {
    pub(crate) fn read(json: &'a Value) -> Self {
        Self {
            role: json["role"].as_str(),
            content: Content::new(&json["content"]),
            json,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_content_and_unknown_members_stay() {
        for json in [
            json!({ "type": "text", "text": "t", "annotations": { "priority": 1 }, "new": 1 }),
            json!({ "type": "hologram", "data": "" }),
            json!({ "type": "text" }),
            json!({ "type": "resource", "resource": { "uri": "a:b" } }),
            json!("text"),
            json!(null),
        ] {
            let content = Content::new(&json);
            assert_eq!(content.json(), &json);
            let is_text = matches!(content, Content::Text { text: "t", .. });
            assert_eq!(is_text, json.get("new").is_some(), "{content:?}");
            assert!(is_text || matches!(content, Content::Other { .. }));
        }
    }

    #[test]
    fn a_resource_has_text_or_a_blob() {
        for (json, data) in [
            (json!({ "text": "t" }), Some(ResourceData::Text("t"))),
            (json!({ "blob": "aGk=" }), Some(ResourceData::Blob("aGk="))),
            (json!({ "text": null }), None),
        ] {
            let mut json = json;
            json["uri"] = "a:b".into();
            let contents = ResourceContents::read(&json);
            assert_eq!(contents.map(|contents| contents.data), data);
        }
    }
}
