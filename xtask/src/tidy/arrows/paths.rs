//! Finds the paths in code, including those in groups and macros.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

/// All paths in an item. Names behind a dot are fields and methods, not paths.
pub(super) fn find(tokens: TokenStream) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    collect(tokens, &mut all);
    all
}

fn collect(tokens: TokenStream, all: &mut Vec<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            TokenTree::Punct(dot) if dot.as_char() == '.' && is_name(tokens.get(at + 1)) => at += 2,
            // The code in it belongs to other crates.
            TokenTree::Ident(name) if is_quote(name, tokens.get(at + 1)) => at += 3,
            TokenTree::Ident(_) => at = path(&tokens, at, Vec::new(), all),
            TokenTree::Group(group) => {
                collect(group.stream(), all);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// Whether this is a macro that produces tokens.
fn is_quote(name: &Ident, next: Option<&TokenTree>) -> bool {
    let mut macros = ["quote", "quote_spanned", "parse_quote"].iter();
    let is_macro = matches!(next, Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
    is_macro && macros.any(|one| name == one)
}

fn is_name(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Ident(_)))
}

/// Reads one path and the paths of a group at its end; returns the index behind it.
fn path(
    tokens: &[TokenTree],
    from: usize,
    mut names: Vec<String>,
    all: &mut Vec<Vec<String>>,
) -> usize {
    let is_colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(one)) if one.as_char() == ':');
    let mut at = from;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(name)) => names.push(name.to_string()),
            Some(TokenTree::Group(group))
                if group.delimiter() == Delimiter::Brace && !names.is_empty() =>
            {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for part in inner
                    .split(|token| matches!(token, TokenTree::Punct(one) if one.as_char() == ','))
                {
                    path(part, 0, names.clone(), all);
                }
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if !(is_colon(at) && is_colon(at + 1)) {
            break;
        }
        at += 2;
    }
    let is_keyword = |name: &String| ["crate", "self", "super"].contains(&name.as_str());
    if !names.iter().all(is_keyword) {
        all.push(names);
    }
    at
}
