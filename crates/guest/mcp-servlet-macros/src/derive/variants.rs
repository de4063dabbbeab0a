//! The schemas of enums, in each of serde's four representations.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Attribute, DataEnum, DeriveInput, Fields, Variant};

use super::case::Case;
use super::options::{TypeOptions, VariantOptions};
use super::shape::{Inner, Reader, Shape, Unit};
use crate::docs;
use crate::function::emit::located;
use crate::function::json_string;

impl Reader<'_> {
    pub(super) fn enumeration(&mut self, data: &DataEnum, input: &DeriveInput) -> Option<Shape> {
        let variants: Vec<_> = data
            .variants
            .iter()
            .map(|variant| {
                (
                    variant,
                    VariantOptions::parse(&variant.attrs, self.diagnostics),
                )
            })
            .filter(|(_, options)| !options.skip)
            .collect();
        if variants.is_empty() {
            let name = &input.ident;
            let message = format!("enum `{name}` has no variants\nhelp: add a variant");
            self.diagnostics.error(name, message);
            return None;
        }
        for (_, options) in &variants {
            self.check_variant(options);
        }
        let private = self.private.clone();
        let description = docs::description(&input.attrs);
        let externally_tagged = self.options.tag.is_none() && !self.options.untagged;
        let all_unit = variants
            .iter()
            .all(|(variant, _)| matches!(variant.fields, Fields::Unit));
        let node = if externally_tagged && all_unit {
            let names = variants
                .iter()
                .map(|(variant, options)| variant_name(variant, options, self.options));
            let notes = notes(&variants, self.options);
            quote!(#private::Node::one_of_strings(&[#(#names),*]) #notes)
        } else {
            let nodes: Vec<_> = variants
                .iter()
                .map(|(variant, options)| self.variant(variant, options))
                .collect();
            let node = quote!(#private::Node::any_of(&[#(#nodes),*]));
            let distinct = self.distinct(&variants);
            quote!(#node #distinct)
        };
        Some(Shape {
            units: self.units(&variants),
            ..Shape::of(quote!(#node.with_description(#description)))
        })
    }

    /// Stops the build if a value that breaks the limits of one variant could be read as another one.
    fn distinct(&mut self, variants: &[(&Variant, VariantOptions)]) -> Option<TokenStream> {
        if !self.options.untagged && variants.iter().all(|(_, options)| !options.other) {
            return None;
        }
        if self.is_generic {
            return Some(quote!(.distinct()));
        }
        let (private, name) = (&self.private, self.name);
        let check = quote!(const _: #private::Node = #private::Node::of::<#name>().distinct(););
        self.checks.push(located(check, name.span()));
        None
    }

    /// The variants without content, as they are serialized.
    fn units(&self, variants: &[(&Variant, VariantOptions)]) -> Vec<Unit> {
        let units = variants
            .iter()
            .filter(|(variant, options)| matches!(variant.fields, Fields::Unit) && !options.other);
        let unit = |(variant, options): &(&Variant, VariantOptions)| {
            let name = json_string(&variant_name(variant, options, self.options));
            let json = match &self.options.tag {
                Some(tag) => format!("{{{}:{name}}}", json_string(&tag.value())),
                None if self.options.untagged => "null".to_owned(),
                None => name,
            };
            let is_default = |attribute: &Attribute| attribute.path().is_ident("default");
            Unit {
                name: variant.ident.to_string(),
                json,
                is_default: variant.attrs.iter().any(is_default),
            }
        };
        units.map(unit).collect()
    }

    fn check_variant(&mut self, options: &VariantOptions) {
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
    }

    fn variant(&mut self, variant: &Variant, options: &VariantOptions) -> TokenStream {
        let name = variant_name(variant, options, self.options);
        let case = options.rename_all.or(self.options.rename_all_fields);
        let content = self.content(&variant.fields, case);
        let private = self.private.clone();
        let node = match (&self.options.tag, &self.options.content) {
            (Some(tag), Some(place)) => {
                let tag = self.tag_of(&tag.value(), &name, options);
                self.adjacent(&tag, &place.value(), content)
            }
            (Some(tag), None) => {
                let tag = self.tag_of(&tag.value(), &name, options);
                self.internal(&tag, content)
            }
            (None, _) if self.options.untagged => self.untagged(content),
            (None, _) if options.other => quote!(#private::Node::string()),
            (None, _) => self.external(&name, content),
        };
        let alias = options.alias.as_ref();
        let unlimited = alias.and_then(|alias| self.unlimited(&node, alias));
        let description = docs::description(&variant.attrs);
        quote!(#node #unlimited.with_description(#description))
    }

    /// `{"t": "Variant", "c": …}`
    fn adjacent(&self, tag: &TokenStream, place: &str, content: Option<Inner<'_>>) -> TokenStream {
        let private = &self.private;
        let content = content.map(|content| self.holding(place, &content));
        let properties = [Some(tag.clone()), content].into_iter().flatten();
        let closed = self.closed();
        quote!(#private::Node::object(&[#(#properties),*])#closed)
    }

    /// `{"t": "Variant", …}`
    fn internal(&mut self, tag: &TokenStream, content: Option<Inner<'_>>) -> TokenStream {
        let private = self.private.clone();
        let object = quote!(#private::Node::object(&[#tag]));
        match content {
            None => object,
            Some(Inner::Type(ty)) => {
                let flattened = self.flattened(ty);
                quote!(#object.with_checked(&[#flattened]))
            }
            Some(Inner::Node(node)) => {
                let closed = self.closed();
                quote!(#object.with_flattened(&[&#node])#closed)
            }
        }
    }

    /// The content without a tag.
    fn untagged(&self, content: Option<Inner<'_>>) -> TokenStream {
        let private = &self.private;
        match content {
            None => quote!(#private::Node::null()),
            Some(Inner::Type(ty)) => quote!(#private::Node::of::<#ty>()),
            Some(Inner::Node(node)) => node,
        }
    }

    /// `"Variant"`, or `{"Variant": …}`
    fn external(&self, name: &str, content: Option<Inner<'_>>) -> TokenStream {
        let private = &self.private;
        let Some(content) = content else {
            return quote!(#private::Node::one_of_strings(&[#name]));
        };
        let property = self.holding(name, &content);
        quote!(#private::Node::object(&[#property.required()]).closed())
    }

    /// The tag of a variant. When reading, a variant with `#[serde(other)]` has any string as its tag.
    fn tag_of(&self, tag: &str, name: &str, options: &VariantOptions) -> TokenStream {
        let property = self.tag(tag, name);
        if !options.other {
            return property;
        }
        let private = &self.private;
        quote! {
            #property.output_only(),
            #private::Property::with_node(#tag, "", &#private::Node::string(), false).input_only()
        }
    }

    /// The property that distinguishes the variants.
    pub(super) fn tag(&self, tag: &str, name: &str) -> TokenStream {
        let private = &self.private;
        quote! {
            #private::Property::with_node(
                #tag, "", &#private::Node::one_of_strings(&[#name]), false,
            )
        }
    }

    fn holding(&self, name: &str, content: &Inner<'_>) -> TokenStream {
        let private = &self.private;
        match content {
            Inner::Type(ty) => quote!(#private::Property::new::<#ty>(#name, "")),
            Inner::Node(node) => quote!(#private::Property::with_node(#name, "", &#node, false)),
        }
    }

    fn closed(&self) -> Option<TokenStream> {
        self.options.deny_unknown_fields.then(|| quote!(.closed()))
    }

    /// The content of a variant, if there is any.
    fn content<'f>(&mut self, fields: &'f Fields, case: Option<Case>) -> Option<Inner<'f>> {
        match fields {
            Fields::Unit => None,
            Fields::Named(named) => Some(Inner::Node(self.object(named, case, None).node)),
            Fields::Unnamed(unnamed) if unnamed.unnamed.len() == 1 => {
                Some(self.inner(&unnamed.unnamed[0]))
            }
            Fields::Unnamed(unnamed) => {
                self.no_tuples(unnamed);
                None
            }
        }
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

/// A line for each variant that has a doc comment.
fn notes(variants: &[(&Variant, VariantOptions)], of_type: &TypeOptions) -> Option<TokenStream> {
    let mut notes = Vec::new();
    for (variant, options) in variants {
        if docs::has_any(&variant.attrs) {
            let start = format!("\n- `{}`: ", variant_name(variant, options, of_type));
            let text = docs::description(&variant.attrs);
            notes.push(quote!(#start, #text));
        }
    }
    (!notes.is_empty()).then(|| quote!(.with_notes(::core::concat!(#(#notes),*))))
}
