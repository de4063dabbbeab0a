//! `#[derive(Schema)]`: `read` makes a `Shape` of a type and serde's attributes, and `emit` its schema.

mod case;
mod emit;
mod nodes;
mod options;
mod read;
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
    let shape = read::read(&input, &options, &mut diagnostics);
    let mut output = match shape {
        Some(shape) if diagnostics.is_empty() => emit::implementation(&input, &options, &shape),
        _ => emit::placeholder(&input, &options),
    };
    output.extend(diagnostics.into_tokens());
    output
}
