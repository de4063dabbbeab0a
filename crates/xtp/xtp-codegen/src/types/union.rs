//! Enums whose variants hold the types of a union's members.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Item, parse_quote};

use crate::ir::{Tagging, TypeDef, TypeId, Union};
use crate::json_schema::Slot;
use crate::rust_types::{Missing, RustTypes};
use crate::suggest::listed;
use crate::types::{docs, ident};

/// The enum, its default (the first member), and conversions from its members.
pub(super) fn items(
    id: TypeId,
    def: &TypeDef,
    union: &Union,
    rust_types: &RustTypes,
) -> Result<Vec<Item>, Missing> {
    let docs = docs::attributes(def.docs.as_deref(), 0);
    let name = ident(&def.name.rust);
    let serde = serde_attribute(&name, union);
    let mut variants = Vec::new();
    let mut items = Vec::new();
    for (index, (names, member)) in union.members.iter().enumerate() {
        let (variant, wire) = (ident(&names.rust), &names.wire);
        let ty = rust_types.get(Slot::Field(id, index))?;
        let (doc, rename) = match &union.tagging {
            Tagging::Union(_) => {
                let rename = (names.rust != *wire).then(|| quote!(#[serde(rename = #wire)]));
                (format!("`{wire}` in JSON."), rename)
            }
            Tagging::Members(tag) => (format!("`{tag}` is `{wire}` in JSON."), None),
            Tagging::Content => (format!("The schema `{wire}`."), None),
        };
        let docs = docs::attributes(Some(&doc), 4);
        variants.push(quote!(#(#docs)* #rename #variant(#ty)));
        if index == 0 {
            items.push(parse_quote! {
                impl ::core::default::Default for #name {
                    fn default() -> Self {
                        Self::#variant(::core::default::Default::default())
                    }
                }
            });
        }
        let same = union.members.iter().filter(|(_, other)| other == member);
        if same.count() == 1 {
            items.push(parse_quote! {
                impl ::core::convert::From<#ty> for #name {
                    fn from(value: #ty) -> Self {
                        Self::#variant(value)
                    }
                }
            });
        }
    }
    items.insert(
        0,
        parse_quote! {
            #(#docs)*
            #[derive(Clone, Debug, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
            #[allow(clippy::large_enum_variant, reason = "the schema has members of any size")]
            #[serde(#serde)]
            pub enum #name { #(#variants,)* }
        },
    );
    Ok(items)
}

/// How serde selects the variant, and its error for a value that belongs to none.
fn serde_attribute(name: &syn::Ident, union: &Union) -> TokenStream {
    let wire: Vec<_> = union
        .members
        .iter()
        .map(|(names, _)| names.wire.as_str())
        .collect();
    let values = listed(&wire);
    let expecting = match &union.tagging {
        Tagging::Union(tag) => return quote!(tag = #tag),
        Tagging::Members(tag) => {
            format!(
                "`{name}` expects an object whose `{tag}` is one of {values}, and what belongs to it"
            )
        }
        Tagging::Content => format!("`{name}` expects one of {values}"),
    };
    quote!(untagged, expecting = #expecting)
}
