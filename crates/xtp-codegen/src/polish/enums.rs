//! Enums: typify's variants, with our order of derives and the first one as the default.

use quote::quote;
use syn::{ItemEnum, ItemImpl, parse_quote};

use crate::ir::{Names, TypeDef};
use crate::polish::{Missing, docs, missing};

/// The enum. As the official generators do, the first value is the default: it is what a
/// struct that requires the enum starts from.
pub(super) fn item(def: &TypeDef, values: &[Names], raw: ItemEnum) -> Result<ItemEnum, Missing> {
    for value in values {
        if !raw.variants.iter().any(|v| v.ident == value.rust) {
            return Err(missing(&format!("{}::{}", def.name.rust, value.rust)));
        }
    }
    let ident = raw.ident;
    let docs = docs::attributes(def.docs.as_deref(), 0);
    let variants = values.iter().enumerate().map(|(index, value)| {
        let default = (index == 0).then(|| quote!(#[default]));
        let wire = &value.wire;
        let rename = (value.rust != *wire).then(|| quote!(#[serde(rename = #wire)]));
        let ident = quote::format_ident!("{}", value.rust);
        // XTP cannot describe a value; what JSON calls it is what a reader wants to know.
        let doc = format!(" `{wire}` in JSON.");
        quote!(#[doc = #doc] #default #rename #ident)
    });
    Ok(parse_quote! {
        #(#docs)*
        #[derive(
            Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd,
            ::serde::Deserialize, ::serde::Serialize,
        )]
        pub enum #ident { #(#variants,)* }
    })
}

/// The last word of the trait that is implemented.
pub(super) fn trait_name(item: &ItemImpl) -> Option<String> {
    let (path, _) = item.trait_.as_ref()?;
    Some(path.segments.last()?.ident.to_string())
}
