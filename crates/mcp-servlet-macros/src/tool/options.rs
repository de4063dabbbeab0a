//! What `#[tool(…)]` says.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{LitInt, LitStr};

use crate::attributes::{Entries, Entry, unknown_key};
use crate::diagnostics::Diagnostics;
use crate::presentation::{Bearer, Presentation};

/// `#[tool(…)]`
pub(crate) struct ToolOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<TokenStream>,
    pub(crate) description: Option<TokenStream>,
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
    /// Whether calls run as tasks: one of [`TASK_SUPPORT`].
    pub(crate) task: Option<LitStr>,
    pub(crate) input_schema: Option<TokenStream>,
    /// How many characters of its text a call gets if it does not say.
    pub(crate) parts: Option<LitInt>,
    pub(crate) presentation: Presentation,
    /// The path of `mcp_servlet`.
    pub(crate) krate: TokenStream,
}

const TOOL_KEYS: &[&str] = &[
    "name",
    "title",
    "description",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "task",
    "input_schema",
    "parts",
    "icons",
    "meta",
    "ui",
    "crate",
];

/// The words of MCP for tools that can run as tasks.
const TASK_SUPPORT: [&str; 3] = ["forbidden", "optional", "required"];

fn task_support(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<LitStr> {
    let text = entry.string(diagnostics)?;
    if TASK_SUPPORT.contains(&text.value().as_str()) {
        return Some(text);
    }
    diagnostics.error(
        &text,
        "`task` is \"forbidden\", \"optional\" or \"required\"\nhelp: write `task = \"optional\"`",
    );
    None
}

impl ToolOptions {
    pub(crate) fn parse(attribute: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        let mut options = Self {
            name: None,
            title: None,
            description: None,
            read_only: None,
            destructive: None,
            idempotent: None,
            open_world: None,
            task: None,
            input_schema: None,
            parts: None,
            presentation: Presentation::default(),
            krate: quote!(::mcp_servlet),
        };
        let Some(entries) = diagnostics.ok(syn::parse2::<Entries>(attribute)) else {
            return options;
        };
        entries.check_unique(diagnostics);
        for entry in &entries.0 {
            if options.presentation.take(entry, Bearer::Tool, diagnostics) {
                continue;
            }
            match entry.key.to_string().as_str() {
                "name" => options.name = entry.string(diagnostics),
                "title" => options.title = entry.expression(diagnostics),
                "description" => options.description = entry.expression(diagnostics),
                "read_only" => options.read_only = entry.flag(diagnostics),
                "destructive" => options.destructive = entry.flag(diagnostics),
                "idempotent" => options.idempotent = entry.flag(diagnostics),
                "open_world" => options.open_world = entry.flag(diagnostics),
                "task" => options.task = task_support(entry, diagnostics),
                "input_schema" => options.input_schema = entry.expression(diagnostics),
                "parts" => options.parts = entry.count(diagnostics),
                "crate" => entry.path(&mut options.krate, diagnostics),
                _ => unknown_key(diagnostics, "tool", &entry.key, TOOL_KEYS),
            }
        }
        options
    }
}
