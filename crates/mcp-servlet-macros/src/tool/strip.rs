//! The author's function without the attributes that only we understand.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The item with the doc comments and `#[arg]`s of its parameters removed, all else as it was.
///
/// It works on tokens, so that it does its work also on a function that does not parse.
pub(crate) fn without_parameter_attributes(item: TokenStream) -> TokenStream {
    let mut output = TokenStream::new();
    let mut after_fn = false;
    for token in item {
        match token {
            TokenTree::Ident(ref ident) if ident == "fn" => after_fn = true,
            TokenTree::Group(ref group) if after_fn && group.delimiter() == Delimiter::Parenthesis => {
                after_fn = false;
                let mut stripped = Group::new(Delimiter::Parenthesis, parameters(group.stream()));
                stripped.set_span(group.span());
                output.extend([TokenTree::Group(stripped)]);
                continue;
            }
            _ => {}
        }
        output.extend([token]);
    }
    output
}

fn parameters(tokens: TokenStream) -> TokenStream {
    let mut output = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_ours = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#')
            && matches!(tokens.peek(), Some(TokenTree::Group(group)) if is_ours(group));
        if is_ours {
            tokens.next();
        } else {
            output.extend([token]);
        }
    }
    output
}

/// Whether the brackets hold `doc …` or `arg …`.
fn is_ours(group: &Group) -> bool {
    let name = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket
        && matches!(name, Some(TokenTree::Ident(name)) if name == "doc" || name == "arg")
}
