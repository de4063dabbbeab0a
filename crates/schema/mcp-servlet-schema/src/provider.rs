//! Model providers and clients with their own rules for tools.

mod lower;

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use lower::table as lowering_table;
pub use lower::{Undo, lower};

/// Keywords that are fields of `parameters` in Gemini's function declarations.
pub const GEMINI_KEYWORDS: [&str; 22] = [
    "anyOf",
    "default",
    "description",
    "enum",
    "example",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "propertyOrdering",
    "required",
    "title",
    "type",
];

/// Keywords that limit numbers.
pub const BOUNDS: [&str; 5] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

/// Up to this number, a 64-bit float can represent every integer.
pub const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_992.0;

/// The maximum length of a tool's description, in characters, for all models of `OpenAI`.
pub const MAX_DESCRIPTION: usize = 1024;

/// A model provider or a client that does not accept all schemas.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// The Messages API, including Claude Code and Claude Desktop.
    Anthropic,
    /// The Responses and Chat Completions APIs.
    OpenAi,
    /// The Gemini API, with the field `parameters` of a function declaration.
    Gemini,
    /// The editor Cursor.
    Cursor,
}

impl Provider {
    /// All providers.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAi, Self::Gemini, Self::Cursor];

    /// The name in options and configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Provider {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|provider| provider.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|provider| provider.name()).collect();
            format!("expected one of {}, found `{text}`", names.join(", "))
        })
    }
}
