//! Structs: fields in the order of the schema, absent ones as `None`.

use quote::{format_ident, quote};
use syn::{Item, ItemStruct, LitStr, Type, parse_quote};

use crate::ir::{self, Kind, TypeDef};
use crate::polish::paths::joined;
use crate::polish::{Missing, Paths, constructor, docs, missing};

/// A field as it is generated.
pub(super) struct Field<'a> {
    pub(super) def: &'a ir::Field,
    pub(super) ident: syn::Ident,
    pub(super) ty: Type,
}

/// The struct and its constructor.
pub(super) fn items(
    def: &TypeDef,
    fields: &[ir::Field],
    raw: &ItemStruct,
    paths: &mut Paths,
) -> Result<Vec<Item>, Missing> {
    let fields = fields.iter().map(|field| generated(def, field, raw, paths));
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let ident = &raw.ident;
    let docs = docs::attributes(def.docs.as_deref(), 0);
    let spelt = fields.iter().map(|field| spell(field, paths));
    let item = parse_quote! {
        #(#docs)*
        #[derive(Clone, Debug, Default, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
        pub struct #ident { #(#spelt,)* }
    };
    let constructor = constructor::item(ident, &fields, paths);
    Ok([Some(item), constructor].into_iter().flatten().collect())
}

fn generated<'a>(
    def: &TypeDef,
    field: &'a ir::Field,
    raw: &ItemStruct,
    paths: &mut Paths,
) -> Result<Field<'a>, Missing> {
    let wire = &field.name.wire;
    let found = raw.fields.iter().find(|raw| wire_name(raw) == *wire);
    let found = found.ok_or_else(|| missing(&format!("{}.{wire}", def.name.wire)))?;
    let mut ty = paths.respell(found.ty.clone());
    let option = paths.prelude_path("Option");
    let is_option = matches!(&ty, Type::Path(ty) if joined(&ty.path) == joined(&option));
    if field.is_option() && !is_option {
        ty = parse_quote!(#option<#ty>);
    }
    Ok(Field {
        def: field,
        ident: ident(&field.name.rust),
        ty,
    })
}

/// The name that JSON has for a field of typify's.
fn wire_name(field: &syn::Field) -> String {
    let mut renamed = None;
    for attr in field.attrs.iter().filter(|a| a.path().is_ident("serde")) {
        // Attributes without a value end the parse early, after `rename`, which comes first.
        let _ = attr.parse_nested_meta(|meta| {
            let value: LitStr = meta.value()?.parse()?;
            if meta.path.is_ident("rename") {
                renamed = Some(value.value());
            }
            Ok(())
        });
    }
    let ident = || field.ident.as_ref().map(ToString::to_string);
    renamed.or_else(ident).unwrap_or_default()
}

fn ident(name: &str) -> syn::Ident {
    match name.strip_prefix("r#") {
        Some(keyword) => format_ident!("r#{keyword}"),
        None => format_ident!("{name}"),
    }
}

fn spell(field: &Field<'_>, paths: &Paths) -> proc_macro2::TokenStream {
    let docs = docs::attributes(field.def.docs.as_deref(), 4);
    let serde = serde_attribute(field.def, paths);
    let (ident, ty) = (&field.ident, &field.ty);
    quote! { #(#docs)* #serde pub #ident: #ty }
}

fn serde_attribute(field: &ir::Field, paths: &Paths) -> Option<syn::Attribute> {
    let mut parts = Vec::new();
    let (wire, rust) = (&field.name.wire, &field.name.rust);
    if rust.trim_start_matches("r#") != wire {
        parts.push(quote!(rename = #wire));
    }
    if !field.required {
        if field.value.ty == ir::Type::Any {
            parts.push(quote!(default));
            parts.push(quote!(deserialize_with = "present"));
        }
        let is_none = format!("{}::is_none", paths.prelude("Option"));
        parts.push(quote!(skip_serializing_if = #is_none));
    } else if field.is_option() {
        // Without a function of its own, serde would take a missing field for null.
        parts.push(quote!(
            deserialize_with = "::serde::Deserialize::deserialize"
        ));
    }
    (!parts.is_empty()).then(|| parse_quote!(#[serde(#(#parts),*)]))
}

/// The function that tells a null that is there from a value that is not.
pub(super) fn helper(types: &[TypeDef]) -> Option<Item> {
    let fields = types.iter().flat_map(|def| match &def.kind {
        Kind::Struct(fields) => fields.as_slice(),
        Kind::Enum(_) => &[],
    });
    let mut optional = fields.filter(|field| !field.required);
    let needed = optional.any(|field| field.value.ty == ir::Type::Any);
    needed.then(|| {
        parse_quote! {
            /// Reads a value that is there, be it null. A missing one never comes here.
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
