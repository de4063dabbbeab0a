//! The implementation of `Schema`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, GenericParam, Generics, Type};

use super::nodes::Nodes;
use super::options::TypeOptions;
use super::shape::Shape;
use super::variants::{Unit, units};

/// The type's implementation of `Schema`, and items that stop the build if the type of a field is not valid there.
pub(crate) fn implementation(
    input: &DeriveInput,
    options: &TypeOptions,
    shape: &Shape<'_>,
) -> TokenStream {
    let private = options.krate.private();
    let mut nodes = Nodes::new(input, options);
    let node = nodes.shape(shape);
    let other_constants = match shape {
        Shape::Like { ty, is_transparent } => {
            constants_of_other_type(ty, *is_transparent, &private)
        }
        Shape::Object(object) if !object.has_flattened() => {
            let names = object.names();
            quote! {
                const NAMES: ::core::option::Option<&'static [&'static ::core::primitive::str]> =
                    ::core::option::Option::Some(&[#(#names),*]);
            }
        }
        Shape::Enum(variants) => constants_of_units(&units(variants, options)),
        Shape::Object(_) | Shape::Json(_) | Shape::Null => TokenStream::new(),
    };
    let mut output = with_body(
        input,
        &private,
        &quote! {
            const NODE: &'static #private::Node = &#node;
            #other_constants
        },
    );
    output.extend(nodes.checks);
    output
}

/// The constants of a type that is serialized as another one.
fn constants_of_other_type(ty: &Type, is_transparent: bool, private: &TokenStream) -> TokenStream {
    let optional = is_transparent.then(
        || quote!(const OPTIONAL: ::core::primitive::bool = <#ty as #private::Schema>::OPTIONAL;),
    );
    quote! {
        #optional
        const NULLABLE: ::core::primitive::bool = <#ty as #private::Schema>::NULLABLE;
        const NAMES: ::core::option::Option<&'static [&'static ::core::primitive::str]> =
            <#ty as #private::Schema>::NAMES;
    }
}

/// The constants of an enum with these variants without content.
fn constants_of_units(units: &[Unit]) -> TokenStream {
    let text = quote!(&'static ::core::primitive::str);
    let table = (!units.is_empty()).then(|| {
        let pairs = units
            .iter()
            .map(|Unit { name, json, .. }| quote!((#name, #json)));
        quote!(const UNITS: &'static [(#text, #text)] = &[#(#pairs),*];)
    });
    let default = units
        .iter()
        .find(|unit| unit.is_default)
        .map(|Unit { json, .. }| quote!(const DEFAULT: #text = #json;));
    quote!(#table #default)
}

/// The implementation for a type with errors. Code that uses the type compiles, so that there are no follow-up errors.
pub(crate) fn placeholder(input: &DeriveInput, options: &TypeOptions) -> TokenStream {
    let private = options.krate.private();
    with_body(
        input,
        &private,
        &quote! {
            const NODE: &'static #private::Node = &#private::Node::object(&[]);
        },
    )
}

fn with_body(input: &DeriveInput, private: &TokenStream, body: &TokenStream) -> TokenStream {
    let name = &input.ident;
    let generics = bounded(&input.generics, private);
    let (parameters, arguments, condition) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #private::Schema for #name #arguments #condition {
            #body
        }
    }
}

/// The generics with `T: Schema` for each type parameter.
fn bounded(generics: &Generics, private: &TokenStream) -> Generics {
    let mut generics = generics.clone();
    let names: Vec<_> = generics
        .params
        .iter()
        .filter_map(|param| match param {
            GenericParam::Type(param) => Some(param.ident.clone()),
            _ => None,
        })
        .collect();
    let condition = generics.make_where_clause();
    for name in names {
        condition
            .predicates
            .push(syn::parse_quote!(#name: #private::Schema));
    }
    generics
}
