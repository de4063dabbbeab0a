//! `new` with the required fields, so that a later optional field breaks nobody.

use quote::quote;
use syn::{Item, parse_quote};

use crate::document::Scalar;
use crate::ir::Type;
use crate::polish::Paths;
use crate::polish::structs::Field;

/// More parameters than this are no help, and a lint of clippy.
const MAX_PARAMETERS: usize = 7;

/// The constructor, unless `Default` already is one.
pub(super) fn item(ty: &syn::Ident, fields: &[Field<'_>], paths: &Paths) -> Option<Item> {
    let required: Vec<_> = fields.iter().filter(|f| f.def.required).collect();
    if required.is_empty() || required.len() > MAX_PARAMETERS {
        return None;
    }
    let into = paths.prelude_path("Into");
    let parameters = required.iter().map(|field| {
        let (ident, ty) = (&field.ident, &field.ty);
        if is_text(field) {
            quote!(#ident: impl #into<#ty>)
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
    let rest = (required.len() < fields.len()).then(|| quote!(..Self::default()));
    let doc = match rest {
        Some(_) => " With the required fields; the others are `None`.",
        None => " With its fields.",
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

/// Whether the field is a plain `String`, which callers have in other forms.
fn is_text(field: &Field<'_>) -> bool {
    let text = matches!(
        field.def.value.ty,
        Type::Scalar(Scalar { ty: "string", .. })
    );
    text && !field.def.is_option()
}
