//! A section of `export!`: the entry of each function, and the checks at its name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Path, Token, Type};

use crate::function::emit;

/// `[private] Trait CONSTANT: Type, check; functions`
struct Listed {
    /// The path of `mcp_servlet::__private`.
    private: TokenStream,
    /// The trait that each function's marker type implements.
    kind: Ident,
    /// The constant of the trait that is the entry.
    constant: Ident,
    /// The type of the entries.
    ty: Type,
    /// The function that reports duplicate names.
    check: Ident,
    functions: Punctuated<Function, Token![,]>,
}

/// One function, with its `#[cfg]`s.
struct Function {
    attributes: Vec<Attribute>,
    path: Path,
}

/// The entries as an expression, a slice.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    syn::parse2::<Listed>(input)
        .map_or_else(syn::Error::into_compile_error, |listed| entries(&listed))
}

fn entries(listed: &Listed) -> TokenStream {
    let Listed {
        private,
        ty,
        check,
        functions,
        ..
    } = listed;
    let attributes: Vec<_> = functions
        .iter()
        .map(|function| &function.attributes)
        .collect();
    let entries = functions.iter().map(|function| entry(listed, function));
    let numbers: Vec<_> = (0..functions.len()).collect();
    let checks = functions
        .iter()
        .zip(&numbers)
        .skip(1)
        .map(|(function, number)| {
            let attributes = &function.attributes;
            let check = quote!(#private::#check(__ENTRIES, __NUMBERS, #number));
            let check = emit::located(check, function.span());
            quote!(#(#attributes)* const _: () = #check;)
        });
    quote! {{
        const __ENTRIES: &[#ty] = &[#(#(#attributes)* #entries),*];
        const __NUMBERS: &[::core::primitive::usize] = &[#(#(#attributes)* #numbers),*];
        #(#checks)*
        __ENTRIES
    }}
}

/// The entry of one function: a constant of the marker type with its name.
///
/// The path is used as a type instead of being imported: an import is ambiguous if a crate has the same name, as the
/// servlet's own crate may have in its doctests.
fn entry(listed: &Listed, function: &Function) -> TokenStream {
    let Listed {
        private,
        kind,
        constant,
        ..
    } = listed;
    let path = from_macro(&function.path);
    quote!(<#path as #private::#kind>::#constant)
}

/// The path with the hygiene of this macro and the location of the author's path.
///
/// So rustc names the macro in an error about the path, and `export!` calls it by a name that says which attribute is
/// missing. Names of items mean the same in both cases, except `$crate`: its hygiene says which crate it is.
fn from_macro(path: &Path) -> TokenStream {
    let path = path.to_token_stream().into_iter().map(|mut token| {
        if token.to_string() != "$crate" {
            token.set_span(Span::mixed_site().located_at(token.span()));
        }
        token
    });
    path.collect()
}

impl Function {
    fn span(&self) -> Span {
        self.path
            .segments
            .last()
            .map_or_else(Span::call_site, |last| last.ident.span())
    }
}

impl Parse for Listed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let private;
        syn::bracketed!(private in input);
        let private = private.parse()?;
        let kind = input.parse()?;
        let constant = input.parse()?;
        input.parse::<Token![:]>()?;
        let ty = input.parse()?;
        input.parse::<Token![,]>()?;
        let check = input.parse()?;
        input.parse::<Token![;]>()?;
        let functions = input.parse_terminated(Function::parse, Token![,])?;
        Ok(Self {
            private,
            kind,
            constant,
            ty,
            check,
            functions,
        })
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
