//! `export!`: parse the declaration and its sections, and expand them to a static and the wasm exports.
//!
//! The macro of this name in `mcp-servlet` passes `($crate)` and what the author wrote.

mod emit;
mod function;
mod sections;
#[cfg(test)]
mod tests;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Attribute, Token, Visibility};

pub(crate) use self::function::marker;
use self::sections::Sections;
use crate::diagnostics::Diagnostics;

/// `#[…] pub static NAME = { … }`
struct Declaration {
    /// The path of `mcp_servlet`.
    krate: TokenStream,
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    /// The tokens between the braces.
    sections: TokenStream,
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let krate;
        syn::parenthesized!(krate in input);
        let krate = krate.parse()?;
        Self::after_crate(krate, input).map_err(|error| {
            let message = "`export!` takes one declaration\nhelp: write `export!(static SERVLET = { tools: [greet] });`";
            syn::Error::new(error.span(), message)
        })
    }
}

impl Declaration {
    fn after_crate(krate: TokenStream, input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![static]>()?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let sections;
        syn::braced!(sections in input);
        let sections = sections.parse()?;
        input.parse::<Option<Token![;]>>()?;
        if !input.is_empty() {
            return Err(input.error("one declaration"));
        }
        Ok(Self {
            krate,
            attributes,
            visibility,
            name,
            sections,
        })
    }
}

/// The static and the wasm exports; sections with errors are left out, so that they cause no further ones.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let declaration = match syn::parse2::<Declaration>(input) {
        Ok(declaration) => declaration,
        Err(error) => return error.into_compile_error(),
    };
    let mut diagnostics = Diagnostics::default();
    let tokens = declaration.sections.clone();
    let parse = |input: ParseStream<'_>| Ok(Sections::parse(input, &mut diagnostics));
    let sections = parse.parse2(tokens).unwrap_or_default();
    let servlet = emit::servlet(&declaration, &sections);
    let errors = diagnostics.into_tokens();
    quote!(#servlet #errors)
}
