//! The type of dates for a crate whose own type does not read and write RFC 3339.

use syn::{Item, parse_quote};

use crate::document::Scalar;
use crate::ir::{Module, Type};
use crate::options::{Dates, Options, RFC_3339};
use crate::types::ident;

/// The struct around the type of `time`, if the schema has dates.
pub(super) fn items(module: &Module, options: &Options) -> Vec<Item> {
    let mut items = module.items();
    let any = items.any(|item| item.ty.has(&Type::Scalar(Scalar::DateTime)));
    if options.dates != Dates::Time || !any {
        return Vec::new();
    }
    let name = ident(RFC_3339);
    vec![
        parse_quote! {
            /// A date with its time and offset, in JSON as RFC 3339 has it.
            #[derive(
                Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd,
                ::serde::Deserialize, ::serde::Serialize,
            )]
            #[serde(transparent)]
            pub struct #name(#[serde(with = "::time::serde::rfc3339")] pub ::time::OffsetDateTime);
        },
        parse_quote! {
            impl Default for #name {
                fn default() -> Self {
                    Self(::time::OffsetDateTime::UNIX_EPOCH)
                }
            }
        },
        parse_quote! {
            impl From<::time::OffsetDateTime> for #name {
                fn from(date: ::time::OffsetDateTime) -> Self {
                    Self(date)
                }
            }
        },
    ]
}
