//! The expansion: a marker type that implements `Resource` or `ResourceTemplate`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned as _;

use super::Kind;
use super::template::{Part, Template};
use super::validate::ValidResource;
use crate::function::head::cfgs;
use crate::function::parameters::arguments;
use crate::function::{FnHead, ValidParam, emit};

/// The media type of user interfaces (MCP Apps).
const PAGE: &str = "text/html;profile=mcp-app";

/// What makes the function a resource, or a family of resources.
pub(crate) fn resource(resource: &ValidResource<'_>) -> TokenStream {
    let (function, cfgs, output) = (resource.function, &resource.cfgs, &resource.output);
    let marker = emit::marker(function, resource.visibility, cfgs);
    let krate = &resource.options.krate;
    let private = quote!(#krate::__private);
    let def = def(resource, &private);
    let context = Ident::new("context", Span::mixed_site());
    let variables = Ident::new("arguments", Span::mixed_site());
    let values = emit::values(&resource.parameters, &context, &variables);
    let value = quote!(#function(#(#values),*));
    let reply = match resource.options.presentation.ui_meta() {
        None => quote!(reply(#value)),
        Some(meta) => quote!(show(#meta, #value)),
    };
    let (table, kind, constants, completed) = match &resource.template {
        None => (None, format_ident!("Resource"), None, None),
        Some(template) => (
            Some(table(&resource.parameters, &private)),
            format_ident!("ResourceTemplate"),
            Some(constants(template, &resource.parameters, &private)),
            Some(completed(
                function,
                resource.uri,
                &quote!(__FIELDS),
                &private,
            )),
        ),
    };
    let check = resource.options.presentation.check(&private);
    quote! {
        #marker
        #(#cfgs)*
        const _: () = {
            #table
            #check
            const __RETURNS: #private::ResourceReturns<#output> = #private::resource_returns::<#output>();
            #[automatically_derived]
            impl #private::#kind for #function {
                const DEF: #private::ResourceDef = #def;
                #constants
                fn read<'a>(
                    #context: &#private::Context,
                    #variables: #private::Arguments<'a>,
                ) -> ::core::result::Result<#private::ResourceResult, #private::Failure<'a>> {
                    let _ = (#context, &#variables);
                    __RETURNS.#reply
                }
            }
            #completed
        };
    }
}

/// For a function with errors: enough for `export!` to resolve, so that no error follows from them.
pub(crate) fn stand_in(kind: Kind, head: &FnHead, krate: &TokenStream) -> TokenStream {
    let name = &head.name;
    let private = quote!(#krate::__private);
    let cfgs = cfgs(head);
    let marker = emit::marker(name, &head.visibility, &cfgs);
    let (kind, constants, completed) = match kind {
        Kind::Fixed => (format_ident!("Resource"), None, None),
        Kind::Template => (
            format_ident!("ResourceTemplate"),
            Some(quote! {
                const PARTS: &'static [#private::Part] = &[];
                const FIELDS: &'static [#private::Field] = &[];
            }),
            Some(completed(name, "", &quote!(&[]), &private)),
        ),
    };
    quote! {
        #marker
        #(#cfgs)*
        const _: () = {
            #[automatically_derived]
            impl #private::#kind for #name {
                const DEF: #private::ResourceDef = #private::ResourceDef::UNSET;
                #constants
                fn read<'a>(
                    _: &#private::Context,
                    _: #private::Arguments<'a>,
                ) -> ::core::result::Result<#private::ResourceResult, #private::Failure<'a>> {
                    #private::no_resource()
                }
            }
            #completed
        };
    }
}

/// What completions name.
fn completed(
    function: &Ident,
    uri: impl ToTokens,
    fields: &TokenStream,
    private: &TokenStream,
) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl #private::Completed for #function {
            const TARGET: #private::Target = #private::Target::template(#uri, #fields);
        }
    }
}

fn def(resource: &ValidResource<'_>, private: &TokenStream) -> TokenStream {
    let (uri, name, description) = (resource.uri, &resource.name, &resource.description);
    let options = resource.options;
    let text = |value: &Option<TokenStream>| value.clone().unwrap_or_else(|| quote!(""));
    let title = text(&options.title);
    let mime_type = match &options.mime_type {
        None if uri.value().starts_with("ui://") => quote!(#PAGE),
        given => text(given),
    };
    let size = emit::option(options.size.as_ref());
    let audience = options.audience.as_slice();
    let priority = options.priority.as_deref().unwrap_or_default();
    let last_modified = options.last_modified.to_token_stream();
    let last_modified = text(&Some(last_modified).filter(|time| !time.is_empty()));
    let presentation = options.presentation.tokens(private);
    quote! {
        #private::ResourceDef {
            uri: #uri,
            name: #name,
            title: #title,
            description: #description,
            mime_type: __RETURNS.mime_type(#mime_type),
            size: #size,
            audience: &[#(#audience),*],
            priority: #priority,
            last_modified: #last_modified,
            presentation: #presentation,
        }
    }
}

/// The arguments, each checked to be a piece of an address.
fn table(parameters: &[ValidParam<'_>], private: &TokenStream) -> TokenStream {
    let table = emit::arguments_by_name(parameters, private);
    let checks = arguments(parameters).enumerate().map(|(index, argument)| {
        let check = quote!(__PROPERTIES[#index].check_variable());
        emit::located(check, argument.ty.span())
    });
    quote! {
        #table
        #(const _: () = #checks;)*
    }
}

fn constants(
    template: &Template,
    parameters: &[ValidParam<'_>],
    private: &TokenStream,
) -> TokenStream {
    let parts = template.parts.iter().map(|part| match part {
        Part::Text(text) => quote!(#private::Part::Text(#text)),
        Part::Expression {
            operator,
            variables,
        } => {
            let operator = Ident::new(&operator.name(), Span::call_site());
            let indices = variables.iter().filter_map(|variable| {
                let at = arguments(parameters).position(|argument| argument.name == *variable);
                at.map(Literal::usize_unsuffixed)
            });
            quote!(#private::Part::Variables(#private::Operator::#operator, &[#(#indices),*]))
        }
    });
    quote! {
        const PARTS: &'static [#private::Part] = &[#(#parts),*];
        const FIELDS: &'static [#private::Field] = __FIELDS;
    }
}
