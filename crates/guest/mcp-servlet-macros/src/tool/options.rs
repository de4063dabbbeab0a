//! The options of `#[tool(…)]`.

use proc_macro2::TokenStream;
use syn::{LitInt, LitStr};

use crate::attributes::{CratePath, Entry, Key};
use crate::diagnostics::Diagnostics;
use crate::presentation::Presentation;

/// `#[tool(…)]`
#[derive(Default)]
pub(crate) struct ToolOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<TokenStream>,
    pub(crate) description: Option<TokenStream>,
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
    /// Whether calls can run as tasks: one of [`TASK_SUPPORT`].
    pub(crate) task: Option<LitStr>,
    pub(crate) input_schema: Option<TokenStream>,
    /// The default of `max_length`, in characters.
    pub(crate) parts: Option<LitInt>,
    pub(crate) presentation: Presentation,
    pub(crate) krate: CratePath,
}

/// The options of `#[tool]`.
pub(crate) const KEYS: &[Key<ToolOptions>] = &[
    Key::new("name", |options, entry, diagnostics| {
        options.name = entry.string(diagnostics);
    }),
    Key::new("title", |options, entry, diagnostics| {
        options.title = entry.expression(diagnostics);
    }),
    Key::new("description", |options, entry, diagnostics| {
        options.description = entry.expression(diagnostics);
    }),
    Key::new("read_only", |options, entry, diagnostics| {
        options.read_only = entry.flag(diagnostics);
    }),
    Key::new("destructive", |options, entry, diagnostics| {
        options.destructive = entry.flag(diagnostics);
    }),
    Key::new("idempotent", |options, entry, diagnostics| {
        options.idempotent = entry.flag(diagnostics);
    }),
    Key::new("open_world", |options, entry, diagnostics| {
        options.open_world = entry.flag(diagnostics);
    }),
    Key::new("task", |options, entry, diagnostics| {
        options.task = task_support(entry, diagnostics);
    }),
    Key::new("input_schema", |options, entry, diagnostics| {
        options.input_schema = entry.expression(diagnostics);
    }),
    Key::new("parts", |options, entry, diagnostics| {
        options.parts = entry.count(diagnostics);
    }),
    Key::new("icons", |options, entry, diagnostics| {
        options.presentation.icons(entry, diagnostics);
    }),
    Key::new("meta", |options, entry, diagnostics| {
        options.presentation.meta(entry, diagnostics);
    }),
    Key::new("ui", |options, entry, diagnostics| {
        options.presentation.tool_ui(entry, diagnostics);
    }),
    Key::new("crate", |options, entry, diagnostics| {
        options.krate.set(entry, diagnostics);
    }),
];

/// The values of `taskSupport` in MCP.
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
