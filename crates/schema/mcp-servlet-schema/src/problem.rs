//! What is wrong in JSON, and where.

use serde_json::Value;

use crate::text::expected;

/// A problem in JSON: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}{}{message}", if at.is_empty() { "" } else { ": " })]
pub struct Problem {
    /// A JSON pointer, or another position, such as `byte 7` or line and column. Empty or `top level` for the whole value.
    pub at: String,
    /// What is wrong there.
    pub message: String,
}

impl Problem {
    /// A problem at this place.
    pub fn new(at: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            at: at.into(),
            message: message.into(),
        }
    }

    /// A value of another type, such as "expected a string, found a number".
    pub fn expected(at: impl Into<String>, what: &str, found: Option<&Value>) -> Self {
        Self::new(at, expected(what, found))
    }

    /// A syntax error, with its line and column.
    pub fn syntax(error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let at = format!("line {} column {}", error.line(), error.column());
        let message = message
            .strip_suffix(&format!(" at {at}"))
            .unwrap_or(&message);
        Self::new(at, message)
    }

    /// The same problem, if the value at `pointer` has it.
    #[must_use]
    pub fn within(mut self, pointer: &str) -> Self {
        self.at.insert_str(0, pointer);
        self
    }
}
