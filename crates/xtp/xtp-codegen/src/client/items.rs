//! The types of arguments and results.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{GenericArgument, Item, PathArguments, Type, parse_quote};

use super::lower::Uses;
use crate::ir::{self, Kind, Module, Names, Struct, Tagging, TypeDef, TypeId, Union};
use crate::json_schema::Slot;
use crate::rust_types::{Missing, RustTypes};
use crate::types::{docs, ident};

/// The items of all types, each after the type that contains it.
pub(super) fn items(
    module: &Module,
    uses: &[Uses],
    rust_types: &RustTypes,
) -> Result<Vec<Item>, Missing> {
    let mut items = Vec::new();
    let mut reads_null = false;
    for id in &module.order {
        let def = module.get(*id);
        let writer = Writer {
            id: *id,
            def,
            uses: uses[id.0],
            rust_types,
        };
        match &def.kind {
            Kind::Struct(content) => {
                items.extend(writer.structure(content)?);
                let mut fields = content.fields.iter();
                reads_null |= writer.uses.output && fields.any(may_be_null_or_absent);
            }
            Kind::Enum(values) => items.push(writer.enumeration(values)),
            Kind::Union(union) => items.push(writer.union(union)?),
            Kind::Alias(_) | Kind::Newtype(_) => items.push(writer.alias()?),
        }
    }
    items.extend(reads_null.then(present));
    Ok(items)
}

/// Whether a field is any JSON that may be missing: null is a value, and not the same as a missing one.
fn may_be_null_or_absent(field: &ir::Field) -> bool {
    !field.required && field.value.ty == ir::Type::Any
}

fn present() -> Item {
    parse_quote! {
        /// Reads a value that is there, be it null.
        fn present<'de, D: ::serde::Deserializer<'de>>(
            from: D,
        ) -> Result<Option<::mcp_caller::Value>, D::Error> {
            ::serde::Deserialize::deserialize(from).map(Some)
        }
    }
}

struct Writer<'a> {
    id: TypeId,
    def: &'a TypeDef,
    uses: Uses,
    rust_types: &'a RustTypes,
}

impl Writer<'_> {
    fn name(&self) -> syn::Ident {
        ident(&self.def.name.rust)
    }

    fn docs(&self) -> Vec<TokenStream> {
        docs::attributes(self.def.docs.as_deref(), 0)
    }

    /// serde's traits for the directions in which the type is used.
    fn serde(&self) -> TokenStream {
        let read = self.uses.output.then(|| quote!(::serde::Deserialize,));
        let write = self.uses.input.then(|| quote!(::serde::Serialize,));
        quote!(#read #write)
    }

    fn alias(&self) -> Result<Item, Missing> {
        let (docs, name) = (self.docs(), self.name());
        let ty = self.rust_types.get(Slot::Alias(self.id))?;
        Ok(parse_quote! {
            #(#docs)*
            pub type #name = #ty;
        })
    }

    fn structure(&self, content: &Struct) -> Result<Vec<Item>, Missing> {
        let typed = |(index, field)| {
            let inner = self.rust_types.get(Slot::Field(self.id, index))?;
            let ty = if may_be_null_or_absent(field) {
                parse_quote!(Option<#inner>)
            } else {
                option_outside(inner)
            };
            Ok((field, ty))
        };
        let fields: Vec<(&ir::Field, Type)> = content
            .fields
            .iter()
            .enumerate()
            .map(typed)
            .collect::<Result<_, _>>()?;
        let extra = match &content.extra {
            Some((name, _)) => Some((ident(name), self.rust_types.get(Slot::Extra(self.id))?)),
            None => None,
        };
        let tokens = fields.iter().map(|(field, ty)| self.field(field, ty));
        let extra_tokens = extra.as_ref().map(|(name, ty)| {
            quote! {
                /// All further properties.
                #[serde(flatten)]
                pub #name: #ty,
            }
        });
        let (docs, name, serde) = (self.docs(), self.name(), self.serde());
        let is_optional = fields.iter().all(|(field, _)| !field.required);
        let default = (self.uses.input && is_optional).then(|| quote!(Default,));
        let item = parse_quote! {
            #(#docs)*
            #[derive(Clone, Debug, #default PartialEq, #serde)]
            pub struct #name { #(#tokens,)* #extra_tokens }
        };
        let extra = extra.map(|(name, _)| name);
        let constructor = (self.uses.input && !is_optional)
            .then(|| constructor(&name, &fields, extra.as_ref()))
            .flatten();
        Ok([Some(item), constructor].into_iter().flatten().collect())
    }

    fn field(&self, field: &ir::Field, ty: &Type) -> TokenStream {
        let docs = docs::attributes(field.docs.as_deref(), 4);
        let mut serde = Vec::new();
        let wire = &field.name.wire;
        if field.name.rust != *wire {
            serde.push(quote!(rename = #wire));
        }
        if self.uses.output && may_be_null_or_absent(field) {
            serde.push(quote!(default, deserialize_with = "present"));
        } else if self.uses.output && field.required && field.is_option() {
            // Without a function of its own, serde would read a missing field as null.
            serde.push(quote!(
                deserialize_with = "::serde::Deserialize::deserialize"
            ));
        }
        if self.uses.input && !field.required {
            serde.push(quote!(skip_serializing_if = "Option::is_none"));
        }
        let serde = (!serde.is_empty()).then(|| quote!(#[serde(#(#serde),*)]));
        let name = ident(&field.name.rust);
        quote!(#(#docs)* #serde pub #name: #ty)
    }

    fn enumeration(&self, values: &[Names]) -> Item {
        let variants = values.iter().map(|value| {
            let (name, wire) = (ident(&value.rust), &value.wire);
            let docs = docs::attributes(Some(&format!("{} in JSON.", code(wire))), 4);
            let rename = (value.rust != *wire).then(|| quote!(#[serde(rename = #wire)]));
            quote!(#(#docs)* #rename #name)
        });
        let (docs, name, serde) = (self.docs(), self.name(), self.serde());
        parse_quote! {
            #(#docs)*
            #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, #serde)]
            pub enum #name { #(#variants,)* }
        }
    }

    fn union(&self, union: &Union) -> Result<Item, Missing> {
        let mut variants = Vec::new();
        for (index, (names, _)) in union.members.iter().enumerate() {
            let (variant, wire) = (ident(&names.rust), &names.wire);
            let ty = self.rust_types.get(Slot::Field(self.id, index))?;
            let (doc, rename) = match &union.tagging {
                Tagging::Union(tag) | Tagging::Members(tag) => (
                    format!("{} is {} in JSON.", code(tag), code(wire)),
                    (names.rust != *wire).then(|| quote!(#[serde(rename = #wire)])),
                ),
                Tagging::Content => (format!("{wire}."), None),
            };
            let docs = docs::attributes(Some(&doc), 4);
            variants.push(quote!(#(#docs)* #rename #variant(#ty)));
        }
        let tagging = match &union.tagging {
            Tagging::Union(tag) | Tagging::Members(tag) => quote!(tag = #tag),
            Tagging::Content => quote!(untagged),
        };
        let (docs, name, serde) = (self.docs(), self.name(), self.serde());
        Ok(parse_quote! {
            #(#docs)*
            #[derive(Clone, Debug, PartialEq, #serde)]
            #[serde(#tagging)]
            pub enum #name { #(#variants,)* }
        })
    }
}

/// The type of a field, of which typify may have made a `Box<Option<T>>`.
fn option_outside(ty: &Type) -> Type {
    match argument(ty, "Box").and_then(|option| argument(option, "Option")) {
        Some(content) => parse_quote!(Option<Box<#content>>),
        None => ty.clone(),
    }
}

/// The first argument of a generic type of this name.
fn argument<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = ty else { return None };
    let last = path
        .path
        .segments
        .last()
        .filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

/// The most parameters of a constructor. With more, the names of the fields help more than the constructor does.
const MAX_PARAMETERS: usize = 5;

/// `new` with the required fields, if there are other ones.
fn constructor(
    ty: &syn::Ident,
    fields: &[(&ir::Field, Type)],
    extra: Option<&syn::Ident>,
) -> Option<Item> {
    let required = fields.iter().filter(|(field, _)| field.required);
    let count = required.clone().count();
    if count > MAX_PARAMETERS || (count == fields.len() && extra.is_none()) {
        return None;
    }
    let is_text = |ty: &Type| *ty == parse_quote!(String);
    let parameters = required.map(|(field, ty)| {
        let name = ident(&field.name.rust);
        if is_text(ty) {
            quote!(#name: impl Into<String>)
        } else {
            quote!(#name: #ty)
        }
    });
    let values = fields.iter().map(|(field, ty)| {
        let name = ident(&field.name.rust);
        match (field.required, is_text(ty)) {
            (true, true) => quote!(#name: #name.into()),
            (true, false) => quote!(#name),
            (false, _) => quote!(#name: None),
        }
    });
    let extra = extra.map(|name| quote!(#name: ::std::collections::BTreeMap::new(),));
    Some(parse_quote! {
        impl #ty {
            /// With the required fields and nothing else.
            #[must_use]
            pub fn new(#(#parameters),*) -> Self {
                Self { #(#values,)* #extra }
            }
        }
    })
}

/// The description of the server, and what the item is: apart, so that an open code block does not contain it.
pub(super) fn documented(description: Option<&str>, what: &str, indent: usize) -> Vec<TokenStream> {
    let mut docs = docs::attributes(description, indent);
    if !docs.is_empty() {
        docs.push(quote!(#[doc = ""]));
    }
    docs.extend(docs::attributes(Some(what), indent));
    docs
}

/// A name of the server as code in a description.
pub(super) fn code(name: &str) -> String {
    let name = name.replace(char::is_whitespace, " ");
    if name.contains('`') {
        format!("`` {name} ``")
    } else {
        format!("`{name}`")
    }
}
