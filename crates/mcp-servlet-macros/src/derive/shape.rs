//! From a type's fields and variants to the schema that serde's code accepts.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Data, DataEnum, DeriveInput, Field, Fields, FieldsNamed, Ident, Variant};

use super::case::Case;
use super::options::{FieldOptions, TypeOptions, VariantOptions};
use crate::diagnostics::Diagnostics;
use crate::docs;
use crate::tool::{json_literal, json_token};

/// What the implementation of `Schema` says.
pub(crate) struct Shape {
    /// An expression of type `Node`.
    pub(crate) node: TokenStream,
    /// The type whose optionality this type shares.
    pub(crate) same_as: Option<TokenStream>,
    /// The names of the fields, where no others can be read.
    pub(crate) names: Option<Vec<String>>,
}

impl Shape {
    fn of(node: TokenStream) -> Self {
        Self { node, same_as: None, names: None }
    }
}

/// The shape of the type, unless it has none.
pub(crate) fn node(
    input: &DeriveInput,
    options: &TypeOptions,
    diagnostics: &mut Diagnostics,
) -> Option<Shape> {
    let reader = Reader { options, name: &input.ident, private: private(options), diagnostics };
    if let Some(proxy) = &options.proxy {
        return Some(reader.same_as(proxy.to_token_stream(), &input.attrs));
    }
    reader.data(input)
}

pub(crate) fn private(options: &TypeOptions) -> TokenStream {
    let krate = &options.krate;
    quote!(#krate::__private)
}

struct Reader<'a> {
    options: &'a TypeOptions,
    name: &'a Ident,
    private: TokenStream,
    diagnostics: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn data(mut self, input: &DeriveInput) -> Option<Shape> {
        match &input.data {
            Data::Struct(data) => self.structure(&data.fields, input),
            Data::Enum(data) => Some(self.enumeration(data, input)),
            Data::Union(data) => {
                let message = "a union has no JSON form\nhelp: make it an enum";
                self.diagnostics.error(data.union_token, message);
                None
            }
        }
    }

    fn same_as(&self, ty: TokenStream, attributes: &[syn::Attribute]) -> Shape {
        let private = &self.private;
        let description = docs::description(attributes);
        let node = quote!(#private::Node::of::<#ty>().with_description(#description));
        Shape { node, same_as: Some(ty), names: None }
    }

    fn structure(&mut self, fields: &Fields, input: &DeriveInput) -> Option<Shape> {
        let private = self.private.clone();
        match fields {
            Fields::Named(named) => {
                let object = self.object(named, self.options.rename_all);
                let description = docs::description(&input.attrs);
                let node = &object.node;
                Some(Shape { node: quote!(#node.with_description(#description)), ..object })
            }
            Fields::Unnamed(unnamed) if unnamed.unnamed.len() == 1 => {
                let field = &unnamed.unnamed[0];
                self.check_recursion(field);
                Some(self.same_as(field.ty.to_token_stream(), &input.attrs))
            }
            Fields::Unnamed(unnamed) => {
                self.no_tuples(unnamed);
                None
            }
            Fields::Unit => Some(Shape::of(quote!(#private::Node::null()))),
        }
    }

    fn no_tuples(&mut self, tokens: impl ToTokens) {
        self.diagnostics.error(
            tokens,
            "a tuple of several fields has no schema that all clients read\nhelp: name the fields",
        );
    }

    /// An object of named fields.
    fn object(&mut self, fields: &FieldsNamed, case: Option<Case>) -> Shape {
        let private = self.private.clone();
        let (mut properties, mut flattened) = (Vec::new(), Vec::new());
        let mut names = Vec::new();
        for field in &fields.named {
            let options = FieldOptions::parse(&field.attrs, self.diagnostics);
            if options.skip_serializing && options.skip_deserializing {
                continue;
            }
            self.check_recursion(field);
            if options.flatten {
                let ty = &field.ty;
                flattened.push(quote!(<#ty as #private::Schema>::NODE));
                continue;
            }
            let name = field_name(field, &options, case);
            properties.push(self.property(field, &options, &name));
            names.push(name);
            names.extend(options.aliases.iter().map(syn::LitStr::value));
        }
        let mut node = quote!(#private::Node::object(&[#(#properties),*]));
        if self.options.deny_unknown_fields {
            node.extend(quote!(.closed()));
        }
        if flattened.is_empty() {
            return Shape { node, same_as: None, names: Some(names) };
        }
        node.extend(quote!(.with_flattened(&[#(#flattened),*])));
        Shape::of(node)
    }

    fn property(&mut self, field: &Field, options: &FieldOptions, name: &str) -> TokenStream {
        let private = self.private.clone();
        let (ty, description) = (&field.ty, docs::description(&field.attrs));
        let mut property = match (&options.json, &options.custom) {
            (Some(json), _) => quote! {
                #private::Property::with_node(#name, #description, &#private::Node::raw(#json), false)
            },
            (None, Some(key)) => {
                self.diagnostics.error(
                    key,
                    format!("the schema of a field read by `{key}` is unknown\nhelp: add `#[schema(json = \"…\")]`"),
                );
                quote!(#private::Property::new::<()>(#name, #description))
            }
            (None, None) => quote!(#private::Property::new::<#ty>(#name, #description)),
        };
        if options.default || self.options.default {
            property.extend(quote!(.with_default("")));
        }
        if options.skip_serializing_if {
            property.extend(quote!(.skipped()));
        }
        if options.skip_serializing {
            property.extend(quote!(.input_only()));
        }
        if options.skip_deserializing {
            property.extend(quote!(.output_only()));
        }
        if let Some(example) = &options.example {
            property.extend(self.example(example));
        }
        property
    }

    fn example(&mut self, example: &TokenStream) -> TokenStream {
        let json = json_literal(example);
        if json.is_none() {
            let message = "`example` takes a literal, because it is part of the schema";
            self.diagnostics.error(example, message);
        }
        let json = json_token(json);
        quote!(.with_example(#json))
    }

    /// A schema is a tree that is written out, so a type cannot be inside itself.
    fn check_recursion(&mut self, field: &Field) {
        if mentions(field.ty.to_token_stream(), self.name) {
            let name = self.name;
            self.diagnostics.error(
                &field.ty,
                format!("`{name}` is inside itself, and many clients refuse recursive schemas\nhelp: take `RawJson` here, or a list of all nodes with ids"),
            );
        }
    }

    fn enumeration(&mut self, data: &DataEnum, input: &DeriveInput) -> Shape {
        let variants: Vec<_> = data
            .variants
            .iter()
            .map(|variant| (variant, VariantOptions::parse(&variant.attrs, self.diagnostics)))
            .filter(|(_, options)| !options.skip && !options.other)
            .collect();
        for (_, options) in &variants {
            if let Some(key) = &options.untagged {
                let message = "one untagged variant among tagged ones has no schema here\nhelp: make the whole enum untagged";
                self.diagnostics.error(key, message);
            }
        }
        let private = self.private.clone();
        let description = enum_description(input, &variants, self.options);
        let externally_tagged = self.options.tag.is_none() && !self.options.untagged;
        let all_unit = variants.iter().all(|(variant, _)| matches!(variant.fields, Fields::Unit));
        let node = if externally_tagged && all_unit {
            let names = variants.iter().map(|(variant, options)| self.variant_name(variant, options));
            quote!(#private::Node::one_of_strings(&[#(#names),*]))
        } else {
            let nodes: Vec<_> = variants.iter().map(|(variant, options)| self.variant(variant, options)).collect();
            quote!(#private::Node::any_of(&[#(#nodes),*]))
        };
        Shape::of(quote!(#node.with_description(#description)))
    }

    fn variant_name(&self, variant: &Variant, options: &VariantOptions) -> String {
        variant_name(variant, options, self.options)
    }

    fn variant(&mut self, variant: &Variant, options: &VariantOptions) -> TokenStream {
        let private = self.private.clone();
        let name = self.variant_name(variant, options);
        let case = options.rename_all.or(self.options.rename_all_fields);
        let description = docs::description(&variant.attrs);
        let node = match (&self.options.tag, &self.options.content) {
            (Some(tag), Some(content)) => {
                let inner = self.content(&variant.fields, case);
                let (tag, content) = (self.tag(&tag.value(), &name), content.value());
                let inner = inner.map(|inner| quote!(#private::Property::with_node(#content, "", &#inner, false)));
                let properties = [Some(tag), inner].into_iter().flatten();
                quote!(#private::Node::object(&[#(#properties),*]))
            }
            (Some(tag), None) => {
                let tag = self.tag(&tag.value(), &name);
                let inner = self.content(&variant.fields, case);
                let flattened = inner.map(|inner| quote!(.with_flattened(&[&#inner])));
                quote!(#private::Node::object(&[#tag])#flattened)
            }
            (None, _) if self.options.untagged => {
                self.content(&variant.fields, case).unwrap_or_else(|| quote!(#private::Node::null()))
            }
            (None, _) => match self.content(&variant.fields, case) {
                None => quote!(#private::Node::one_of_strings(&[#name])),
                Some(inner) => quote! {
                    #private::Node::object(&[#private::Property::with_node(#name, "", &#inner, false)]).closed()
                },
            },
        };
        quote!(#node.with_description(#description))
    }

    /// The property that tells the variants apart.
    fn tag(&self, tag: &str, name: &str) -> TokenStream {
        let private = &self.private;
        quote! {
            #private::Property::with_node(
                #tag, "", &#private::Node::one_of_strings(&[#name]), false,
            )
        }
    }

    /// The schema of what a variant holds, if it holds something.
    fn content(&mut self, fields: &Fields, case: Option<Case>) -> Option<TokenStream> {
        match fields {
            Fields::Unit => None,
            Fields::Named(named) => Some(self.object(named, case).node),
            Fields::Unnamed(unnamed) if unnamed.unnamed.len() == 1 => {
                let field = &unnamed.unnamed[0];
                self.check_recursion(field);
                let (private, ty) = (&self.private, &field.ty);
                Some(quote!(#private::Node::of::<#ty>()))
            }
            Fields::Unnamed(unnamed) => {
                self.no_tuples(unnamed);
                None
            }
        }
    }
}

fn field_name(field: &Field, options: &FieldOptions, case: Option<Case>) -> String {
    if let Some(rename) = &options.rename {
        return rename.value();
    }
    let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
    let name = name.trim_start_matches("r#");
    case.map_or_else(|| name.to_owned(), |case| case.field(name))
}

fn variant_name(variant: &Variant, options: &VariantOptions, of_type: &TypeOptions) -> String {
    if let Some(rename) = &options.rename {
        return rename.value();
    }
    let name = variant.ident.to_string();
    let name = name.trim_start_matches("r#");
    of_type.rename_all.map_or_else(|| name.to_owned(), |case| case.variant(name))
}

/// The enum's doc comment, and a line for each unit variant that has one.
fn enum_description(
    input: &DeriveInput,
    variants: &[(&Variant, VariantOptions)],
    options: &TypeOptions,
) -> TokenStream {
    let own = docs::description(&input.attrs);
    let mut pieces = Vec::new();
    for (variant, variant_options) in variants {
        let is_unit = matches!(variant.fields, Fields::Unit);
        if is_unit && variant.attrs.iter().any(|attribute| docs::doc_value(attribute).is_some()) {
            let start = format!("\n- `{}`: ", variant_name(variant, variant_options, options));
            let text = docs::description(&variant.attrs);
            pieces.push(quote!(#start, #text));
        }
    }
    let is_external = options.tag.is_none() && !options.untagged;
    if pieces.is_empty() || !is_external {
        return own;
    }
    quote!(::core::concat!(#own, #(#pieces),*))
}

fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name || ident == "Self",
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}
