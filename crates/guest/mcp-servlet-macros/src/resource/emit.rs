//! The expansion: a marker type with the function's name that implements `Exported`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned as _;

use super::Kind;
use super::template::{Part, Template};
use super::validate::ValidResource;
use crate::function::attribute::{Call, Items, Kind as FunctionKind};
use crate::function::parameters::arguments;
use crate::function::{FnHead, ValidParam, emit};

/// The media type of user interfaces (MCP Apps).
const PAGE: &str = "text/html;profile=mcp-app";

const RESOURCE: FunctionKind = FunctionKind {
    name: "resource",
    output: "ResourceResult",
};

/// The items that make the function a resource or a resource template.
pub(crate) fn resource(resource: &ValidResource<'_>) -> TokenStream {
    let private = resource.options.krate.private();
    let call = Call::new(resource.head, &resource.parameters);
    let tokens = &call.tokens;
    let reply = if resource.options.presentation.has_ui() {
        quote!(__RETURNS.show(__UI_META, #tokens))
    } else {
        quote!(__RETURNS.reply(#tokens))
    };
    let items = items(resource, &private);
    RESOURCE.implement(resource.head, &private, &items, &call, &reply)
}

fn items(resource: &ValidResource<'_>, private: &TokenStream) -> Items {
    let (function, output) = (&resource.head.name, &resource.output);
    let def = def(resource, private);
    let presentation = &resource.options.presentation;
    let constants = presentation.constants(private);
    let ui_meta = presentation.has_ui().then(|| {
        quote! {
            const __UI_JSON: &[::core::primitive::u8] = &__UI.render::<{ __UI.length() }>();
            const __UI_META: &::core::primitive::str = #private::text(__UI_JSON);
        }
    });
    let template = resource.template.as_ref();
    let table = template.map(|_| table(&resource.parameters, private));
    let parsed = emit::option(
        template
            .map(|template| parsed(template, &resource.parameters, private))
            .as_ref(),
    );
    let list = resource.options.list.as_ref();
    let list_resources = emit::option(list.map(|list| list_function(list, private)).as_ref());
    let fields = quote!(__FIELDS);
    let completed = template.map(|_| completed(function, resource.uri, &fields, private));
    Items {
        before: quote! {
            #table
            #constants
            #ui_meta
            const __RETURNS: #private::ResourceReturns<#output> = #private::resource_returns::<#output>();
        },
        item: quote!(#def.item(#parsed, #list_resources, __RUNS)),
        after: completed.unwrap_or_default(),
        ..Items::default()
    }
}

/// The expansion for a function with errors.
pub(crate) fn placeholder(kind: Kind, head: &FnHead, private: &TokenStream) -> TokenStream {
    let completed = match kind {
        Kind::Fixed => TokenStream::new(),
        Kind::Template => completed(&head.name, "", &quote!(&[]), private),
    };
    RESOURCE.placeholder(head, private, completed)
}

/// The implementation of `Completed`, which `#[completion]` needs.
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
    let time = options.last_modified.to_token_stream();
    let last_modified = text(&Some(time).filter(|time| !time.is_empty()));
    let presentation = options.presentation.value(private);
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

/// The function that lists the resources of a template. Errors about it are at its name.
fn list_function(function: &Path, private: &TokenStream) -> TokenStream {
    let context = Ident::new("context", Span::mixed_site());
    let list = quote_spanned!(function.span()=> #private::listed(#function(#context)));
    quote!(|#context| #list)
}

/// The arguments. For each one, a `const` check that its type can be part of a URI.
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

/// The parsed template.
fn parsed(
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
        #private::Template::new(&[#(#parts),*], __FIELDS)
    }
}
