//! The implementation of `Schema`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, GenericParam, Generics};

use super::options::TypeOptions;
use super::shape::{Shape, Unit, private};

/// The type's implementation of `Schema`.
pub(crate) fn implementation(
    input: &DeriveInput,
    options: &TypeOptions,
    shape: &Shape,
) -> TokenStream {
    let private = private(options);
    let Shape {
        node,
        same_as,
        transparent,
        names,
        units,
        checks,
    } = shape;
    let same = same_as.as_ref().map(|ty| {
        let optional = transparent.then(|| quote!(const OPTIONAL: ::core::primitive::bool = <#ty as #private::Schema>::OPTIONAL;));
        quote! {
            #optional
            const NULLABLE: ::core::primitive::bool = <#ty as #private::Schema>::NULLABLE;
            const NAMES: ::core::option::Option<&'static [&'static ::core::primitive::str]> =
                <#ty as #private::Schema>::NAMES;
        }
    });
    let names = names.as_ref().map(|names| {
        quote! {
            const NAMES: ::core::option::Option<&'static [&'static ::core::primitive::str]> =
                ::core::option::Option::Some(&[#(#names),*]);
        }
    });
    let text = quote!(&'static ::core::primitive::str);
    let units_table = (!units.is_empty()).then(|| {
        let pairs = units
            .iter()
            .map(|Unit { name, json, .. }| quote!((#name, #json)));
        quote!(const UNITS: &'static [(#text, #text)] = &[#(#pairs),*];)
    });
    let default = units.iter().find(|unit| unit.is_default);
    let default = default.map(|Unit { json, .. }| quote!(const DEFAULT: #text = #json;));
    let mut output = with_body(
        input,
        &private,
        &quote! {
            const NODE: &'static #private::Node = &#node;
            #same
            #names
            #units_table
            #default
        },
    );
    output.extend(checks.iter().cloned());
    output
}

/// The implementation for a type with errors. Code that uses the type compiles, so that there are no follow-up errors.
pub(crate) fn placeholder(input: &DeriveInput, options: &TypeOptions) -> TokenStream {
    let private = private(options);
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
