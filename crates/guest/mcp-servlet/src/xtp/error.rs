//! The error of a plugin.

use std::fmt;

use mcp_servlet_json::write_raw;

/// The error of a function of the plugin or of its host: a text, which the host gets as Extism's error.
///
/// Anything that converts into a boxed error converts into it, so `?` works in a function that returns
/// it. The text is the error's message, followed by those of all its causes, in one line.
///
/// ```
/// use mcp_servlet::xtp::Error;
///
/// fn double(text: &str) -> Result<i64, Error> {
///     let number: i64 = text.parse()?;
///     number.checked_mul(2).ok_or_else(|| Error::new("the number is too large"))
/// }
/// assert_eq!(double("x").unwrap_err().message(), "invalid digit found in string");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    message: String,
}

impl Error {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    /// The error of an export that the author did not implement.
    pub fn not_implemented(export: &str) -> Self {
        Self::about("export", export, " is not implemented")
    }

    /// The error of an import in a test whose host does not have it.
    pub fn not_mocked(import: &str) -> Self {
        Self::about("import", import, " is not part of the test's host")
    }

    /// The text that the host reads.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// An error such as ``input of export `name`: …``.
    pub(crate) fn invalid_payload(role: &str, name: &str, reason: &str) -> Self {
        let mut error = Self::about(role, name, ": ");
        write_raw(&mut error.message, reason);
        error
    }

    /// An error about a function, with the reason.
    pub(crate) fn about(role: &str, name: &str, reason: &str) -> Self {
        let mut message = String::new();
        for part in [role, " `", name, "`", reason] {
            write_raw(&mut message, part);
        }
        Self { message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: Into<Box<dyn std::error::Error>>> From<E> for Error {
    fn from(error: E) -> Self {
        Self::new(crate::answer::error::chain(&*error.into()))
    }
}
