//! The kinds of items that servlets list.

use std::fmt;

use serde::Serialize;

/// A kind of item that servlets list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureKind {
    /// A tool.
    Tool,
    /// A resource with a fixed URI.
    Resource,
    /// A resource template, which describes the URIs of several resources.
    ResourceTemplate,
    /// A prompt.
    Prompt,
}

impl FeatureKind {
    /// The name of the kind, in the singular.
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
