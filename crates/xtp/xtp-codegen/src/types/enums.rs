//! Enums of strings.

use quote::quote;
use syn::{Item, parse_quote};

use crate::ir::{Kind, Module, Names, TypeDef};
use crate::names::Taken;
use crate::options::Options;
use crate::types::{docs, ident};

/// The enum and its conversions. As in the official generators, the first value is the default, from which a struct
/// that requires the enum starts.
pub(super) fn items(def: &TypeDef, values: &[Names], options: &Options) -> Vec<Item> {
    let name = ident(&def.name.rust);
    let docs = docs::attributes(def.docs.as_deref(), 0);
    let other = options.catch_all.then(|| catch_all(values));
    let variants = values.iter().enumerate().map(|(index, value)| {
        let default = (index == 0).then(|| quote!(#[default]));
        let (ident, wire) = (ident(&value.rust), &value.wire);
        let rename = (value.rust != *wire).then(|| quote!(#[serde(rename = #wire)]));
        // XTP has no descriptions of values, so the docs show the value in JSON.
        let doc = format!(" `{wire}` in JSON.");
        quote!(#[doc = #doc] #default #rename #ident)
    });
    let rest = other.as_ref().map(|other| {
        quote! {
            /// A value that the schema does not list.
            #[serde(untagged)]
            #other(String),
        }
    });
    // A variant that holds text cannot be copied.
    let copy = other.is_none().then(|| quote!(Copy,));
    let item: Item = parse_quote! {
        #(#docs)*
        #[derive(
            Clone, #copy Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd,
            ::serde::Deserialize, ::serde::Serialize,
        )]
        pub enum #name { #(#variants,)* #rest }
    };
    let mut items = vec![item, as_str(&name, values, other.as_ref()), display(&name)];
    if options.conversions {
        items.push(from_str(&name, values, other.as_ref()));
    }
    items
}

/// The variant for all values that the schema does not list.
fn catch_all(values: &[Names]) -> syn::Ident {
    let mut taken = Taken::default();
    for value in values {
        taken.take(&value.rust);
    }
    ident(&taken.take("Other"))
}

fn as_str(name: &syn::Ident, values: &[Names], other: Option<&syn::Ident>) -> Item {
    let arms = values.iter().map(|value| {
        let (ident, wire) = (ident(&value.rust), &value.wire);
        quote!(Self::#ident => #wire)
    });
    match other {
        Some(other) => parse_quote! {
            impl #name {
                /// The value as JSON has it, without quotes.
                pub fn as_str(&self) -> &str {
                    match self { #(#arms,)* Self::#other(value) => value }
                }
            }
        },
        None => parse_quote! {
            impl #name {
                /// The value as JSON has it, without quotes.
                pub const fn as_str(self) -> &'static str {
                    match self { #(#arms,)* }
                }
            }
        },
    }
}

fn display(name: &syn::Ident) -> Item {
    parse_quote! {
        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    }
}

fn from_str(name: &syn::Ident, values: &[Names], other: Option<&syn::Ident>) -> Item {
    let arms = values.iter().map(|value| {
        let (ident, wire) = (ident(&value.rust), &value.wire);
        quote!(#wire => Ok(Self::#ident))
    });
    let (error, rest) = match other {
        Some(other) => (
            quote!(::core::convert::Infallible),
            quote!(other => Ok(Self::#other(other.into()))),
        ),
        None => (
            quote!(UnknownValue),
            quote!(other => Err(UnknownValue(other.into()))),
        ),
    };
    parse_quote! {
        impl ::core::str::FromStr for #name {
            type Err = #error;

            fn from_str(text: &str) -> Result<Self, #error> {
                match text { #(#arms,)* #rest }
            }
        }
    }
}

/// The error of `from_str`, if an enum has a `from_str` that can fail.
pub(super) fn error(module: &Module, options: &Options) -> Vec<Item> {
    let mut types = module.types.iter();
    let any = types.any(|def| matches!(def.kind, Kind::Enum(_)));
    if !any || !options.conversions || options.catch_all {
        return Vec::new();
    }
    vec![
        parse_quote! {
            /// A string that is not a value of the enum.
            #[derive(Clone, Debug, Eq, PartialEq)]
            pub struct UnknownValue(pub String);
        },
        parse_quote! {
            impl ::core::fmt::Display for UnknownValue {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::write!(f, "`{}` is not one of the values", self.0)
                }
            }
        },
        parse_quote! {
            impl ::core::error::Error for UnknownValue {}
        },
    ]
}
