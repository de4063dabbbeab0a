//! Warnings from macros.
//!
//! Stable Rust gives macros no way to warn. The expansion therefore uses a deprecated item at the author's name.
//! `#[allow(deprecated)]` on the author's item silences the warning.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::Attribute;

/// A warning at a name of an item with these attributes.
pub(crate) fn warning(at: &Ident, attributes: &[&Attribute], message: &str) -> TokenStream {
    let attributes = allow_and_cfg(attributes);
    quote_spanned! {at.span()=>
        #(#attributes)*
        const _: () = {
            #[deprecated(note = #message)]
            const __INCOMPLETE: () = ();
            __INCOMPLETE
        };
    }
}

/// A warning about a default that the schema does not show, if `lost`, a constant expression, is true.
///
/// Only `const` evaluation knows some defaults. A generic argument therefore selects the constant to use: a
/// deprecated one, or one that is not.
pub(crate) fn lost_default(
    lost: &TokenStream,
    at: &Ident,
    attributes: &[&Attribute],
    message: &str,
) -> TokenStream {
    let attributes = allow_and_cfg(attributes);
    quote_spanned! {at.span()=>
        #(#attributes)*
        const _: () = {
            enum __Default<const LOST: ::core::primitive::bool> {}
            impl __Default<false> {
                const __IN_SCHEMA: () = ();
            }
            impl __Default<true> {
                #[deprecated(note = #message)]
                const __IN_SCHEMA: () = ();
            }
            __Default::<{ #lost }>::__IN_SCHEMA
        };
    }
}

/// The attributes that also apply to the warning.
fn allow_and_cfg<'a>(attributes: &'a [&Attribute]) -> impl Iterator<Item = &'a Attribute> {
    let attributes = attributes.iter().copied();
    attributes.filter(|each| each.path().is_ident("allow") || each.path().is_ident("cfg"))
}
