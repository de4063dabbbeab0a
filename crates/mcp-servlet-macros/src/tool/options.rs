//! What `#[tool(…)]` says.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{LitInt, LitStr};

use crate::attributes::{Entries, unknown_key};
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
    "input_schema",
    "parts",
    "icons",
    "meta",
    "ui",
    "crate",
];

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
                "input_schema" => options.input_schema = entry.expression(diagnostics),
                "parts" => options.parts = entry.count(diagnostics),
                "crate" => entry.path(&mut options.krate, diagnostics),
                _ => unknown_key(diagnostics, "tool", &entry.key, TOOL_KEYS),
            }
        }
        options
    }
}
