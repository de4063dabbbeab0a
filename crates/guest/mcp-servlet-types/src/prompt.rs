//! Constructors of prompt messages.

use crate::{Content, PromptMessage, Role};

impl PromptMessage {
    /// A message of the user: text or any other content.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new(Role::User, content.into())
    }

    /// A message of the model.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new(Role::Assistant, content.into())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}
