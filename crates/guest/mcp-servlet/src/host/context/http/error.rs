//! Errors of HTTP requests.

use std::fmt;

pub use mcp_servlet_types::HttpErrorKind;

/// A request without a response, or a response that the tool cannot use.
///
/// ```
/// use mcp_servlet::prelude::*;
/// use mcp_servlet::{HttpErrorKind, HttpRequest};
///
/// /// Reads a page.
/// #[tool]
/// fn page(context: &Context) -> Result<String, ToolError> {
///     match context.http(&HttpRequest::get("https://example.com/")) {
///         Ok(page) => Ok(page.success()?.text()?.to_owned()),
///         Err(error) if error.kind() == HttpErrorKind::Connect => Ok("offline".to_owned()),
///         Err(error) => Err(error.into()),
///     }
/// }
///
/// mcp_servlet::export!(static SERVLET = { tools: [page] });
///
/// # fn main() {
/// let down = [("GET https://example.com/", HttpErrorKind::Connect)];
/// let client = SERVLET.client().with_recorded_http(down);
/// assert_eq!(page(client.context()).unwrap(), "offline");
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpError {
    kind: HttpErrorKind,
    message: String,
}

impl HttpError {
    /// An error of the kind [`Other`](HttpErrorKind::Other).
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            kind: HttpErrorKind::Other,
            message: message.into(),
        }
    }

    /// The same error with another kind.
    #[must_use]
    pub fn with_kind(mut self, kind: HttpErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// The kind of error.
    pub fn kind(&self) -> HttpErrorKind {
        self.kind
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HttpError {}

/// A recorded error in a test.
#[cfg(not(target_family = "wasm"))]
impl From<HttpErrorKind> for HttpError {
    fn from(kind: HttpErrorKind) -> Self {
        Self::new(format!("the test records a failure: {kind:?}")).with_kind(kind)
    }
}
