//! `#[derive(FromText)]`: a type with one field that is parsed from a string.

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Data, DeriveInput, Fields, Type};

use crate::attributes::{CratePath, Entries, Key, key};
use crate::diagnostics::Diagnostics;
use crate::docs;
use crate::function::{json_literal, json_token};

/// `#[text(…)]`
#[derive(Default)]
pub(crate) struct TextOptions {
    /// The function that parses the string; by default `FromStr` of the field's type.
    parse: Option<TokenStream>,
    example: Option<TokenStream>,
    format: Option<TokenStream>,
    krate: CratePath,
}

/// The options of `#[text]`.
pub(crate) const KEYS: &[Key<TextOptions>] = &[
    key!(parse: expression),
    key!(example: expression),
    key!(format: expression),
    key!(crate),
];

impl TextOptions {
    fn parse(attributes: &[Attribute], diagnostics: &mut Diagnostics) -> Self {
        let mut options = Self::default();
        let entries = Entries::called(attributes, "text", diagnostics);
        entries.read("text", KEYS, &mut options, diagnostics);
        options
    }
}

/// The implementations of `Deserialize` and `Schema`, or the errors.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let Some(input) = diagnostics.ok(syn::parse2::<DeriveInput>(item)) else {
        return diagnostics.into_tokens();
    };
    let options = TextOptions::parse(&input.attrs, &mut diagnostics);
    let mut output = implementations(&input, &options, &mut diagnostics);
    output.extend(diagnostics.into_tokens());
    output
}

fn implementations(
    input: &DeriveInput,
    options: &TextOptions,
    diagnostics: &mut Diagnostics,
) -> TokenStream {
    if !input.generics.params.is_empty() {
        let message = "a type that is read from text cannot be generic\nhelp: name concrete types";
        diagnostics.error(&input.generics, message);
        return TokenStream::new();
    }
    let (name, private) = (&input.ident, options.krate.private());
    let read = match (field(input, diagnostics), &options.parse) {
        (Some(_), Some(parse)) => quote!(#private::from_text(deserializer, #parse).map(Self)),
        (Some(field), None) => quote!(#private::from_str::<__D, #field>(deserializer).map(Self)),
        // This body compiles for any type, so that the reported error causes no further ones.
        (None, _) => {
            quote!(#private::from_text(deserializer, |_| ::core::result::Result::Err("")))
        }
    };
    let node = node(input, options, &private, diagnostics);
    quote! {
        #[automatically_derived]
        impl<'de> #private::serde::Deserialize<'de> for #name {
            fn deserialize<__D: #private::serde::Deserializer<'de>>(
                deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                #read
            }
        }
        #[automatically_derived]
        impl #private::Schema for #name {
            const NODE: &'static #private::Node = &#node;
        }
    }
}

fn node(
    input: &DeriveInput,
    options: &TextOptions,
    private: &TokenStream,
    diagnostics: &mut Diagnostics,
) -> TokenStream {
    let description = docs::description(&input.attrs);
    let mut node = quote!(#private::Node::parsed().with_description(#description));
    if let Some(format) = &options.format {
        node.extend(quote!(.with_format(#format)));
    }
    if let Some(example) = &options.example {
        let json = json_literal(example).filter(|json| json.starts_with('"'));
        if json.is_none() {
            let message = "`example` takes a string, because it is part of the schema";
            diagnostics.error(example, message);
        }
        let json = json_token(json);
        node.extend(quote!(.with_example(#json)));
    }
    node
}

/// The type of the one field.
fn field<'a>(input: &'a DeriveInput, diagnostics: &mut Diagnostics) -> Option<&'a Type> {
    let name = &input.ident;
    let at = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                return Some(&fields.unnamed[0].ty);
            }
            fields if fields.is_empty() => name.to_token_stream(),
            fields => fields.to_token_stream(),
        },
        _ => name.to_token_stream(),
    };
    let message = format!(
        "`FromText` needs a tuple struct with one field\nhelp: write `struct {name}(…);`, or derive `Deserialize` and `Schema`"
    );
    diagnostics.error(at, message);
    None
}
