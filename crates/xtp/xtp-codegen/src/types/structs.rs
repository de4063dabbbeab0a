//! Structs, with fields in the order of the schema and `None` for absent ones.

mod constructor;

use quote::quote;
use syn::{Item, Type, parse_quote};

use crate::ir::{self, Kind, Module, Struct, TypeDef, TypeId};
use crate::json_schema::Slot;
use crate::options::Options;
use crate::rust_types::{Missing, RustTypes};
use crate::types::{docs, ident};

/// A generated field.
struct Field<'a> {
    def: &'a ir::Field,
    ident: syn::Ident,
    ty: Type,
    presence: Presence,
}

/// The meaning of a missing key and of null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    /// The key is required, and null is not allowed.
    Required,
    /// The key is required, and null is allowed.
    RequiredOrNull,
    /// A missing key and null mean the same.
    Optional,
    /// A missing key and null mean different things.
    OptionalOrNull,
}

impl Presence {
    fn of_field(field: &ir::Field, options: &Options) -> Self {
        let any = field.value.ty == ir::Type::Any;
        match (field.required, field.is_option()) {
            (true, false) => Self::Required,
            (true, true) => Self::RequiredOrNull,
            (false, _) if any || (options.keep_null && field.value.nullable) => {
                Self::OptionalOrNull
            }
            (false, _) => Self::Optional,
        }
    }
}

/// The struct and its constructor.
pub(super) fn items(
    id: TypeId,
    def: &TypeDef,
    content: &Struct,
    rust_types: &RustTypes,
    options: &Options,
) -> Result<Vec<Item>, Missing> {
    let fields = content
        .fields
        .iter()
        .enumerate()
        .map(|(index, field)| {
            let ty = rust_types.get(Slot::Field(id, index))?;
            Ok(generated(field, ty, options))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let extra = match &content.extra {
        Some((name, _)) => {
            let (name, ty) = (ident(name), rust_types.get(Slot::Extra(id))?);
            Some(quote! {
                /// All further properties.
                #[serde(flatten)]
                pub #name: #ty,
            })
        }
        None => None,
    };
    let name = ident(&def.name.rust);
    let docs = docs::attributes(def.docs.as_deref(), 0);
    let tokens = fields.iter().map(field_tokens);
    let item = parse_quote! {
        #(#docs)*
        #[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
        pub struct #name { #(#tokens,)* #extra }
    };
    let constructor = constructor::item(&name, &fields, extra.is_some());
    Ok([Some(item), constructor].into_iter().flatten().collect())
}

fn generated<'a>(field: &'a ir::Field, ty: &Type, options: &Options) -> Field<'a> {
    let presence = Presence::of_field(field, options);
    let ty = match presence {
        Presence::OptionalOrNull => parse_quote!(Option<#ty>),
        _ => ty.clone(),
    };
    Field {
        def: field,
        ident: ident(&field.name.rust),
        ty,
        presence,
    }
}

fn field_tokens(field: &Field<'_>) -> proc_macro2::TokenStream {
    let docs = docs::attributes(field.def.docs.as_deref(), 4);
    let serde = serde_attribute(field);
    let (ident, ty) = (&field.ident, &field.ty);
    quote! { #(#docs)* #serde pub #ident: #ty }
}

fn serde_attribute(field: &Field<'_>) -> Option<proc_macro2::TokenStream> {
    let mut parts = Vec::new();
    let (wire, rust) = (&field.def.name.wire, &field.def.name.rust);
    if rust.trim_start_matches("r#") != wire {
        parts.push(quote!(rename = #wire));
    }
    match field.presence {
        Presence::Required => {}
        // Without a function of its own, serde would read a missing field as null.
        Presence::RequiredOrNull => parts.push(quote!(
            deserialize_with = "::serde::Deserialize::deserialize"
        )),
        Presence::OptionalOrNull => parts.push(quote!(
            default,
            deserialize_with = "present",
            skip_serializing_if = "Option::is_none"
        )),
        Presence::Optional => parts.push(quote!(skip_serializing_if = "Option::is_none")),
    }
    (!parts.is_empty()).then(|| quote!(#[serde(#(#parts),*)]))
}

/// The function that reads a present null as a value.
pub(super) fn helper(module: &Module, options: &Options) -> Option<Item> {
    let structs = module.types.iter().filter_map(|def| match &def.kind {
        Kind::Struct(content) => Some(content),
        _ => None,
    });
    let mut presences = structs
        .flat_map(|content| &content.fields)
        .map(|field| Presence::of_field(field, options));
    let needed = presences.any(|presence| presence == Presence::OptionalOrNull);
    needed.then(|| {
        parse_quote! {
            /// Deserializes a field that is present, even if it is `null`.
            fn present<'de, D, T>(
                from: D,
            ) -> ::core::result::Result<::core::option::Option<T>, D::Error>
            where
                D: ::serde::Deserializer<'de>,
                T: ::serde::Deserialize<'de>,
            {
                T::deserialize(from).map(::core::option::Option::Some)
            }
        }
    })
}
