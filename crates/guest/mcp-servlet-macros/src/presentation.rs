//! How clients show tools, resources and prompts: `icons`, `meta` and `ui`, shared by all attributes.
//!
//! Each option becomes JSON text here, and the description contains that text unchanged.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned as _;

use crate::attributes::Entry;
use crate::diagnostics::Diagnostics;
use crate::function::{emit, json_string};
use crate::tree::{Kind, Member, Tree};

/// The kind of item that has the attribute: the meaning of `ui` depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bearer {
    /// `ui` links to a user interface.
    Tool,
    /// The resource may be a user interface.
    Resource,
    /// `ui` is not allowed.
    Prompt,
}

/// The options in the attribute.
#[derive(Default)]
pub(crate) struct Presentation {
    /// A JSON array, empty for none.
    icons: String,
    /// The JSON object at `ui` in `_meta`, empty for none.
    ui: String,
    /// An expression for the JSON object `_meta`.
    meta: Option<TokenStream>,
}

impl Presentation {
    /// Reads `icons`.
    pub(crate) fn icons(&mut self, entry: &Entry, diagnostics: &mut Diagnostics) {
        if let Some(tree) = tree(entry, diagnostics) {
            self.icons = icons(&tree, diagnostics);
        }
    }

    /// Reads `meta`: JSON, or an expression for a string that contains JSON.
    pub(crate) fn meta(&mut self, entry: &Entry, diagnostics: &mut Diagnostics) {
        let Some(value) = entry.expression(diagnostics) else {
            return;
        };
        if !value.to_string().starts_with('{') {
            self.meta = Some(value);
        } else if let Some(tree) = diagnostics.ok(syn::parse2(value)) {
            self.meta = meta(&tree, diagnostics);
        }
    }

    /// Reads `ui`.
    pub(crate) fn ui(&mut self, entry: &Entry, bearer: Bearer, diagnostics: &mut Diagnostics) {
        if let Some(tree) = tree(entry, diagnostics) {
            self.ui = ui(&tree, bearer, diagnostics);
        }
    }

    /// The JSON of a `_meta` that contains only `ui`, if there is one.
    pub(crate) fn ui_meta(&self) -> Option<String> {
        (!self.ui.is_empty()).then(|| format!("{{\"ui\":{}}}", self.ui))
    }

    /// A constant that stops the build, at `meta`, if the value is not JSON.
    pub(crate) fn check(&self, private: &TokenStream) -> Option<TokenStream> {
        let at = self.meta.as_ref()?.span();
        let check = emit::located(self.tokens(private), at);
        let check = emit::located(quote!(#check.check()), at);
        Some(quote!(const _: () = #check;))
    }

    /// The constant, in terms of `private`, the path of `mcp_servlet::__private`.
    pub(crate) fn tokens(&self, private: &TokenStream) -> TokenStream {
        let Self { icons, ui, meta } = self;
        if icons.is_empty() && ui.is_empty() && meta.is_none() {
            return quote!(#private::Presentation::NONE);
        }
        let meta = meta.clone().unwrap_or_else(|| quote!(""));
        quote!(#private::Presentation { icons: #icons, ui: #ui, meta: #meta })
    }
}

fn tree(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Tree> {
    let value = entry.expression(diagnostics)?;
    diagnostics.ok(syn::parse2(value))
}

fn meta(tree: &Tree, diagnostics: &mut Diagnostics) -> Option<TokenStream> {
    match tree.json() {
        Ok(json) => Some(quote!(#json)),
        Err(word) => {
            diagnostics.error(
                &word.tokens,
                "expected JSON in `meta`\nhelp: quote the string",
            );
            None
        }
    }
}

fn icons(tree: &Tree, diagnostics: &mut Diagnostics) -> String {
    let items = tree.items().iter();
    let icons: Vec<_> = items.map(|item| icon(item, diagnostics)).collect();
    format!("[{}]", icons.join(","))
}

fn icon(tree: &Tree, diagnostics: &mut Diagnostics) -> String {
    if let Some(src) = tree.text() {
        check_src(src, tree, diagnostics);
        return format!("{{\"src\":{}}}", json_string(src));
    }
    let mut has_src = false;
    let icon = object(tree, "an icon", diagnostics, |member, diagnostics| {
        let value = &member.value;
        let json = match (member.key.name.as_str(), value.name()) {
            ("src", Some(src)) => {
                has_src = true;
                check_src(src, value, diagnostics);
                json_string(src)
            }
            ("mime_type", Some(text)) => json_string(text),
            ("sizes", _) => texts(
                value.items(),
                "`sizes` takes strings, such as \"48x48\"",
                diagnostics,
            ),
            ("theme", Some(theme @ ("light" | "dark"))) => json_string(theme),
            ("theme", _) => {
                diagnostics.error(&value.tokens, "`theme` is `light` or `dark`");
                return None;
            }
            (known @ ("src" | "mime_type"), None) => {
                diagnostics.error(&value.tokens, format!("`{known}` takes a string"));
                return None;
            }
            _ => {
                return unknown(
                    member,
                    "an icon",
                    "`src`, `mime_type`, `sizes` and `theme`",
                    diagnostics,
                );
            }
        };
        let name = if member.key.name == "mime_type" {
            "mimeType"
        } else {
            &member.key.name
        };
        Some((name.to_owned(), json))
    });
    if !has_src && matches!(tree.kind, Kind::Object(_)) {
        diagnostics.error(
            &tree.tokens,
            "an icon needs `src`\nhelp: add `src: \"https://…\"`",
        );
    }
    icon
}

/// MCP: clients load icons only from `https:` and `data:` URIs.
fn check_src(src: &str, tree: &Tree, diagnostics: &mut Diagnostics) {
    if !src.starts_with("https://") && !src.starts_with("data:") {
        diagnostics.error(
            &tree.tokens,
            "clients show icons from `https://` and `data:` URIs only",
        );
    }
}

/// The user interface that a tool links to, or the needs of a resource that is one (MCP Apps, SEP-1865).
fn ui(tree: &Tree, bearer: Bearer, diagnostics: &mut Diagnostics) -> String {
    if bearer == Bearer::Prompt {
        diagnostics.error(
            &tree.tokens,
            "a prompt has no `ui`\nhelp: put it on a tool or a resource",
        );
    }
    match (bearer, &tree.kind) {
        (Bearer::Tool, Kind::Text(uri)) => {
            check_ui_uri(uri, tree, diagnostics);
            format!("{{\"resourceUri\":{}}}", json_string(uri))
        }
        (Bearer::Tool, _) => object(tree, "`ui`", diagnostics, ui_of_tool),
        _ => object(tree, "`ui`", diagnostics, ui_of_resource),
    }
}

fn ui_of_tool(member: &Member, diagnostics: &mut Diagnostics) -> Option<(String, String)> {
    let value = &member.value;
    match member.key.name.as_str() {
        "resource" => {
            let Some(uri) = value.text() else {
                diagnostics.error(
                    &value.tokens,
                    "`resource` takes the URI of a resource, as a string",
                );
                return None;
            };
            check_ui_uri(uri, value, diagnostics);
            Some(("resourceUri".into(), json_string(uri)))
        }
        "visibility" => {
            let json = names(value, &["model", "app"], diagnostics)?;
            Some(("visibility".into(), format!("[{}]", json.join(","))))
        }
        "csp" | "permissions" | "domain" | "prefers_border" => {
            diagnostics.error(
                &member.key.tokens,
                format!("clients read `{}` from the resource\nhelp: move it to the `ui` of the `#[resource]`", member.key.name),
            );
            None
        }
        _ => unknown(
            member,
            "the `ui` of a tool",
            "`resource` and `visibility`",
            diagnostics,
        ),
    }
}

fn ui_of_resource(member: &Member, diagnostics: &mut Diagnostics) -> Option<(String, String)> {
    let value = &member.value;
    match (member.key.name.as_str(), &value.kind) {
        ("csp", _) => Some(("csp".into(), object(value, "`csp`", diagnostics, csp))),
        ("permissions", _) => {
            let known = ["camera", "microphone", "geolocation", "clipboard_write"];
            let names = names(value, &known, diagnostics)?;
            let members = names
                .iter()
                .map(|name| format!("{}:{{}}", name.replace("clipboard_write", "clipboardWrite")));
            let members: Vec<_> = members.collect();
            Some(("permissions".into(), format!("{{{}}}", members.join(","))))
        }
        ("domain", Kind::Text(domain)) => Some(("domain".into(), json_string(domain))),
        ("prefers_border", Kind::Literal(json)) if json == "true" || json == "false" => {
            Some(("prefersBorder".into(), json.clone()))
        }
        ("domain", _) => {
            diagnostics.error(&value.tokens, "`domain` takes a string");
            None
        }
        ("prefers_border", _) => {
            diagnostics.error(&value.tokens, "`prefers_border` is true or false");
            None
        }
        _ => unknown(
            member,
            "the `ui` of a resource",
            "`csp`, `permissions`, `domain` and `prefers_border`",
            diagnostics,
        ),
    }
}

/// The domains that the page may load from; all others are blocked.
fn csp(member: &Member, diagnostics: &mut Diagnostics) -> Option<(String, String)> {
    let name = match member.key.name.as_str() {
        "connect" => "connectDomains",
        "resource" => "resourceDomains",
        "frame" => "frameDomains",
        "base_uri" => "baseUriDomains",
        _ => {
            return unknown(
                member,
                "`csp`",
                "`connect`, `resource`, `frame` and `base_uri`",
                diagnostics,
            );
        }
    };
    let domains = texts(
        member.value.items(),
        "domains are strings, such as \"https://example.com\"",
        diagnostics,
    );
    Some((name.into(), domains))
}

fn check_ui_uri(uri: &str, tree: &Tree, diagnostics: &mut Diagnostics) {
    if !uri.starts_with("ui://") {
        diagnostics.error(
            &tree.tokens,
            "the URI of a user interface begins with `ui://`",
        );
    }
}

/// A JSON object with the members that `read` returns.
fn object(
    tree: &Tree,
    what: &str,
    diagnostics: &mut Diagnostics,
    mut read: impl FnMut(&Member, &mut Diagnostics) -> Option<(String, String)>,
) -> String {
    let Kind::Object(members) = &tree.kind else {
        diagnostics.error(
            &tree.tokens,
            format!("{what} is written as `{{ key: value }}`"),
        );
        return String::new();
    };
    let members = members
        .iter()
        .filter_map(|member| read(member, diagnostics));
    let members: Vec<_> = members
        .map(|(name, json)| format!("\"{name}\":{json}"))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// A JSON array of strings.
fn texts(items: &[Tree], rule: &str, diagnostics: &mut Diagnostics) -> String {
    let mut texts = Vec::new();
    for item in items {
        match item.text() {
            Some(text) => texts.push(json_string(text)),
            None => diagnostics.error(&item.tokens, rule),
        }
    }
    format!("[{}]", texts.join(","))
}

/// Names from a fixed list, as JSON strings.
fn names(tree: &Tree, known: &[&str], diagnostics: &mut Diagnostics) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for item in tree.items() {
        match item.name() {
            Some(name) if known.contains(&name) => names.push(format!("\"{name}\"")),
            _ => {
                let known = known.join("`, `");
                diagnostics.error(
                    &item.tokens,
                    format!(
                        "unknown name `{item}`\nhelp: the names are `{known}`",
                        item = item.tokens
                    ),
                );
                return None;
            }
        }
    }
    Some(names)
}

fn unknown<T>(
    member: &Member,
    what: &str,
    known: &str,
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    let name = &member.key.name;
    diagnostics.error(
        &member.key.tokens,
        format!("unknown key `{name}` in {what}\nhelp: the keys are {known}"),
    );
    None
}
