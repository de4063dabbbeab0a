//! The nodes of enums, in each of serde's four representations.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Type};

use super::nodes::Nodes;
use super::options::{TypeOptions, VariantOptions};
use super::shape::{Content, ValidVariant};
use crate::docs;
use crate::function::emit::located;
use crate::function::json_string;

/// A variant without content.
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) json: String,
    /// Whether it has the attribute of `#[derive(Default)]`.
    pub(super) is_default: bool,
}

/// The variants without content, as they are serialized.
pub(super) fn units(variants: &[ValidVariant<'_>], of_type: &TypeOptions) -> Vec<Unit> {
    let units = variants
        .iter()
        .filter(|variant| variant.content.is_none() && !variant.options.other);
    units
        .map(|ValidVariant { name, variant, .. }| {
            let name = json_string(name);
            let json = match &of_type.tag {
                Some(tag) => format!("{{{}:{name}}}", json_string(&tag.value())),
                None if of_type.untagged => "null".to_owned(),
                None => name,
            };
            let is_default = |attribute: &Attribute| attribute.path().is_ident("default");
            Unit {
                name: variant.ident.to_string(),
                json,
                is_default: variant.attrs.iter().any(is_default),
            }
        })
        .collect()
}

/// The node of a variant's content.
enum Inner<'a> {
    /// The node of its type.
    Type(&'a Type),
    /// Another node.
    Node(TokenStream),
}

impl Nodes<'_> {
    pub(super) fn variants(&mut self, variants: &[ValidVariant<'_>]) -> TokenStream {
        let private = self.private.clone();
        let is_externally_tagged = self.options.tag.is_none() && !self.options.untagged;
        if is_externally_tagged && variants.iter().all(|variant| variant.content.is_none()) {
            return one_of_names(variants, &private);
        }
        let nodes: Vec<_> = variants
            .iter()
            .map(|variant| self.variant(variant))
            .collect();
        let distinct = self.distinct(variants);
        quote!(#private::Node::any_of(&[#(#nodes),*]) #distinct)
    }

    /// Stops the build if a value that breaks the limits of one variant could be read as another one.
    fn distinct(&mut self, variants: &[ValidVariant<'_>]) -> Option<TokenStream> {
        if !self.options.untagged && variants.iter().all(|variant| !variant.options.other) {
            return None;
        }
        if self.is_generic {
            return Some(quote!(.distinct()));
        }
        let (private, name) = (&self.private, self.name());
        let check =
            quote!(const _: #private::Node = #private::Node::of_type::<#name>().distinct(););
        self.checks.push(located(check, name.span()));
        None
    }

    fn variant(&mut self, variant: &ValidVariant<'_>) -> TokenStream {
        let ValidVariant { name, options, .. } = variant;
        let content = variant
            .content
            .as_ref()
            .map(|content| self.content(content));
        let private = self.private.clone();
        let node = match (&self.options.tag, &self.options.content) {
            (Some(tag), Some(place)) => {
                let tag = self.tag_of(&tag.value(), name, options);
                self.adjacent(&tag, &place.value(), content)
            }
            (Some(tag), None) => {
                let tag = self.tag_of(&tag.value(), name, options);
                self.internal(&tag, content)
            }
            (None, _) if self.options.untagged => self.untagged(content),
            (None, _) if options.other => quote!(#private::Node::string()),
            (None, _) => self.external(name, content),
        };
        let alias = options.alias.as_ref();
        let unlimited = alias.and_then(|alias| self.unlimited(&node, alias));
        let description = docs::description(&variant.variant.attrs);
        quote!(#node #unlimited.with_description(#description))
    }

    fn content<'c>(&mut self, content: &'c Content<'_>) -> Inner<'c> {
        let private = &self.private;
        match content {
            Content::Type(ty) => Inner::Type(ty),
            Content::Json(json) => Inner::Node(quote!(#private::Node::raw(#json))),
            Content::Object(object) => Inner::Node(self.object(object, None)),
        }
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
            Some(Inner::Type(ty)) => quote!(#private::Node::of_type::<#ty>()),
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
}

/// The names of variants without content. A variant with `#[serde(other)]` accepts any other string.
fn one_of_names(variants: &[ValidVariant<'_>], private: &TokenStream) -> TokenStream {
    let known = variants.iter().filter(|variant| !variant.options.other);
    let names: Vec<_> = known.clone().map(|variant| &variant.name).collect();
    let any = quote!(#private::Node::string());
    if names.is_empty() {
        return any;
    }
    let is_open = names.len() < variants.len();
    let notes = notes(known);
    let names = quote!(#private::Node::one_of_strings(&[#(#names),*]) #notes);
    if is_open {
        quote!(#private::Node::any_of(&[#names, #any]))
    } else {
        names
    }
}

/// A line for each variant that has a doc comment.
fn notes<'a>(variants: impl Iterator<Item = &'a ValidVariant<'a>>) -> Option<TokenStream> {
    let mut notes = Vec::new();
    for ValidVariant { name, variant, .. } in variants {
        if docs::has_any(&variant.attrs) {
            let start = format!("\n- `{name}`: ");
            let text = docs::description(&variant.attrs);
            notes.push(quote!(#start, #text));
        }
    }
    (!notes.is_empty()).then(|| quote!(.with_notes(::core::concat!(#(#notes),*))))
}
