//! Enums whose variants carry structs, told apart by a property of the JSON object.

use quote::quote;
use syn::{Item, parse_quote};

use crate::ir::{TypeDef, TypeId, Union};
use crate::json_schema::Slot;
use crate::spell::{Missing, Spelling};
use crate::types::{docs, ident};

/// The enum, its default (the first member), and conversions from its members.
pub(super) fn items(
    id: TypeId,
    def: &TypeDef,
    union: &Union,
    spelling: &Spelling,
) -> Result<Vec<Item>, Missing> {
    let docs = docs::attributes(def.docs.as_deref(), 0);
    let name = ident(&def.name.rust);
    let tag = &union.tag;
    let mut variants = Vec::new();
    let mut items = Vec::new();
    for (index, (names, member)) in union.members.iter().enumerate() {
        let (variant, wire) = (ident(&names.rust), &names.wire);
        let ty = spelling.get(Slot::Field(id, index))?;
        let rename = (names.rust != *wire).then(|| quote!(#[serde(rename = #wire)]));
        let doc = format!(" `{wire}` in JSON.");
        variants.push(quote!(#[doc = #doc] #rename #variant(#ty)));
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
            #[serde(tag = #tag)]
            pub enum #name { #(#variants,)* }
        },
    );
    Ok(items)
}
