//! The author's function without the attributes that the compiler rejects on parameters.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The item without the doc comments and `#[arg]`s of its parameters, otherwise unchanged.
///
/// It works on tokens, so that it handles functions that do not parse.
pub(crate) fn without_parameter_attributes(item: TokenStream) -> TokenStream {
    let mut output = TokenStream::new();
    let mut place = Place::Before;
    let mut after_minus = false;
    for token in item {
        place = match (place, &token) {
            (Place::Before, TokenTree::Group(group)) if group.delimiter() == Delimiter::None => {
                let inside = without_parameter_attributes(group.stream());
                output.extend([regrouped(group, inside)]);
                continue;
            }
            (Place::Before, TokenTree::Ident(ident)) if ident == "fn" => Place::Head { depth: 0 },
            (Place::Head { depth }, TokenTree::Punct(punct)) => match punct.as_char() {
                '<' => Place::Head { depth: depth + 1 },
                '>' if !after_minus => Place::Head {
                    depth: depth.saturating_sub(1),
                },
                _ => Place::Head { depth },
            },
            (Place::Head { depth: 0 }, TokenTree::Group(group))
                if group.delimiter() == Delimiter::Parenthesis =>
            {
                output.extend([regrouped(group, parameters(group.stream()))]);
                place = Place::After;
                continue;
            }
            _ => place,
        };
        after_minus = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '-');
        output.extend([token]);
    }
    output
}

/// The position in the function, relative to its parameters.
#[derive(Clone, Copy)]
enum Place {
    Before,
    /// After `fn`, inside `depth` open `<`.
    Head {
        depth: usize,
    },
    After,
}

fn regrouped(group: &Group, stream: TokenStream) -> TokenTree {
    let mut regrouped = Group::new(group.delimiter(), stream);
    regrouped.set_span(group.span());
    TokenTree::Group(regrouped)
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
