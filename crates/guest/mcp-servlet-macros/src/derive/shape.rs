//! The schema of the JSON that serde's derived code reads and writes, from a type's fields and variants.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Field, Fields, FieldsNamed, Ident, LitStr, Type};

use super::case::Case;
use super::options::{FieldDefault, FieldOptions, TypeOptions};
use crate::diagnostics::Diagnostics;
use crate::docs;
use crate::function::emit::located;
use crate::function::{json_literal, json_token};
use crate::warning::lost_default;

/// The contents of the implementation of `Schema`.
pub(crate) struct Shape {
    /// An expression of type `Node`.
    pub(crate) node: TokenStream,
    /// The type that this one is serialized as.
    pub(crate) same_as: Option<TokenStream>,
    /// Whether serde reads it exactly as that type, including when it is absent.
    pub(crate) transparent: bool,
    /// The names of the fields, if serde rejects unknown ones.
    pub(crate) names: Option<Vec<String>>,
    /// The variants without content.
    pub(crate) units: Vec<Unit>,
    /// Items that stop the build if the type of a field is not valid there.
    pub(crate) checks: Vec<TokenStream>,
}

/// A variant without content.
pub(crate) struct Unit {
    pub(crate) name: String,
    pub(crate) json: String,
    /// Whether it has the attribute of `#[derive(Default)]`.
    pub(crate) is_default: bool,
}

impl Shape {
    pub(crate) fn of(node: TokenStream) -> Self {
        Self {
            node,
            same_as: None,
            transparent: false,
            names: None,
            units: Vec::new(),
            checks: Vec::new(),
        }
    }
}

/// The shape of the type; `None` if it has no schema.
pub(crate) fn node(
    input: &DeriveInput,
    options: &TypeOptions,
    diagnostics: &mut Diagnostics,
) -> Option<Shape> {
    let reader = Reader {
        options,
        name: &input.ident,
        attributes: &input.attrs,
        private: private(options),
        is_generic: !input.generics.params.is_empty(),
        checks: Vec::new(),
        diagnostics,
    };
    if let Some(proxy) = &options.proxy {
        no_limits(input, reader.diagnostics);
        return Some(Shape {
            transparent: true,
            ..reader.same_as(proxy, &input.attrs)
        });
    }
    reader.data(input)
}

/// Reports limits in a type that serde converts from or into another one: serde does not read these fields.
fn no_limits(input: &DeriveInput, diagnostics: &mut Diagnostics) {
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

pub(crate) fn private(options: &TypeOptions) -> TokenStream {
    options.krate.private()
}

pub(super) struct Reader<'a> {
    pub(super) options: &'a TypeOptions,
    pub(super) name: &'a Ident,
    attributes: &'a [Attribute],
    pub(super) private: TokenStream,
    pub(super) is_generic: bool,
    pub(super) checks: Vec<TokenStream>,
    pub(super) diagnostics: &'a mut Diagnostics,
}

/// The schema of one field without a name.
pub(super) enum Inner<'a> {
    /// The schema of its type.
    Type(&'a Type),
    /// A schema that does not come from the type.
    Node(TokenStream),
}

impl Reader<'_> {
    fn data(mut self, input: &DeriveInput) -> Option<Shape> {
        let shape = match &input.data {
            Data::Struct(data) => self.structure(&data.fields, input),
            Data::Enum(data) => self.enumeration(data, input),
            Data::Union(data) => {
                let message = "`Schema` cannot be derived for a union\nhelp: use an enum";
                self.diagnostics.error(data.union_token, message);
                None
            }
        };
        shape.map(|shape| Shape {
            checks: self.checks,
            ..shape
        })
    }

    /// The schema of a flattened type: its properties become properties of the surrounding object.
    ///
    /// A separate constant checks the type, so that its error causes no further ones. A generic type cannot have such a
    /// constant.
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

    fn same_as(&self, ty: &Type, attributes: &[Attribute]) -> Shape {
        let private = &self.private;
        let description = docs::description(attributes);
        let shape = Shape::of(quote!(#private::Node::of::<#ty>().with_description(#description)));
        Shape {
            same_as: Some(ty.to_token_stream()),
            ..shape
        }
    }

    fn structure(&mut self, fields: &Fields, input: &DeriveInput) -> Option<Shape> {
        let private = self.private.clone();
        if self.options.transparent {
            // serde's own derive reports several such fields, or none.
            let field = fields.iter().find(|field| is_transparent(field))?;
            return Some(Shape {
                transparent: true,
                ..self.newtype(field, input)
            });
        }
        match fields {
            Fields::Named(named) => {
                let tag = self.own_tag(input);
                let object = self.object(named, self.options.rename_all, tag);
                let description = docs::description(&input.attrs);
                let node = &object.node;
                Some(Shape {
                    node: quote!(#node.with_description(#description)),
                    ..object
                })
            }
            Fields::Unnamed(unnamed) if unnamed.unnamed.len() == 1 => {
                Some(self.newtype(&unnamed.unnamed[0], input))
            }
            Fields::Unnamed(unnamed) => {
                self.no_tuples(unnamed);
                None
            }
            Fields::Unit => Some(Shape::of(quote!(#private::Node::null()))),
        }
    }

    /// The tag that serde writes into a struct with `#[serde(tag = …)]`. serde does not read it.
    fn own_tag(&self, input: &DeriveInput) -> Option<TokenStream> {
        let tag = self.options.tag.as_ref()?.value();
        let name = match &self.options.rename {
            Some(name) => name.value(),
            None => input.ident.unraw().to_string(),
        };
        let tag = self.tag(&tag, &name);
        Some(quote!(#tag.output_only()))
    }

    /// A struct that serializes as its only field.
    fn newtype(&mut self, field: &Field, input: &DeriveInput) -> Shape {
        match self.inner(field) {
            Inner::Type(ty) => self.same_as(ty, &input.attrs),
            Inner::Node(node) => {
                let description = docs::description(&input.attrs);
                Shape::of(quote!(#node.with_description(#description)))
            }
        }
    }

    /// The schema of the only field of a struct or a variant.
    pub(super) fn inner<'f>(&mut self, field: &'f Field) -> Inner<'f> {
        let options = FieldOptions::parse(&field.attrs, self.diagnostics);
        self.check_recursion(field, &options);
        if let Some(example) = &options.example {
            let message = "`example` is not allowed on an unnamed field\nhelp: put it on the field that has this type";
            self.diagnostics.error(example, message);
        }
        let message = "limits are not allowed on an unnamed field\nhelp: put them on the field that has this type";
        options.limits.refuse(message, self.diagnostics);
        match self.own_schema(&options) {
            Some(node) => Inner::Node(node),
            None => Inner::Type(&field.ty),
        }
    }

    /// The schema in `#[schema(json = …)]`, which is required for a field with handwritten serde code.
    fn own_schema(&mut self, options: &FieldOptions) -> Option<TokenStream> {
        let private = &self.private;
        match (&options.json, &options.custom) {
            (Some(json), _) => Some(quote!(#private::Node::raw(#json))),
            (None, Some(key)) => {
                self.diagnostics.error(
                    key,
                    format!("the schema of a field read by `{key}` is unknown\nhelp: add `#[schema(json = \"…\")]`"),
                );
                Some(quote!(#private::Node::any()))
            }
            (None, None) => None,
        }
    }

    pub(super) fn no_tuples(&mut self, tokens: impl ToTokens) {
        self.diagnostics.error(
            tokens,
            "tuple structs with several fields are not supported\nhelp: use named fields",
        );
    }

    /// An object of named fields.
    pub(super) fn object(
        &mut self,
        fields: &FieldsNamed,
        case: Option<Case>,
        tag: Option<TokenStream>,
    ) -> Shape {
        let private = self.private.clone();
        let (mut properties, mut flattened) = (Vec::from_iter(tag), Vec::new());
        let (mut names, mut has_aliases) = (Vec::new(), false);
        for field in &fields.named {
            let options = FieldOptions::parse(&field.attrs, self.diagnostics);
            if options.skip_serializing && options.skip_deserializing {
                continue;
            }
            self.check_recursion(field, &options);
            if options.flatten {
                let message = "limits are not allowed on a flattened field\nhelp: put them on the fields of its type, or check the value in the function";
                options.limits.refuse(message, self.diagnostics);
                flattened.push(self.flattened(&field.ty));
                continue;
            }
            let name = field_name(field, &options, case);
            properties.push(self.property(field, &options, &name));
            if !options.skip_deserializing {
                names.push(name);
                names.extend(options.aliases.iter().map(syn::LitStr::value));
                has_aliases |= !options.aliases.is_empty();
            }
        }
        let mut node = quote!(#private::Node::object(&[#(#properties),*]));
        if self.options.deny_unknown_fields {
            node.extend(quote!(.closed()));
        } else if !has_aliases {
            node.extend(quote!(.complete()));
        }
        if flattened.is_empty() {
            return Shape {
                names: Some(names),
                ..Shape::of(node)
            };
        }
        node.extend(quote!(.with_checked(&[#(#flattened),*])));
        Shape::of(node)
    }

    fn property(&mut self, field: &Field, options: &FieldOptions, name: &str) -> TokenStream {
        let private = self.private.clone();
        let (ty, description) = (&field.ty, docs::description(&field.attrs));
        let mut property = if let Some(node) = self.own_schema(options) {
            // serde requires a field with handwritten code, because it does not ask that code about an absent field.
            let optional = if options.custom.is_some() {
                quote!(false)
            } else {
                quote!({
                    #[allow(unused_imports, reason = "an `Option` has the constant itself")]
                    use #private::NotOptional as _;
                    #private::Optional::<#ty>::IS
                })
            };
            quote!(#private::Property::with_node(#name, #description, &#node, #optional))
        } else {
            quote!(#private::Property::new::<#ty>(#name, #description))
        };
        if options.default == Some(FieldDefault::OfType) && options.json.is_none() {
            property.extend(quote!(.with_type_default::<#ty>()));
        } else if options.default.is_some() || self.options.default {
            property.extend(quote!(.with_default("")));
        }
        self.warn_about_default(field, options, name);
        if options.skip_serializing_if {
            property.extend(quote!(.skipped()));
        }
        if options.skip_serializing {
            property.extend(quote!(.input_only()));
        }
        if options.skip_deserializing {
            property.extend(quote!(.output_only()));
        }
        if options.secret {
            property.extend(quote!(.secret()));
        }
        if let Some(example) = &options.example {
            property.extend(self.example(example));
        }
        property.extend(self.limits(field, options));
        property.extend(self.alias(field, options));
        property
    }

    /// Stops the build if the type of a field with an alias has limits inside.
    fn alias(&mut self, field: &Field, options: &FieldOptions) -> Option<TokenStream> {
        let alias = options.aliases.first()?;
        if options.json.is_some() || options.custom.is_some() {
            return None;
        }
        let (private, ty) = (&self.private, &field.ty);
        self.unlimited(&quote!(#private::Node::of::<#ty>()), alias)
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

    /// The limits of a field. A separate constant checks them, as in [`flattened`](Self::flattened).
    fn limits(&mut self, field: &Field, options: &FieldOptions) -> Option<TokenStream> {
        let first = options.limits.first()?;
        if options.json.is_some() {
            let message = "limits cannot be combined with `json`, which is the whole schema of the field\nhelp: write them as keywords in `json`";
            self.diagnostics.error(&first, message);
        }
        if let Some(alias) = options.aliases.first() {
            let message = "limits cannot be checked under an alias, because the schema does not list it\nhelp: remove the alias, or check the value in the function";
            self.diagnostics.error(alias, message);
        }
        let example = options.example.as_ref();
        options.limits.check(None, example, self.diagnostics);
        let (private, ty) = (&self.private, &field.ty);
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
    fn warn_about_default(&mut self, field: &Field, options: &FieldOptions, name: &str) {
        let Some(lost) = self.lost_default(&field.ty, options) else {
            return;
        };
        let message = format!(
            "the default of field `{name}` is not in the schema of `{}`\nhelp: write it in the doc comment and allow `deprecated`",
            self.name
        );
        let attributes: Vec<_> = self.attributes.iter().chain(&field.attrs).collect();
        let warning = field
            .ident
            .as_ref()
            .map(|at| lost_default(&lost, at, &attributes, &message));
        self.checks.extend(warning);
    }

    /// A constant expression that is true if the schema does not show the default of a field.
    ///
    /// In a generic type, such a constant cannot name the type of a field.
    fn lost_default(&self, ty: &Type, options: &FieldOptions) -> Option<TokenStream> {
        if options.json.is_some() || options.custom.is_some() || options.skip_deserializing {
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

    fn example(&mut self, example: &TokenStream) -> TokenStream {
        let json = json_literal(example);
        if json.is_none() {
            let message = "`example` takes a literal, because it is part of the schema";
            self.diagnostics.error(example, message);
        }
        let json = json_token(json);
        quote!(.with_example(#json))
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
}

fn field_name(field: &Field, options: &FieldOptions, case: Option<Case>) -> String {
    if let Some(rename) = &options.rename {
        return rename.value();
    }
    let name = field
        .ident
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let name = name.trim_start_matches("r#");
    case.map_or_else(|| name.to_owned(), |case| case.field(name))
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

/// Whether it is the field that `#[serde(transparent)]` applies to.
fn is_transparent(field: &Field) -> bool {
    let options = FieldOptions::parse(&field.attrs, &mut Diagnostics::default());
    let is_phantom = matches!(&field.ty, Type::Path(ty) if ty.path.segments.last().is_some_and(|last| last.ident == "PhantomData"));
    !is_phantom
        && options.default.is_none()
        && !options.skip_serializing
        && !options.skip_deserializing
}
