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
    // Only a block comment has several, and stars at their margin; elsewhere a star begins an item of a list.
    let is_block = lines.contains('\n');
    for (index, line) in lines.lines().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        let unstarred = if is_block { unstarred(line) } else { None };
        let line = unstarred.unwrap_or_else(|| line.strip_prefix(' ').unwrap_or(line));
        text.push_str(line.trim_end());
    }
}

/// A line of a block comment without the star before its text.
fn unstarred(line: &str) -> Option<&str> {
    let bare = line.trim_start();
    let rest = bare.strip_prefix("* ")?;
    (line.len() > bare.len()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn text(attributes: &[Attribute]) -> String {
        let text: syn::LitStr = syn::parse2(description(attributes)).expect("a text");
        text.value()
    }

    #[test]
    fn lists_keep_their_bullets() {
        let lines: [Attribute; 3] = [
            parse_quote!(#[doc = " Formats:"]),
            parse_quote!(#[doc = " * csv"]),
            parse_quote!(#[doc = "   * nested"]),
        ];
        assert_eq!(text(&lines), "Formats:\n* csv\n  * nested");
    }

    #[test]
    fn blocks_lose_their_margin() {
        let block: Attribute = parse_quote!(#[doc = "\n * Formats:\n * - csv\n "]);
        assert_eq!(text(&[block]), "Formats:\n- csv");
    }
}
