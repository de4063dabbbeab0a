//! Reads the shape of a type, and reports what has no schema.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{Data, DataEnum, DeriveInput, Field, Fields, FieldsNamed, Ident, Type, Variant};

use super::case::Case;
use super::options::{FieldOptions, TypeOptions, VariantOptions};
use super::shape::{Content, Member, Object, Property, Shape, ValidVariant};
use crate::diagnostics::Diagnostics;
use crate::function::json_literal;

/// The shape of the type; `None` if it has no schema.
pub(crate) fn read<'a>(
    input: &'a DeriveInput,
    options: &'a TypeOptions,
    diagnostics: &mut Diagnostics,
) -> Option<Shape<'a>> {
    if let Some(ty) = &options.proxy {
        refuse_limits(input, diagnostics);
        return Some(Shape::Like {
            ty,
            is_transparent: true,
        });
    }
    let mut reader = Reader {
        options,
        name: &input.ident,
        diagnostics,
    };
    match &input.data {
        Data::Struct(data) => reader.structure(&data.fields),
        Data::Enum(data) => reader.enumeration(data),
        Data::Union(data) => {
            let message = "`Schema` cannot be derived for a union\nhelp: use an enum";
            reader.diagnostics.error(data.union_token, message);
            None
        }
    }
}

/// Reports limits in a type that serde converts from or into another one: serde does not read these fields.
fn refuse_limits(input: &DeriveInput, diagnostics: &mut Diagnostics) {
    let fields: Vec<_> = match &input.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data
            .variants
            .iter()
            .flat_map(|variant| &variant.fields)
            .collect(),
        Data::Union(_) => Vec::new(),
    };
    for field in fields {
        let options = FieldOptions::parse(&field.attrs, diagnostics);
        let message = "limits are not allowed in a type that is converted from another one\nhelp: put them on the fields of the other type, or check the value in the conversion";
        options.limits.refuse(message, diagnostics);
    }
}

struct Reader<'a, 'd> {
    options: &'a TypeOptions,
    name: &'a Ident,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Reader<'a, '_> {
    fn structure(&mut self, fields: &'a Fields) -> Option<Shape<'a>> {
        if self.options.transparent {
            // serde's own derive reports several such fields, or none.
            let (field, options) = fields
                .iter()
                .map(|field| (field, self.field_options(field)))
                .find(|(field, options)| is_transparent(field, options))?;
            return Some(self.newtype(field, options, true));
        }
        match fields {
            Fields::Named(named) => {
                Some(Shape::Object(self.object(named, self.options.rename_all)))
            }
            Fields::Unnamed(unnamed) if unnamed.unnamed.len() == 1 => {
                let field = &unnamed.unnamed[0];
                let options = self.field_options(field);
                Some(self.newtype(field, options, false))
            }
            Fields::Unnamed(unnamed) => {
                self.refuse_tuple(unnamed);
                None
            }
            Fields::Unit => Some(Shape::Null),
        }
    }

    /// A struct that serializes as its only field.
    fn newtype(
        &mut self,
        field: &'a Field,
        options: FieldOptions,
        is_transparent: bool,
    ) -> Shape<'a> {
        match self.only_field(field, options) {
            Some(json) => Shape::Json(json),
            None => Shape::Like {
                ty: &field.ty,
                is_transparent,
            },
        }
    }

    fn field_options(&mut self, field: &Field) -> FieldOptions {
        FieldOptions::parse(&field.attrs, self.diagnostics)
    }

    /// Checks the only field of a struct or a variant, and returns its schema if the author has written one.
    fn only_field(&mut self, field: &Field, options: FieldOptions) -> Option<TokenStream> {
        self.check_recursion(field, &options);
        if let Some(example) = &options.example {
            let message = "`example` is not allowed on an unnamed field\nhelp: put it on the field that has this type";
            self.diagnostics.error(example, message);
        }
        let message = "limits are not allowed on an unnamed field\nhelp: put them on the field that has this type";
        options.limits.refuse(message, self.diagnostics);
        self.check_schema(&options);
        options.json
    }

    /// Named fields, whose names have this case.
    fn object(&mut self, fields: &'a FieldsNamed, case: Option<Case>) -> Object<'a> {
        let fields = fields.named.iter();
        let members = fields.filter_map(|field| self.member(field, case));
        Object {
            members: members.collect(),
        }
    }

    fn member(&mut self, field: &'a Field, case: Option<Case>) -> Option<Member<'a>> {
        let options = self.field_options(field);
        if options.skip_serializing && options.skip_deserializing {
            return None;
        }
        self.check_recursion(field, &options);
        if options.flatten {
            let message = "limits are not allowed on a flattened field\nhelp: put them on the fields of its type, or check the value in the function";
            options.limits.refuse(message, self.diagnostics);
            return Some(Member::Flattened(&field.ty));
        }
        self.check_schema(&options);
        if let Some(example) = &options.example {
            if json_literal(example).is_none() {
                let message = "`example` takes a literal, because it is part of the schema";
                self.diagnostics.error(example, message);
            }
        }
        self.check_limits(&options);
        Some(Member::Property(Box::new(Property {
            name: field_name(field, &options, case),
            field,
            options,
        })))
    }

    /// A field with handwritten serde code needs a handwritten schema.
    fn check_schema(&mut self, options: &FieldOptions) {
        if let (None, Some(key)) = (&options.json, &options.custom) {
            self.diagnostics.error(
                key,
                format!("the schema of a field read by `{key}` is unknown\nhelp: add `#[schema(json = \"…\")]`"),
            );
        }
    }

    fn check_limits(&mut self, options: &FieldOptions) {
        let Some(first) = options.limits.first() else {
            return;
        };
        if options.json.is_some() {
            let message = "limits cannot be combined with `json`, which is the whole schema of the field\nhelp: write them as keywords in `json`";
            self.diagnostics.error(&first, message);
        }
        if let Some(alias) = options.aliases.first() {
            let message = "limits cannot be checked under an alias, because the schema does not list it\nhelp: remove the alias, or check the value in the function";
            self.diagnostics.error(alias, message);
        }
        let example = options.example.as_ref();
        options.limits.check_values(None, example, self.diagnostics);
    }

    /// Reports a recursive type: a schema is written out in full, so a type cannot contain itself.
    fn check_recursion(&mut self, field: &Field, options: &FieldOptions) {
        if options.json.is_none() && mentions(field.ty.to_token_stream(), self.name) {
            let name = self.name;
            self.diagnostics.error(
                &field.ty,
                format!("recursive type `{name}`: many clients refuse recursive schemas\nhelp: use `RawJson` here, or a list of all nodes with ids, or write a schema that ends with `#[schema(json = \"…\")]`"),
            );
        }
    }

    fn refuse_tuple(&mut self, tokens: impl ToTokens) {
        self.diagnostics.error(
            tokens,
            "tuple structs with several fields are not supported\nhelp: use named fields",
        );
    }

    fn enumeration(&mut self, data: &'a DataEnum) -> Option<Shape<'a>> {
        let variants: Vec<_> = data
            .variants
            .iter()
            .filter_map(|variant| self.variant(variant))
            .collect();
        if variants.is_empty() {
            let name = self.name;
            let message = format!("enum `{name}` has no variants\nhelp: add a variant");
            self.diagnostics.error(name, message);
            return None;
        }
        Some(Shape::Enum(variants))
    }

    /// A variant; `None` if serde skips it.
    fn variant(&mut self, variant: &'a Variant) -> Option<ValidVariant<'a>> {
        let options = VariantOptions::parse(&variant.attrs, self.diagnostics);
        if options.skip {
            return None;
        }
        if let Some(key) = &options.untagged {
            let message = "one untagged variant among tagged ones has no schema here\nhelp: make the whole enum untagged";
            self.diagnostics.error(key, message);
        }
        if let Some(key) = &options.custom {
            let message = format!(
                "the schema of a variant read by `{key}` is unknown\nhelp: put `{key}` on a field inside, next to `#[schema(json = \"…\")]`"
            );
            self.diagnostics.error(key, message);
        }
        let case = options.rename_all.or(self.options.rename_all_fields);
        Some(ValidVariant {
            name: variant_name(variant, &options, self.options),
            content: self.content(&variant.fields, case),
            variant,
            options,
        })
    }

    /// The content of a variant, if there is any.
    fn content(&mut self, fields: &'a Fields, case: Option<Case>) -> Option<Content<'a>> {
        match fields {
            Fields::Unit => None,
            Fields::Named(named) => Some(Content::Object(self.object(named, case))),
            Fields::Unnamed(unnamed) if unnamed.unnamed.len() == 1 => {
                let field = &unnamed.unnamed[0];
                let options = self.field_options(field);
                let json = self.only_field(field, options);
                Some(json.map_or(Content::Type(&field.ty), Content::Json))
            }
            Fields::Unnamed(unnamed) => {
                self.refuse_tuple(unnamed);
                None
            }
        }
    }
}

fn field_name(field: &Field, options: &FieldOptions, case: Option<Case>) -> String {
    if let Some(rename) = &options.rename {
        return rename.value();
    }
    let name = field
        .ident
        .as_ref()
        .map(|name| name.unraw().to_string())
        .unwrap_or_default();
    match case {
        Some(case) => case.field(&name),
        None => name,
    }
}

fn variant_name(variant: &Variant, options: &VariantOptions, of_type: &TypeOptions) -> String {
    if let Some(rename) = &options.rename {
        return rename.value();
    }
    let name = variant.ident.unraw().to_string();
    match of_type.rename_all {
        Some(case) => case.variant(&name),
        None => name,
    }
}

/// Whether it is the field that `#[serde(transparent)]` applies to.
fn is_transparent(field: &Field, options: &FieldOptions) -> bool {
    let is_phantom = matches!(&field.ty, Type::Path(ty) if ty.path.segments.last().is_some_and(|last| last.ident == "PhantomData"));
    !is_phantom
        && options.default.is_none()
        && !options.skip_serializing
        && !options.skip_deserializing
}

/// Whether a type mentions this one. `other::Name` may be a different type, so it does not count.
fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    let mut after_colon = false;
    tokens.into_iter().any(|token| {
        let in_path = std::mem::replace(&mut after_colon, is_colon(&token));
        match token {
            TokenTree::Ident(ident) => !in_path && (ident == *name || ident == "Self"),
            TokenTree::Group(group) => mentions(group.stream(), name),
            _ => false,
        }
    })
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':')
}
