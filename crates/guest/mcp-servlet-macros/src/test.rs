//! `#[test]`: a function that takes a client becomes a test that runs natively and against the wasm module.

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Path, Type};

use crate::attributes::{CratePath, Entries, Key, key};
use crate::diagnostics::Diagnostics;
use crate::function::FnHead;
use crate::function::head::{Param, Pattern};

/// The options of the attribute.
#[derive(Default)]
pub(crate) struct Options {
    krate: CratePath,
    /// The servlet to test; by default the one of the crate.
    servlet: Option<Path>,
}

/// The options of `#[test]`.
pub(crate) const KEYS: &[Key<Options>] = &[key!(servlet: path), key!(crate)];

/// A test with the function's name that contains the function, or the errors.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let mut options = Options::default();
    if let Some(entries) = Entries::parse_arguments(attribute, &mut diagnostics) {
        entries.read("test", KEYS, &mut options, &mut diagnostics);
    }
    let Some(head) = diagnostics.ok(FnHead::parse("test", item.clone())) else {
        return [item, diagnostics.into_tokens()].into_iter().collect();
    };
    check_head(&head, &mut diagnostics);
    if !diagnostics.is_empty() {
        return [item, diagnostics.into_tokens()].into_iter().collect();
    }
    let private = options.krate.private();
    let servlet = options
        .servlet
        .map_or_else(|| quote!(crate::SERVLET), Path::into_token_stream);
    let (attributes, name, output) = (&head.attributes, &head.name, &head.output);
    let function = without_attributes(item);
    quote! {
        #(#attributes)*
        #[::core::prelude::v1::test]
        fn #name() #output {
            #function
            #private::test(&#servlet, #name)
        }
    }
}

/// Checks that the function is not `async` or generic and takes nothing but the client.
fn check_head(head: &FnHead, diagnostics: &mut Diagnostics) {
    let name = &head.name;
    for qualifier in &head.qualifiers {
        let message = format!("test `{name}` cannot be `{qualifier}`\nhelp: remove `{qualifier}`");
        diagnostics.error(qualifier, message);
    }
    if !head.generics.params.is_empty() {
        let message = format!("test `{name}` cannot be generic\nhelp: name concrete types");
        diagnostics.error(&head.generics, message);
    }
    if !matches!(&*head.parameters, [only] if is_reference(only)) {
        let message = format!(
            "test `{name}` must have one parameter of type `&Client`\nhelp: write `fn {name}(client: &Client)`"
        );
        diagnostics.error(name, message);
    }
}

fn is_reference(param: &Param) -> bool {
    matches!(&param.pattern, Pattern::Name(_, ty) if matches!(**ty, Type::Reference(_)))
}

/// The function without its attributes, otherwise unchanged.
fn without_attributes(item: TokenStream) -> TokenStream {
    let parser = |input: ParseStream<'_>| {
        input.call(Attribute::parse_outer)?;
        input.parse::<TokenStream>()
    };
    parser.parse2(item).unwrap_or_default()
}
