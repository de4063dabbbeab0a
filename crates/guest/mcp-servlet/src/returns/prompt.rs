//! The return types of prompts.

use std::borrow::Cow;

use mcp_servlet_json::{Error, to_writer, write_raw, write_string};
use mcp_servlet_types::{Content, PromptMessage};

use crate::answer::error::{IntoToolError, ToolError};
use crate::returns::Returns;

/// The messages of a prompt, and an optional description of the prompt with these arguments.
///
/// Most prompts return simpler types, see [`IntoPromptResult`].
#[derive(Debug, Clone)]
pub struct PromptResult {
    description: String,
    messages: Vec<PromptMessage>,
}

impl PromptResult {
    /// These messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self {
            description: String::new(),
            messages,
        }
    }

    /// Sets the description of the prompt with these arguments.
    #[must_use]
    pub fn with_description(self, description: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            ..self
        }
    }

    /// The result of `get_prompt` as JSON.
    pub(crate) fn to_json(&self) -> Result<String, Error> {
        let mut json = String::from("{");
        if !self.description.is_empty() {
            write_raw(&mut json, "\"description\":");
            write_string(&mut json, &self.description);
            write_raw(&mut json, ",");
        }
        write_raw(&mut json, "\"messages\":");
        to_writer(&mut json, &self.messages)?;
        write_raw(&mut json, "}");
        Ok(json)
    }
}

/// A value that a prompt may return.
///
/// | returned | becomes |
/// |---|---|
/// | `String`, `&'static str`, [`Content`] | one message of the user |
/// | [`PromptMessage`], `Vec<PromptMessage>` | these messages |
/// | [`PromptResult`] | itself |
/// | `Result<T, E>` | what `T` becomes, or a JSON-RPC error with the text of the error and its causes |
///
/// The error of a `Result` may be of any type that a [tool](crate::IntoToolResult) can return as its
/// error. MCP has no errors for the model here: the client gets a JSON-RPC error.
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "not the messages of a prompt",
    note = "return text, `Content`, `PromptMessage`, `Vec<PromptMessage>`, or a `Result` of one of these"
)]
pub trait IntoPromptResult {
    /// Returns the messages, or an error.
    fn into_prompt_result(self) -> Result<PromptResult, ToolError>;
}

impl IntoPromptResult for PromptResult {
    fn into_prompt_result(self) -> Result<PromptResult, ToolError> {
        Ok(self)
    }
}

impl IntoPromptResult for Vec<PromptMessage> {
    fn into_prompt_result(self) -> Result<PromptResult, ToolError> {
        Ok(PromptResult::new(self))
    }
}

impl IntoPromptResult for PromptMessage {
    fn into_prompt_result(self) -> Result<PromptResult, ToolError> {
        Ok(PromptResult::new(vec![self]))
    }
}

impl IntoPromptResult for Content {
    fn into_prompt_result(self) -> Result<PromptResult, ToolError> {
        PromptMessage::user(self).into_prompt_result()
    }
}

impl<T: IntoPromptResult, E: IntoToolError> IntoPromptResult for Result<T, E> {
    fn into_prompt_result(self) -> Result<PromptResult, ToolError> {
        self.map_err(E::into_tool_error)
            .and_then(T::into_prompt_result)
    }
}

macro_rules! texts {
    ($($ty:ty),*) => {
        $(impl IntoPromptResult for $ty {
            fn into_prompt_result(self) -> Result<PromptResult, ToolError> {
                Content::text(self).into_prompt_result()
            }
        })*
    };
}

texts!(String, &'static str, Cow<'static, str>);

/// The return type of a prompt's function.
pub type PromptReturns<T> = Returns<T, PromptResult>;

/// A function that returns `T`.
pub const fn prompt_returns<T: IntoPromptResult>() -> PromptReturns<T> {
    Returns {
        description: (),
        convert: T::into_prompt_result,
    }
}
