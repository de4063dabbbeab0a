//! The return types of resources.

use std::borrow::Cow;

use mcp_servlet_json::{RawJson, to_string, write_raw, write_string};
use mcp_servlet_types::{ResourceContents, base64};
use serde::Serialize;

use crate::answer::error::{IntoToolError, ToolError};
use crate::arguments::Failure;
use crate::returns::Returns;
use crate::returns::tool::Json;

/// The contents at a URI, or the information that there are none.
///
/// Most resources return simpler types, see [`IntoResourceResult`].
#[derive(Debug, Clone)]
pub struct ResourceResult {
    stored: Stored,
    /// `_meta` of contents without their own, as JSON; empty for none.
    meta: &'static str,
}

#[derive(Debug, Clone)]
enum Stored {
    Absent,
    Text(Cow<'static, str>),
    Bytes(Cow<'static, [u8]>),
    /// Contents with their own URIs, such as the files in a folder.
    Several(Vec<ResourceContents>),
}

impl ResourceResult {
    const fn new(stored: Stored) -> Self {
        Self { stored, meta: "" }
    }

    /// No contents: the client gets the error that the resource does not exist.
    pub fn absent() -> Self {
        Self::new(Stored::Absent)
    }

    /// Text.
    pub fn text(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Stored::Text(text.into()))
    }

    /// Bytes, which clients get as base64.
    pub fn bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Self {
        Self::new(Stored::Bytes(bytes.into()))
    }

    /// The result of `read_resource` as JSON; `None` if there are no contents.
    pub(crate) fn into_json(self, uri: &str, mime_type: &str) -> Option<String> {
        let mut json = String::from("{\"contents\":[");
        let meta = self.meta;
        match self.stored {
            Stored::Absent => return None,
            Stored::Text(text) => write_contents(&mut json, uri, mime_type, "text", &text, meta),
            Stored::Bytes(bytes) => {
                write_contents(&mut json, uri, mime_type, "blob", &base64(&bytes), meta);
            }
            Stored::Several(several) if several.is_empty() => return None,
            Stored::Several(several) => {
                for (index, contents) in several.iter().enumerate() {
                    if index > 0 {
                        write_raw(&mut json, ",");
                    }
                    write_given(&mut json, contents, mime_type, meta);
                }
            }
        }
        write_raw(&mut json, "]}");
        Some(json)
    }
}

fn write_given(json: &mut String, contents: &ResourceContents, mime_type: &str, meta: &str) {
    let mime_type = contents.mime_type.as_deref().unwrap_or(mime_type);
    let (key, value) = match &contents.blob {
        Some(blob) => ("blob", &**blob),
        None => ("text", contents.text.as_deref().unwrap_or_default()),
    };
    let meta = contents.meta.as_ref().map_or(meta, RawJson::get);
    write_contents(json, &contents.uri, mime_type, key, value, meta);
}

fn write_contents(
    json: &mut String,
    uri: &str,
    mime_type: &str,
    key: &str,
    value: &str,
    meta: &str,
) {
    write_raw(json, "{\"uri\":");
    write_string(json, uri);
    if !mime_type.is_empty() {
        write_raw(json, ",\"mimeType\":");
        write_string(json, mime_type);
    }
    write_raw(json, ",\"");
    write_raw(json, key);
    write_raw(json, "\":");
    write_string(json, value);
    if !meta.is_empty() {
        write_raw(json, ",\"_meta\":");
        write_raw(json, meta);
    }
    write_raw(json, "}");
}

/// A value that a resource may return.
///
/// | returned | becomes |
/// |---|---|
/// | `String`, `&'static str` | text |
/// | `Vec<u8>`, `&'static [u8]`, the result of `include_bytes!` | bytes, encoded as base64 |
/// | [`Json<T>`](Json) | JSON, of the media type `application/json` |
/// | `Option<T>` | what `T` becomes, or "resource not found" |
/// | [`ResourceContents`], `Vec<ResourceContents>` | these, with their own URIs |
/// | `Result<T, E>` | what `T` becomes, or a JSON-RPC error with the text of the error and its causes |
///
/// The error of a `Result` may be of any type that a [tool](crate::IntoToolResult) can return as its
/// error. MCP has no errors for the model here: the client gets a JSON-RPC error.
#[diagnostic::on_unimplemented(
    message = "a resource cannot return `{Self}`",
    label = "not the contents of a resource",
    note = "return text, bytes, `Json<T>`, `ResourceContents`, or an `Option` or a `Result` of one of these"
)]
pub trait IntoResourceResult {
    /// The media type of such contents unless the resource sets one; empty for none.
    const MIME_TYPE: &'static str = "";

    /// Returns the contents, or an error.
    fn into_resource_result(self) -> Result<ResourceResult, ToolError>;
}

impl IntoResourceResult for ResourceResult {
    fn into_resource_result(self) -> Result<ResourceResult, ToolError> {
        Ok(self)
    }
}

impl<T: Serialize> IntoResourceResult for Json<T> {
    const MIME_TYPE: &'static str = "application/json";

    fn into_resource_result(self) -> Result<ResourceResult, ToolError> {
        Ok(ResourceResult::text(to_string(&self.0)?))
    }
}

impl IntoResourceResult for ResourceContents {
    fn into_resource_result(self) -> Result<ResourceResult, ToolError> {
        vec![self].into_resource_result()
    }
}

impl IntoResourceResult for Vec<ResourceContents> {
    fn into_resource_result(self) -> Result<ResourceResult, ToolError> {
        Ok(ResourceResult::new(Stored::Several(self)))
    }
}

impl<const N: usize> IntoResourceResult for &'static [u8; N] {
    fn into_resource_result(self) -> Result<ResourceResult, ToolError> {
        Ok(ResourceResult::bytes(&self[..]))
    }
}

impl<T: IntoResourceResult> IntoResourceResult for Option<T> {
    const MIME_TYPE: &'static str = T::MIME_TYPE;

    fn into_resource_result(self) -> Result<ResourceResult, ToolError> {
        self.map_or_else(|| Ok(ResourceResult::absent()), T::into_resource_result)
    }
}

impl<T: IntoResourceResult, E: IntoToolError> IntoResourceResult for Result<T, E> {
    const MIME_TYPE: &'static str = T::MIME_TYPE;

    fn into_resource_result(self) -> Result<ResourceResult, ToolError> {
        self.map_err(E::into_tool_error)
            .and_then(T::into_resource_result)
    }
}

macro_rules! stored {
    ($make:ident: $($ty:ty),*) => {
        $(impl IntoResourceResult for $ty {
            fn into_resource_result(self) -> Result<ResourceResult, ToolError> {
                Ok(ResourceResult::$make(self))
            }
        })*
    };
}

stored!(text: String, &'static str, Cow<'static, str>);
stored!(bytes: Vec<u8>, &'static [u8], Cow<'static, [u8]>);

/// The return type of a resource's function, and its media type.
pub type ResourceReturns<T> = Returns<T, ResourceResult, &'static str>;

/// A function that returns `T`.
pub const fn resource_returns<T: IntoResourceResult>() -> ResourceReturns<T> {
    Returns {
        description: T::MIME_TYPE,
        convert: T::into_resource_result,
    }
}

impl<T> ResourceReturns<T> {
    /// The media type that the author set, or the default of the type.
    pub const fn mime_type(&self, given: &'static str) -> &'static str {
        if given.is_empty() {
            self.description
        } else {
            given
        }
    }

    /// The result for a user interface; `meta` describes what it may load and use.
    #[inline]
    pub fn show<'a>(&self, meta: &'static str, value: T) -> Result<ResourceResult, Failure<'a>> {
        let result = self.reply(value)?;
        Ok(ResourceResult { meta, ..result })
    }
}
