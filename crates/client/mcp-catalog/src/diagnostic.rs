//! What is wrong with a server's lists, in a form for programs and people.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A problem with what a server offers. It never keeps the rest out of the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// One of the constants in [`code`]; another one if a newer version wrote the catalog.
    pub code: Cow<'static, str>,
    /// How bad it is.
    pub severity: Severity,
    /// The item that has the problem; `None` for the server or a whole list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemKey>,
    /// A JSON pointer into the entry as the server wrote it; without an item, into [`Lists`](crate::Lists).
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Diagnostic {
    /// A problem of the server or of a whole list.
    pub fn new(
        code: impl Into<Cow<'static, str>>,
        severity: Severity,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code: code.into(),
            severity,
            item: None,
            pointer: pointer.into(),
            message: message.into(),
            help: None,
        }
    }

    /// The same with a hint about what to do.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }

    /// The same for an item.
    #[must_use]
    pub fn of_item(self, item: ItemKey) -> Self {
        Self {
            item: Some(item),
            ..self
        }
    }
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Useful to know.
    Note,
    /// The item works, but perhaps not for every client, or not as its text says.
    Warning,
    /// A part of the item cannot be used.
    Error,
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemKind {
    /// Of `tools/list`.
    Tool,
    /// Of `resources/list`.
    Resource,
    /// Of `resources/templates/list`.
    ResourceTemplate,
    /// Of `prompts/list`.
    Prompt,
}

impl ItemKind {
    /// The name of the kind for people, such as "resource template".
    pub fn label(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::ResourceTemplate => "resource template",
            Self::Prompt => "prompt",
        }
    }

    /// The JSON pointer, within an entry, to the name or URI by which requests identify the item.
    pub(crate) fn key_pointer(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "/name",
            Self::Resource => "/uri",
            Self::ResourceTemplate => "/uriTemplate",
        }
    }
}

/// Which item a diagnostic is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemKey {
    /// The kind of the item.
    #[serde(rename = "type")]
    pub kind: ItemKind,
    /// What requests call the item by: a name, a URI or a URI template.
    pub key: String,
    /// The position in `items`, because several items may have one key.
    pub index: usize,
}

/// The codes of diagnostics. They do not change between releases; `docs/catalog.md` has a section for each.
pub mod code {
    /// An argument of a prompt cannot be used.
    pub const BAD_ARGUMENT: &str = "bad-argument";
    /// An entry of a list is not an object.
    pub const BAD_ENTRY: &str = "bad-entry";
    /// The server refuses a list, or a page of it cannot be read. The client reports it.
    pub const BAD_LIST: &str = "bad-list";
    /// A member is missing, has the wrong type, or cannot be read.
    pub const BAD_MEMBER: &str = "bad-member";
    /// A name is empty, too long, or has white space or control characters.
    pub const BAD_NAME: &str = "bad-name";
    /// A schema cannot be used to check values.
    pub const BAD_SCHEMA: &str = "bad-schema";
    /// A URI template is not valid.
    pub const BAD_TEMPLATE: &str = "bad-template";
    /// A list repeats a cursor, so its pages would never end. The client reports it.
    pub const CURSOR_REPEATS: &str = "cursor-repeats";
    /// The user interface of a tool is not among the resources.
    pub const DANGLING_UI: &str = "dangling-ui";
    /// An object has two members of the same name.
    pub const DUPLICATE_MEMBER: &str = "duplicate-member";
    /// Two items have the same name or URI.
    pub const DUPLICATE_NAME: &str = "duplicate-name";
    /// A text has characters that people cannot see, but models read.
    pub const HIDDEN_TEXT: &str = "hidden-text";
    /// The client mended what MCP does not allow, such as a member that is null. The client reports it.
    pub const MENDED: &str = "mended";
    /// An integer does not fit in 64 bits, so the catalog has it rounded.
    pub const ROUNDED_NUMBER: &str = "rounded-number";
    /// Two names differ only in case.
    pub const SIMILAR_NAME: &str = "similar-name";

    /// All of them.
    pub const ALL: [&str; 15] = [
        BAD_ARGUMENT,
        BAD_ENTRY,
        BAD_LIST,
        BAD_MEMBER,
        BAD_NAME,
        BAD_SCHEMA,
        BAD_TEMPLATE,
        CURSOR_REPEATS,
        DANGLING_UI,
        DUPLICATE_MEMBER,
        DUPLICATE_NAME,
        HIDDEN_TEXT,
        MENDED,
        ROUNDED_NUMBER,
        SIMILAR_NAME,
    ];
}
