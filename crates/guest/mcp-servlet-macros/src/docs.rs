//! Doc comments as descriptions.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comments, as one `&'static str` expression; `""` for none.
///
/// Literal lines lose the space after the slashes and are joined here. Any other value, such as
/// `#[doc = include_str!("…")]`, remains an expression.
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

/// Whether there is a doc comment.
pub(crate) fn has_any(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| doc_value(attribute).is_some())
}

/// The value of a doc comment.
pub(crate) fn doc_value(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => Some(&meta.value),
        _ => None,
    }
}

fn push_lines(text: &mut String, lines: &str) {
    // Only a block comment has several lines.
    let inner: Vec<&str> = if lines.contains('\n') {
        block(lines)
    } else {
        lines.lines().map(without_space).collect()
    };
    let trimmed: Vec<_> = inner.into_iter().map(str::trim_end).collect();
    text.push_str(&trimmed.join("\n"));
}

/// The lines of a block comment without its margin: the stars, or else the common indentation after the first line.
fn block(lines: &str) -> Vec<&str> {
    let (first, rest) = lines.split_once('\n').unwrap_or((lines, ""));
    let written = || rest.lines().filter(|line| !line.trim().is_empty());
    let has_stars = written().all(|line| unstarred(line).is_some());
    let margin = written()
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let rest = rest.lines().map(|line| match unstarred(line) {
        Some(text) if has_stars => text,
        _ => line.get(margin..).unwrap_or(line),
    });
    std::iter::once(without_space(first)).chain(rest).collect()
}

/// A line without the space after the slashes.
fn without_space(line: &str) -> &str {
    line.strip_prefix(' ').unwrap_or(line)
}

/// A line of a block comment without the star of its margin. A star in any other place begins a list item.
fn unstarred(line: &str) -> Option<&str> {
    let bare = line.trim_start();
    let rest = bare.strip_prefix('*')?;
    let is_margin = line.len() > bare.len() && (rest.is_empty() || rest.starts_with(' '));
    is_margin.then(|| without_space(rest))
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
        for (block, expected) in [
            ("\n * Formats:\n * - csv\n ", "Formats:\n- csv"),
            ("\n * First.\n *\n * Second.\n ", "First.\n\nSecond."),
            ("\n    First.\n\n    Second.\n", "First.\n\nSecond."),
            (
                " First.\n    - item\n      more\n ",
                "First.\n- item\n  more",
            ),
            (
                "\n    Formats:\n\n    * csv\n      * old\n",
                "Formats:\n\n* csv\n  * old",
            ),
            ("\n  Formats:\n  * csv\n  *", "Formats:\n* csv\n*"),
        ] {
            let block: Attribute = parse_quote!(#[doc = #block]);
            assert_eq!(text(&[block]), expected);
        }
    }
}
