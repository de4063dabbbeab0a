//! Expressions of type `Node`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{DeriveInput, Ident, LitStr, Type};

use super::options::{FieldDefault, FieldOptions, TypeOptions};
use super::shape::{Member, Object, Property, Shape};
use crate::docs;
use crate::function::emit::located;
use crate::function::{json_literal, json_token};
use crate::warning::lost_default;

/// Writes nodes, and collects the checks of the types in them.
///
/// A check is a constant of its own, so that its error causes no further ones. A generic type cannot have such a constant:
/// its check is part of the node.
pub(super) struct Nodes<'a> {
    pub(super) options: &'a TypeOptions,
    pub(super) private: TokenStream,
    pub(super) is_generic: bool,
    pub(super) checks: Vec<TokenStream>,
    input: &'a DeriveInput,
}

impl<'a> Nodes<'a> {
    pub(super) fn new(input: &'a DeriveInput, options: &'a TypeOptions) -> Self {
        Self {
            options,
            private: options.krate.private(),
            is_generic: !input.generics.params.is_empty(),
            checks: Vec::new(),
            input,
        }
    }

    pub(super) fn name(&self) -> &'a Ident {
        &self.input.ident
    }

    /// The node of the type.
    pub(super) fn shape(&mut self, shape: &Shape<'_>) -> TokenStream {
        let private = self.private.clone();
        let node = match shape {
            Shape::Null => return quote!(#private::Node::null()),
            Shape::Like { ty, .. } => quote!(#private::Node::of_type::<#ty>()),
            Shape::Json(json) => quote!(#private::Node::raw(#json)),
            Shape::Object(object) => {
                let tag = self.own_tag();
                self.object(object, tag)
            }
            Shape::Enum(variants) => self.variants(variants),
        };
        let description = docs::description(&self.input.attrs);
        quote!(#node.with_description(#description))
    }

    /// The tag that serde writes into a struct with `#[serde(tag = …)]`. serde does not read it.
    fn own_tag(&self) -> Option<TokenStream> {
        let tag = self.options.tag.as_ref()?.value();
        let name = match &self.options.rename {
            Some(name) => name.value(),
            None => self.name().unraw().to_string(),
        };
        let tag = self.tag(&tag, &name);
        Some(quote!(#tag.output_only()))
    }

    /// An object of named fields.
    pub(super) fn object(&mut self, object: &Object<'_>, tag: Option<TokenStream>) -> TokenStream {
        let (mut properties, mut flattened) = (Vec::from_iter(tag), Vec::new());
        for member in &object.members {
            match member {
                Member::Property(property) => properties.push(self.property(property)),
                Member::Flattened(ty) => flattened.push(self.flattened(ty)),
            }
        }
        let private = &self.private;
        let mut node = quote!(#private::Node::object(&[#(#properties),*]));
        if self.options.deny_unknown_fields {
            node.extend(quote!(.closed()));
        } else if !object.has_aliases() {
            node.extend(quote!(.complete()));
        }
        if !flattened.is_empty() {
            node.extend(quote!(.with_checked(&[#(#flattened),*])));
        }
        node
    }

    /// A flattened type: its properties become properties of the surrounding object.
    pub(super) fn flattened(&mut self, ty: &Type) -> TokenStream {
        let private = &self.private;
        let node = quote!(#private::Node::flattened::<#ty>());
        if self.is_generic {
            return quote!(&#node.flattenable());
        }
        let at = |tokens| located(tokens, ty.span());
        let before = at(quote!(const _: #private::Node = #private::Node::flattened::<));
        let after = at(quote!(>().flattenable();));
        self.checks.push(quote!(#before #ty #after));
        quote!(&#node)
    }

    fn property(&mut self, property: &Property<'_>) -> TokenStream {
        let private = self.private.clone();
        let Property {
            name,
            field,
            options,
        } = property;
        let (ty, description) = (&field.ty, docs::description(&field.attrs));
        let mut tokens = if let Some(json) = &options.json {
            let optional = is_optional(ty, options, &private);
            quote!(#private::Property::with_node(#name, #description, &#private::Node::raw(#json), #optional))
        } else {
            quote!(#private::Property::new::<#ty>(#name, #description))
        };
        if options.default == Some(FieldDefault::OfType) && options.json.is_none() {
            tokens.extend(quote!(.with_type_default::<#ty>()));
        } else if options.default.is_some() || self.options.default {
            tokens.extend(quote!(.with_default("")));
        }
        self.warn_about_default(property);
        for (is_on, method) in [
            (options.skip_serializing_if, quote!(.skipped())),
            (options.skip_serializing, quote!(.input_only())),
            (options.skip_deserializing, quote!(.output_only())),
            (options.secret, quote!(.secret())),
        ] {
            tokens.extend(is_on.then_some(method));
        }
        if let Some(example) = &options.example {
            let json = json_token(json_literal(example));
            tokens.extend(quote!(.with_example(#json)));
        }
        tokens.extend(self.limits(ty, options));
        tokens.extend(self.alias(ty, options));
        tokens
    }

    /// Stops the build if the type of a field with an alias has limits inside.
    fn alias(&mut self, ty: &Type, options: &FieldOptions) -> Option<TokenStream> {
        let alias = options.aliases.first()?;
        if options.json.is_some() {
            return None;
        }
        let private = &self.private;
        self.unlimited(&quote!(#private::Node::of_type::<#ty>()), alias)
    }

    /// Stops the build if a field or variant with an alias has limits inside: the schema does not list the alias.
    pub(super) fn unlimited(&mut self, node: &TokenStream, alias: &LitStr) -> Option<TokenStream> {
        if self.is_generic {
            return Some(quote!(.unlimited()));
        }
        let private = &self.private;
        let check = quote!(const _: #private::Node = #node.unlimited(););
        self.checks.push(located(check, alias.span()));
        None
    }

    /// The limits of a field, and a check that its type can have them.
    fn limits(&mut self, ty: &Type, options: &FieldOptions) -> Option<TokenStream> {
        let first = options.limits.first()?;
        let private = &self.private;
        let limits = options.limits.tokens(private)?;
        if self.is_generic {
            return Some(quote!(.with_limits(#limits)));
        }
        let at = |tokens| located(tokens, first.span());
        let before = at(quote!(const _: #private::Property = #private::Property::new::<));
        let after = at(quote!(>("", "").with_limits(#limits);));
        self.checks.push(quote!(#before #ty #after));
        Some(quote!(.with_checked_limits(#limits)))
    }

    /// Warns if the schema does not show the default of a field.
    fn warn_about_default(&mut self, property: &Property<'_>) {
        let Property {
            name,
            field,
            options,
        } = property;
        let Some(lost) = self.lost_default(&field.ty, options) else {
            return;
        };
        let message = format!(
            "the default of field `{name}` is not in the schema of `{}`\nhelp: write it in the doc comment and allow `deprecated`",
            self.name()
        );
        let attributes: Vec<_> = self.input.attrs.iter().chain(&field.attrs).collect();
        let name = field.ident.as_ref();
        let warning = name.map(|at| lost_default(&lost, at, &attributes, &message));
        self.checks.extend(warning);
    }

    /// A constant expression that is true if the schema does not show the default of a field.
    ///
    /// In a generic type, such a constant cannot name the type of a field.
    fn lost_default(&self, ty: &Type, options: &FieldOptions) -> Option<TokenStream> {
        if options.json.is_some() || options.skip_deserializing {
            return None;
        }
        let private = &self.private;
        match options.default {
            Some(FieldDefault::Function) => Some(quote!(true)),
            _ if self.is_generic => None,
            Some(FieldDefault::OfType) => Some(quote!(#private::hides_default::<#ty>())),
            None if self.options.default => Some(quote!(!<#ty as #private::Schema>::OPTIONAL)),
            None => None,
        }
    }
}

/// Whether a field with a handwritten schema may be absent.
///
/// serde requires a field with handwritten code, because it does not ask that code about an absent field.
fn is_optional(ty: &Type, options: &FieldOptions, private: &TokenStream) -> TokenStream {
    if options.custom.is_some() {
        return quote!(false);
    }
    quote!({
        #[allow(unused_imports, reason = "an `Option` has the constant itself")]
        use #private::NotOptional as _;
        #private::Optional::<#ty>::IS
    })
}
