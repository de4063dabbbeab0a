//! `#[derive(Schema)]`: read serde's attributes, check, expand.

mod case;
mod emit;
mod options;
mod shape;
#[cfg(test)]
mod tests;
mod variants;

use proc_macro2::TokenStream;
use syn::DeriveInput;

#[cfg(test)]
pub(crate) use self::options::{FIELD_KEYS, TYPE_KEYS};
use crate::diagnostics::Diagnostics;

/// The implementation of `Schema`, with the errors if there are any.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let Some(input) = diagnostics.ok(syn::parse2::<DeriveInput>(item)) else {
        return diagnostics.into_tokens();
    };
    let options = options::TypeOptions::parse(&input.attrs, &mut diagnostics);
    let node = shape::node(&input, &options, &mut diagnostics);
    let mut output = match node {
        Some(node) if diagnostics.is_empty() => emit::implementation(&input, &options, &node),
        _ => emit::placeholder(&input, &options),
    };
    output.extend(diagnostics.into_tokens());
    output
}
