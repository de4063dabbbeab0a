//! Type aliases and newtypes.

use quote::quote;
use syn::{Item, Type, parse_quote};

use crate::ir::{self, TypeDef};
use crate::lower::complexity::{FIELD, is_complex};
use crate::types::{docs, ident};

/// `type Name = ty;`.
pub(super) fn alias(def: &TypeDef, ty: &Type) -> Item {
    let docs = docs::attributes(def.docs.as_deref(), 0);
    let name = ident(&def.name.rust);
    parse_quote! {
        #(#docs)*
        pub type #name = #ty;
    }
}

/// A struct with one field, for a type that contains itself.
pub(super) fn newtype(def: &TypeDef, content: &ir::Item, ty: &Type) -> Item {
    let docs = docs::attributes(def.docs.as_deref(), 0);
    let complex = is_complex(content, FIELD).then(|| {
        quote! {
            #[allow(clippy::type_complexity, reason = "it is what the schema nests")]
        }
    });
    let name = ident(&def.name.rust);
    parse_quote! {
        #(#docs)*
        #[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
        #complex
        #[serde(transparent)]
        pub struct #name(pub #ty);
    }
}
