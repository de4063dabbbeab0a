//! The constructor `new` with the required fields, so that a new optional field breaks no caller.

use quote::quote;
use syn::{Item, parse_quote};

use super::Field;
use crate::document::Scalar;
use crate::ir::Type;

/// With more parameters, the constructor would not help, and clippy would warn.
const MAX_PARAMETERS: usize = 7;

/// The constructor, unless no field is required, or too many are.
pub(super) fn item(ty: &syn::Ident, fields: &[Field<'_>], has_extra: bool) -> Option<Item> {
    let required: Vec<_> = fields.iter().filter(|f| f.def.required).collect();
    if required.is_empty() || required.len() > MAX_PARAMETERS {
        return None;
    }
    let parameters = required.iter().map(|field| {
        let (ident, ty) = (&field.ident, &field.ty);
        if is_text(field) {
            quote!(#ident: impl Into<#ty>)
        } else {
            quote!(#ident: #ty)
        }
    });
    let values = required.iter().map(|field| {
        let ident = &field.ident;
        if is_text(field) {
            quote!(#ident: #ident.into())
        } else {
            quote!(#ident)
        }
    });
    let has_optional = required.len() < fields.len();
    let rest = (has_optional || has_extra).then(|| quote!(..Self::default()));
    let doc = match (has_optional, has_extra) {
        (true, false) => " With the required fields; the others are `None`.",
        (false, false) => " With its fields.",
        (_, true) => " With the required fields and nothing else.",
    };
    Some(parse_quote! {
        impl #ty {
            #[doc = #doc]
            #[must_use]
            pub fn new(#(#parameters),*) -> Self {
                Self { #(#values,)* #rest }
            }
        }
    })
}

/// Whether the field is a plain `String`, which callers also have as `&str`.
fn is_text(field: &Field<'_>) -> bool {
    field.def.value.ty == Type::Scalar(Scalar::String) && !field.def.is_option()
}
