//! Doc comments as descriptions.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comments, as one `&'static str` expression; `""` for none.
///
/// Literal lines lose the space after the slashes and are joined here. Something else, such as
/// `#[doc = include_str!("…")]`, stays an expression.
pub(crate) fn description(attributes: &[Attribute]) -> TokenStream {
    let mut pieces = Vec::new();
    let mut text = String::new();
    for (index, value) in attributes.iter().filter_map(doc_value).enumerate() {
        if index > 0 {
            text.push('\n');
        }
        if let Expr::Lit(ExprLit {
            lit: Lit::Str(lines),
            ..
        }) = value
        {
            push_lines(&mut text, &lines.value());
        } else {
            let before = std::mem::take(&mut text);
            pieces.push(quote!(#before, #value));
        }
    }
    if pieces.is_empty() {
        let text = text.trim();
        return quote!(#text);
    }
    let text = text.trim_end();
    quote!(::core::concat!(#(#pieces,)* #text))
}

/// What a doc comment says.
pub(crate) fn doc_value(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => Some(&meta.value),
        _ => None,
    }
}

fn push_lines(text: &mut String, lines: &str) {
    for (index, line) in lines.lines().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        text.push_str(unstarred(line).trim_end());
    }
}

/// A line of a doc comment without the space, or the star of a block comment, before its text.
fn unstarred(line: &str) -> &str {
    let bare = line.trim_start();
    match bare.strip_prefix("* ") {
        Some(rest) if line.len() > bare.len() => rest,
        _ => line.strip_prefix(' ').unwrap_or(line),
    }
}
