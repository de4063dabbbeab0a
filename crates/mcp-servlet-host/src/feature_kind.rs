//! What servlets list.

use std::fmt;

use serde::Serialize;

/// What a servlet lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureKind {
    /// A tool.
    Tool,
    /// A resource with a fixed address.
    Resource,
    /// A family of resources.
    ResourceTemplate,
    /// A prompt.
    Prompt,
}

impl FeatureKind {
    /// In words, for one of them.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::ResourceTemplate => "resource template",
            Self::Prompt => "prompt",
        }
    }
}

impl fmt::Display for FeatureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
