//! The kinds of items that servlets list.

use std::fmt;

use mcp_servlet_runtime::Abi;
use serde::Serialize;

/// A kind of item that servlets list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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

/// How a servlet lists the items of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeatureList {
    /// The export whose output has the list.
    pub export: &'static str,
    /// The member of the output that has the items.
    pub member: &'static str,
    /// The member of an item that identifies it.
    pub key: &'static str,
}

impl FeatureKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::Tool,
        Self::Resource,
        Self::ResourceTemplate,
        Self::Prompt,
    ];

    /// How a servlet with this ABI lists the items.
    pub fn list(self, abi: Abi) -> FeatureList {
        let (member, key) = self.members();
        let export = match self {
            Self::Tool => abi.list_tools(),
            Self::Resource => "list_resources",
            Self::ResourceTemplate => "list_resource_templates",
            Self::Prompt => "list_prompts",
        };
        FeatureList {
            export,
            member,
            key,
        }
    }

    /// The member of a list that has the items, and the member of an item that identifies it.
    pub fn members(self) -> (&'static str, &'static str) {
        match self {
            Self::Tool => ("tools", "name"),
            Self::Resource => ("resources", "uri"),
            Self::ResourceTemplate => ("resourceTemplates", "uriTemplate"),
            Self::Prompt => ("prompts", "name"),
        }
    }

    /// The method of MCP that lists the items.
    pub fn method(self) -> &'static str {
        match self {
            Self::Tool => "tools/list",
            Self::Resource => "resources/list",
            Self::ResourceTemplate => "resources/templates/list",
            Self::Prompt => "prompts/list",
        }
    }

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
