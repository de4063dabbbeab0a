//! A function in a list of `export!`.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Path};

/// The path of a function, with its `#[cfg]`s.
pub(super) struct Function {
    pub(super) attributes: Vec<Attribute>,
    pub(super) path: Path,
}

impl Function {
    /// The function's name.
    pub(super) fn span(&self) -> Span {
        let name = self.path.segments.last();
        name.map_or_else(Span::call_site, |last| last.ident.span())
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attributes: input.call(Attribute::parse_outer)?,
            path: input.call(Path::parse_mod_style)?,
        })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.path.to_tokens(tokens);
    }
}

/// The marker type of a function: its path with the hygiene of this macro and the location of the author's path.
///
/// So rustc names the macro in an error about the path, and `export!` calls it by a name that says which attribute is
/// missing. Names of items mean the same in both cases, except `$crate`: its hygiene says which crate it is.
///
/// The path is used as a type instead of being imported: an import is ambiguous if a crate has the same name, as the
/// servlet's own crate may have in its doctests.
pub(crate) fn marker(path: TokenStream) -> TokenStream {
    let path = path.into_iter().map(|mut token| {
        if token.to_string() != "$crate" {
            token.set_span(Span::mixed_site().located_at(token.span()));
        }
        token
    });
    path.collect()
}
