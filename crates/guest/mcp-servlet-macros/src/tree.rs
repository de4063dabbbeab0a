//! Data in our attributes: JSON, with unquoted words allowed as keys and as names from a fixed list.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, LitStr, Token, braced, bracketed};

use crate::function::{json_literal, json_string};

/// One value.
pub(crate) struct Tree {
    pub(crate) kind: Kind,
    /// The source tokens, for errors.
    pub(crate) tokens: TokenStream,
}

/// The type of a value.
pub(crate) enum Kind {
    Text(String),
    /// A number, `true`, `false` or `null`.
    Literal(String),
    /// An unquoted word that is not JSON.
    Word(String),
    List(Vec<Tree>),
    Object(Vec<Member>),
}

/// `key: value`
pub(crate) struct Member {
    pub(crate) key: Key,
    pub(crate) value: Tree,
}

/// A key, quoted or not.
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) tokens: TokenStream,
}

impl Tree {
    /// The value as JSON, or the unquoted word in it that is not JSON.
    pub(crate) fn json(&self) -> Result<String, &Self> {
        Ok(match &self.kind {
            Kind::Text(text) => json_string(text),
            Kind::Literal(json) => json.clone(),
            Kind::Word(_) => return Err(self),
            Kind::List(items) => {
                let items = items
                    .iter()
                    .map(Self::json)
                    .collect::<Result<Vec<_>, _>>()?;
                format!("[{}]", items.join(","))
            }
            Kind::Object(members) => {
                let members = members.iter().map(|member| {
                    let value = member.value.json()?;
                    Ok(format!("{}:{value}", json_string(&member.key.name)))
                });
                format!("{{{}}}", members.collect::<Result<Vec<_>, _>>()?.join(","))
            }
        })
    }

    /// A string or an unquoted word.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(name) | Kind::Word(name) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list; anything else is a list of one.
    pub(crate) fn items(&self) -> &[Self] {
        match &self.kind {
            Kind::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }
}

impl Parse for Tree {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let tokens = written(input);
        let kind = if input.peek(syn::token::Bracket) {
            let inside;
            bracketed!(inside in input);
            Kind::List(list(&inside)?)
        } else if input.peek(syn::token::Brace) {
            let inside;
            braced!(inside in input);
            Kind::Object(list(&inside)?)
        } else if input.peek(Ident::peek_any) && !input.peek(syn::LitBool) {
            match input.call(Ident::parse_any)?.to_string() {
                null if null == "null" => Kind::Literal(null),
                word => Kind::Word(word),
            }
        } else {
            literal(input)?
        };
        Ok(Self { kind, tokens })
    }
}

impl Parse for Member {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            Key {
                name: text.value(),
                tokens: text.into_token_stream(),
            }
        } else {
            let word = input.call(Ident::parse_any)?;
            Key {
                name: word.unraw().to_string(),
                tokens: word.into_token_stream(),
            }
        };
        input.parse::<Token![:]>()?;
        Ok(Self {
            key,
            value: input.parse()?,
        })
    }
}

fn list<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    let items = Punctuated::<T, Token![,]>::parse_terminated(input)?;
    Ok(items.into_iter().collect())
}

fn literal(input: ParseStream<'_>) -> syn::Result<Kind> {
    if input.peek(LitStr) {
        return Ok(Kind::Text(input.parse::<LitStr>()?.value()));
    }
    let at = input.span();
    let mut tokens = TokenStream::new();
    if input.peek(Token![-]) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    tokens.extend([input.parse::<TokenTree>()?]);
    json_literal(&tokens)
        .map(Kind::Literal)
        .ok_or_else(|| syn::Error::new(at, "invalid JSON value"))
}

/// The tokens of the next value.
fn written(input: ParseStream<'_>) -> TokenStream {
    let ahead = input.fork();
    let sign = ahead.peek(Token![-]);
    (0..=usize::from(sign))
        .filter_map(|_| ahead.parse::<TokenTree>().ok())
        .collect()
}
