//! The signature of a function; the macros do not parse its body.

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Generics, Ident, Lifetime, LitStr, ReturnType, Token, Type, Visibility,
    parenthesized,
};

/// Everything before the body.
pub(crate) struct FnHead {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    /// `async`, `unsafe`, `extern`, as written.
    pub(crate) qualifiers: Vec<TokenTree>,
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) parameters: Vec<Param>,
    pub(crate) output: ReturnType,
}

/// One parameter.
pub(crate) struct Param {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) pattern: Pattern,
}

/// The pattern of a parameter.
pub(crate) enum Pattern {
    /// `name: Type`
    Name(Ident, Box<Type>),
    /// `self` in any form.
    Receiver(Token![self]),
    /// Any other pattern, such as a tuple.
    Other(TokenStream),
}

impl FnHead {
    /// Whether there is a `self` parameter.
    pub(crate) fn has_receiver(&self) -> bool {
        self.parameters
            .iter()
            .any(|param| matches!(param.pattern, Pattern::Receiver(_)))
    }
}

/// The `#[cfg]`s of the function.
pub(crate) fn cfgs(head: &FnHead) -> Vec<&Attribute> {
    head.attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .collect()
}

impl FnHead {
    /// The signature of the function under `#[attribute]`.
    pub(crate) fn parse(attribute: &str, item: TokenStream) -> syn::Result<Self> {
        let parser = |input: ParseStream<'_>| Self::read(attribute, input);
        parser.parse2(item)
    }

    fn read(attribute: &str, input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let qualifiers = qualifiers(input)?;
        if !input.peek(Token![fn]) {
            let message = format!("`#[{attribute}]` is for functions\nhelp: put it on a `fn`");
            return Err(syn::Error::new(input.span(), message));
        }
        input.parse::<Token![fn]>()?;
        let name = input.parse()?;
        let generics = input.parse()?;
        let parameters;
        parenthesized!(parameters in input);
        let parameters = Punctuated::<Param, Token![,]>::parse_terminated(&parameters)?;
        let output = input.parse()?;
        input.parse::<TokenStream>()?;
        let parameters = parameters.into_iter().collect();
        Ok(Self {
            attributes,
            visibility,
            qualifiers,
            name,
            generics,
            parameters,
            output,
        })
    }
}

fn qualifiers(input: ParseStream<'_>) -> syn::Result<Vec<TokenTree>> {
    let mut qualifiers = Vec::new();
    input.parse::<Option<Token![const]>>()?;
    while input.peek(Token![async]) || input.peek(Token![unsafe]) || input.peek(Token![extern]) {
        qualifiers.push(input.parse()?);
        input.parse::<Option<LitStr>>()?;
    }
    Ok(qualifiers)
}

impl Parse for Param {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let pattern = match receiver(input)? {
            Some(receiver) => Pattern::Receiver(receiver),
            None => pattern(input)?,
        };
        Ok(Self {
            attributes,
            pattern,
        })
    }
}

/// `self`, `mut self`, `&self`, `&'a mut self`, `self: Type`.
fn receiver(input: ParseStream<'_>) -> syn::Result<Option<Token![self]>> {
    let ahead = input.fork();
    ahead.parse::<Option<Token![&]>>()?;
    ahead.parse::<Option<Lifetime>>()?;
    ahead.parse::<Option<Token![mut]>>()?;
    if !ahead.peek(Token![self]) {
        return Ok(None);
    }
    let receiver = ahead.parse()?;
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(Some(receiver))
}

/// The type without the invisible brackets that `macro_rules!` puts around `$ty:ty`.
fn bare(ty: Type) -> Type {
    match ty {
        Type::Group(group) => bare(*group.elem),
        _ => ty,
    }
}

fn pattern(input: ParseStream<'_>) -> syn::Result<Pattern> {
    let ahead = input.fork();
    ahead.parse::<Option<Token![mut]>>()?;
    if ahead.peek(Ident::peek_any) && ahead.peek2(Token![:]) && !ahead.peek2(Token![::]) {
        input.parse::<Option<Token![mut]>>()?;
        let name = input.call(Ident::parse_any)?;
        input.parse::<Token![:]>()?;
        return Ok(Pattern::Name(name, Box::new(bare(input.parse()?))));
    }
    let mut tokens = TokenStream::new();
    while !input.is_empty() && (input.peek(Token![::]) || !input.peek(Token![:])) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    input.parse::<Token![:]>()?;
    input.parse::<Type>()?;
    Ok(Pattern::Other(tokens))
}
