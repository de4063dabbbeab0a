//! Results of tools, resources and prompts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind};
use crate::incoming::kind;

/// The result of a tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallResult {
    /// What the tool returned, for people and models.
    pub content: Vec<Content>,
    /// What the tool returned, for programs, as the server wrote it.
    pub structured: Option<Box<RawValue>>,
    /// Whether the tool reports a failure.
    pub is_error: bool,
    /// `_meta` of the result.
    pub meta: Option<Value>,
    /// The whole result, as the server wrote it.
    pub raw: Box<RawValue>,
}

/// The result of reading a resource.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadResult {
    /// The contents.
    pub contents: Vec<ResourceContents>,
    /// The whole result, as the server wrote it.
    pub raw: Box<RawValue>,
}

/// The messages of a prompt.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PromptResult {
    /// The purpose of the prompt.
    pub description: Option<String>,
    /// The messages.
    pub messages: Vec<PromptMessage>,
    /// The whole result, as the server wrote it.
    pub raw: Box<RawValue>,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The speaker: `user` or `assistant`.
    pub role: String,
    /// The content.
    pub content: Content,
}

/// A block of content.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Whom it is for.
        annotations: Annotations,
    },
    /// An image.
    Image {
        /// The bytes of the image.
        data: Vec<u8>,
        /// The type, such as `image/png`.
        mime_type: String,
        /// Whom it is for.
        annotations: Annotations,
    },
    /// Sound.
    Audio {
        /// The bytes of the sound.
        data: Vec<u8>,
        /// The type, such as `audio/wav`.
        mime_type: String,
        /// Whom it is for.
        annotations: Annotations,
    },
    /// The URI of a resource.
    ResourceLink {
        /// The URI.
        uri: String,
        /// The whole block: the entry of a list of resources.
        link: Value,
        /// Whom it is for.
        annotations: Annotations,
    },
    /// A resource itself.
    Resource {
        /// The resource.
        resource: ResourceContents,
        /// Whom it is for.
        annotations: Annotations,
    },
    /// Anything else: a kind that is new, or a block that its kind does not allow.
    Other(Value),
}

/// Whom a block of content is for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Annotations {
    /// `user`, `assistant` or both.
    pub audience: Option<Vec<String>>,
    /// Importance, from 0 (optional) to 1 (required).
    pub priority: Option<f64>,
    /// When it was changed, as in ISO 8601.
    pub last_modified: Option<String>,
}

/// The contents of a resource.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceContents {
    /// The URI of these contents.
    pub uri: String,
    /// The type, such as `text/plain`.
    pub mime_type: Option<String>,
    /// The contents themselves.
    pub data: ResourceData,
    /// `_meta` of the contents.
    pub meta: Option<Value>,
}

/// Text or bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceData {
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl CallResult {
    pub(crate) fn new(raw: Box<RawValue>) -> Result<Self, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Wire {
            content: Option<Value>,
            #[serde(default, deserialize_with = "present")]
            structured_content: Option<Box<RawValue>>,
            is_error: Option<Value>,
            #[serde(rename = "_meta")]
            meta: Option<Value>,
        }
        let wire: Wire = parse(&raw)?;
        let is_error = match wire.is_error {
            None => false,
            Some(Value::Bool(is_error)) => is_error,
            Some(other) => return Err(wrong("isError", "a boolean", Some(&other))),
        };
        Ok(Self {
            content: array("content", wire.content)?.map(Content::new).collect(),
            structured: wire.structured_content,
            is_error,
            meta: wire.meta,
            raw,
        })
    }

    /// All texts, one per line.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            Content::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl ReadResult {
    pub(crate) fn new(raw: Box<RawValue>) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Wire {
            contents: Option<Value>,
        }
        let wire: Wire = parse(&raw)?;
        let contents = array("contents", wire.contents)?.map(|contents| {
            ResourceContents::new(contents).map_err(|_| {
                let message =
                    "the result has contents without a URI, or with neither text nor bytes";
                Error::new(ErrorKind::Protocol, message)
            })
        });
        Ok(Self {
            contents: contents.collect::<Result<_, _>>()?,
            raw,
        })
    }
}

impl PromptResult {
    pub(crate) fn new(raw: Box<RawValue>) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Wire {
            description: Option<Value>,
            messages: Option<Value>,
        }
        let wire: Wire = parse(&raw)?;
        let description = match wire.description {
            None => None,
            Some(Value::String(text)) => Some(text),
            Some(other) => return Err(wrong("description", "a string", Some(&other))),
        };
        let messages = array("messages", wire.messages)?.map(|mut message| {
            let role = message
                .get("role")
                .and_then(Value::as_str)
                .ok_or_else(|| wrong("messages/*/role", "a string", message.get("role")))?;
            Ok(PromptMessage {
                role: role.to_owned(),
                content: Content::new(message["content"].take()),
            })
        });
        Ok(Self {
            description,
            messages: messages.collect::<Result<_, _>>()?,
            raw,
        })
    }
}

impl Content {
    /// Reads a block. Blocks that cannot be read stay JSON.
    fn new(block: Value) -> Self {
        match block {
            Value::Object(members) => {
                Self::read(&members).unwrap_or_else(|| Self::Other(Value::Object(members)))
            }
            other => Self::Other(other),
        }
    }

    fn read(block: &Map<String, Value>) -> Option<Self> {
        let text = |key: &str| block.get(key)?.as_str().map(str::to_owned);
        let bytes = || BASE64.decode(block.get("data")?.as_str()?).ok();
        let annotations = match block.get("annotations") {
            Some(annotations) => Annotations::deserialize(annotations).ok()?,
            None => Annotations::default(),
        };
        Some(match block.get("type")?.as_str()? {
            "text" => Self::Text {
                text: text("text")?,
                annotations,
            },
            "image" => Self::Image {
                data: bytes()?,
                mime_type: text("mimeType")?,
                annotations,
            },
            "audio" => Self::Audio {
                data: bytes()?,
                mime_type: text("mimeType")?,
                annotations,
            },
            "resource_link" => Self::ResourceLink {
                uri: text("uri")?,
                link: Value::Object(block.clone()),
                annotations,
            },
            "resource" => Self::Resource {
                resource: ResourceContents::new(block.get("resource")?.clone()).ok()?,
                annotations,
            },
            _ => return None,
        })
    }
}

impl ResourceContents {
    /// Reads contents, or gives them back.
    fn new(contents: Value) -> Result<Self, Value> {
        let text = |key: &str| contents[key].as_str().map(str::to_owned);
        let bytes = || BASE64.decode(contents["blob"].as_str()?).ok();
        let data = text("text")
            .map(ResourceData::Text)
            .or_else(|| bytes().map(ResourceData::Bytes));
        let (Some(uri), Some(data)) = (text("uri"), data) else {
            return Err(contents);
        };
        Ok(Self {
            uri,
            mime_type: text("mimeType"),
            data,
            meta: contents.get("_meta").cloned(),
        })
    }

    /// The bytes of the contents, whether they are text or not.
    pub fn bytes(&self) -> &[u8] {
        match &self.data {
            ResourceData::Text(text) => text.as_bytes(),
            ResourceData::Bytes(bytes) => bytes,
        }
    }
}

/// The members of a result.
fn parse<'de, T: Deserialize<'de>>(raw: &'de RawValue) -> Result<T, Error> {
    // The text of the error names a type of this crate, and a result has no other fault than not to be an object.
    serde_json::from_str(raw.get()).map_err(|source| {
        let message = "the result is wrong: expected an object";
        Error::new(ErrorKind::Protocol, message).with_source(source)
    })
}

/// The items of an array that every result of this kind has.
fn array(name: &str, value: Option<Value>) -> Result<impl Iterator<Item = Value>, Error> {
    match value {
        Some(Value::Array(items)) => Ok(items.into_iter()),
        other => Err(wrong(name, "an array", other.as_ref())),
    }
}

fn wrong(name: &str, expected: &str, found: Option<&Value>) -> Error {
    let found = found.map_or("nothing", kind);
    let message = format!("the result is wrong at `{name}`: expected {expected}, found {found}");
    Error::new(ErrorKind::Protocol, message)
}

/// A member that is there, even if it is `null`.
fn present<'de, D>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Deserialize::deserialize(deserializer).map(Some)
}
