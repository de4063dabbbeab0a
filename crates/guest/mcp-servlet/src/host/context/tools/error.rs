//! Errors of calls of other tools.

use std::borrow::Cow;
use std::fmt;

use mcp_servlet_json::{ObjectWriter, RawJson, from_str, write_i64, write_raw, write_string};
pub use mcp_servlet_types::ToolsErrorKind;

use crate::answer::error::push;
use crate::json::{Children, member};

/// Arguments that cannot be written: the error as a host would send it, and the beginning of its message.
pub(super) const ARGUMENTS: (&str, &str) =
    ("{\"kind\":\"arguments\"}", "the arguments have no JSON: ");

/// A result that cannot be read.
pub(super) const MISMATCH: (&str, &str) = (
    "{\"kind\":\"mismatch\"}",
    "the result is not the expected JSON: ",
);

// Other errors, as a host would send them.
pub(super) const TOOL: &str = "{\"kind\":\"tool\"}";
pub(super) const UNSUPPORTED: &str = "{\"kind\":\"unsupported\"}";

/// A call without a result, a tool that reports a failure, or a result that the caller cannot read.
///
/// `?` makes it a [`ToolError`](crate::ToolError). The model then reads the name of the tool and the message.
///
/// ```
/// use mcp_servlet::prelude::*;
/// use mcp_servlet::{ToolsError, ToolsErrorKind};
/// use serde_json::json;
///
/// /// Counts the flights.
/// #[tool]
/// fn flights(context: &Context) -> Result<usize, ToolError> {
///     match context.tools().call::<Vec<String>>("air:search", ()) {
///         Ok(flights) => Ok(flights.len()),
///         Err(error) if error.kind() == ToolsErrorKind::NotAllowed => Ok(0),
///         Err(error) => Err(error.into()),
///     }
/// }
///
/// mcp_servlet::export!(static SERVLET = { tools: [flights], calls: ["air:search"] });
///
/// # fn main() -> Result<(), Fault> {
/// let client = SERVLET.client().with_tool("air:search", |_| {
///     Err::<(), _>(ToolsError::new("closed at night").with_kind(ToolsErrorKind::Tool))
/// });
/// let result = client.call("flights", json!({}))?;
/// assert_eq!(result.text(), "air:search: closed at night");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ToolsError {
    /// `MEMBER:TOOL` or `MEMBER:URI`; empty until the error is that of a call.
    tool: String,
    message: String,
    /// The error as hosts send it, of which only the other members matter: `kind`, `code` and `data`.
    json: Cow<'static, str>,
}

impl ToolsError {
    /// An error of the kind [`Other`](ToolsErrorKind::Other), for tests.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            tool: String::new(),
            message: message.into(),
            json: Cow::Borrowed("{}"),
        }
    }

    /// The same error with another kind.
    #[must_use]
    #[inline]
    pub fn with_kind(self, kind: ToolsErrorKind) -> Self {
        let mut json = String::new();
        write_string(&mut json, kind.name());
        self.with_member("kind", &json)
    }

    /// The same error with a code of JSON-RPC.
    #[must_use]
    #[inline]
    pub fn with_code(self, code: i64) -> Self {
        let mut json = String::new();
        write_i64(&mut json, code);
        self.with_member("code", &json)
    }

    /// The same error with data for programs.
    #[must_use]
    #[inline]
    pub fn with_data(self, data: RawJson) -> Self {
        self.with_member("data", &data.into_string())
    }

    #[inline]
    fn with_member(self, name: &str, json: &str) -> Self {
        let mut object = ObjectWriter::new();
        for (known, json) in Children::new(&self.json).filter(|(known, _)| known != name) {
            object.json(&known, json);
        }
        object.json(name, json);
        Self {
            json: Cow::Owned(object.finish()),
            ..self
        }
    }

    /// The kind of error.
    #[inline]
    pub fn kind(&self) -> ToolsErrorKind {
        let name: Option<String> = from_str(member(&self.json, "kind")).ok();
        ToolsErrorKind::from_name(&name.unwrap_or_default())
    }

    /// The tool that was called, or the resource that was read: `MEMBER:TOOL` or `MEMBER:URI`.
    #[inline]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What went wrong, without the name of the tool.
    #[inline]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The code of JSON-RPC, if the other server sent one.
    #[inline]
    pub fn code(&self) -> Option<i64> {
        from_str(member(&self.json, "code")).ok()
    }

    /// The data of the other server's error.
    #[inline]
    pub fn data(&self) -> Option<RawJson> {
        RawJson::parse(member(&self.json, "data")).ok()
    }

    /// The error that a host sends.
    #[cold]
    #[inline]
    pub(super) fn from_host(tool: &str, error: &str) -> Self {
        let message = match from_str(member(error, "message")) {
            Ok(message) => message,
            Err(_) => String::from("the host sent no answer"),
        };
        Self::at(tool, message, Cow::Owned(String::from(error)))
    }

    /// The error of a call.
    #[inline]
    pub(super) fn at(tool: &str, message: String, json: Cow<'static, str>) -> Self {
        Self {
            tool: String::from(tool),
            message,
            json,
        }
    }

    /// JSON that does not match its type: a result, or arguments that have none.
    #[cold]
    #[inline]
    pub(super) fn mismatch(
        tool: &str,
        (kind, problem): (&'static str, &str),
        json: &str,
        error: &mcp_servlet_json::Error,
    ) -> Self {
        let mut message = String::from(problem);
        push(&mut message, error);
        let pointer = error.pointer(json);
        if !pointer.is_empty() {
            for part in [" in `", &pointer, "`"] {
                write_raw(&mut message, part);
            }
        }
        Self::at(tool, message, Cow::Borrowed(kind))
    }
}

impl fmt::Display for ToolsError {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.tool.is_empty() {
            f.write_str(&self.tool)?;
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

// Derived code would link the escapes of `str`, which are larger than all of a call.
impl fmt::Debug for ToolsError {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ToolsError {}
