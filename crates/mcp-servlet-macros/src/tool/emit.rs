//! The expansion: a marker type of the function's name that implements `Tool`.
//!
//! Its items have names with two underscores, so that no expression of the author's means them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Type;

use super::head::{FnHead, cfgs};
use super::options::{ArgDefault, ToolOptions, json_literal, json_token};
use super::validate::{Argument, ValidParam, ValidTool, default_json};

/// What makes the function a tool.
pub(crate) fn tool(tool: &ValidTool<'_>) -> TokenStream {
    let marker = marker(tool.function, tool.visibility, &tool.cfgs);
    let (function, cfgs, output) = (tool.function, &tool.cfgs, &tool.output);
    let krate = &tool.options.krate;
    let private = quote!(#krate::__private);
    let def = def(tool, &private);
    let parameters = parameters(tool, &private);
    let context = Ident::new("context", Span::mixed_site());
    let arguments = Ident::new("arguments", Span::mixed_site());
    let values = values(tool, &context, &arguments);
    quote! {
        #marker
        #(#cfgs)*
        const _: () = {
            #parameters
            const __RETURNS: #private::Returns<#output> = #private::returns::<#output>();
            #[automatically_derived]
            impl #private::Tool for #function {
                const DEF: #private::ToolDef = #def;
                const PARAMETERS: #private::Parameters = __PARAMETERS;
                fn call<'a>(
                    #context: &#private::Context,
                    #arguments: #private::Arguments<'a>,
                ) -> ::core::result::Result<#private::ToolResult, #private::Failure<'a>> {
                    let _ = (#context, &#arguments);
                    __RETURNS.reply(#function(#(#values),*))
                }
            }
        };
    }
}

/// For a function with errors: enough for `export!` to resolve, so that no error follows from them.
pub(crate) fn stand_in(head: &FnHead, options: &ToolOptions) -> TokenStream {
    let name = &head.name;
    let krate = &options.krate;
    let private = quote!(#krate::__private);
    let cfgs = cfgs(head);
    let marker = marker(name, &head.visibility, &cfgs);
    quote! {
        #marker
        #(#cfgs)*
        const _: () = {
            #[automatically_derived]
            impl #private::Tool for #name {
                const DEF: #private::ToolDef = #private::ToolDef::STAND_IN;
                const PARAMETERS: #private::Parameters = #private::Parameters::fields(&[]);
                fn call<'a>(
                    _: &#private::Context,
                    _: #private::Arguments<'a>,
                ) -> ::core::result::Result<#private::ToolResult, #private::Failure<'a>> {
                    #private::stand_in()
                }
            }
        };
    }
}

/// A braced struct lives in the type namespace only, so the function keeps its name.
fn marker(name: &Ident, visibility: impl ToTokens, cfgs: &[&syn::Attribute]) -> TokenStream {
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility struct #name {}
    }
}

fn def(tool: &ValidTool<'_>, private: &TokenStream) -> TokenStream {
    let (name, description) = (&tool.name, &tool.description);
    let options = tool.options;
    let title = options.title.clone().unwrap_or_else(|| quote!(""));
    let hints = [
        ("read_only", options.read_only),
        ("destructive", options.destructive),
        ("idempotent", options.idempotent),
        ("open_world", options.open_world),
    ];
    let hints = hints.iter().filter_map(|(name, value)| {
        let (name, value) = (Ident::new(name, Span::call_site()), (*value)?);
        Some(quote!(#name: ::core::option::Option::Some(#value),))
    });
    quote! {
        #private::ToolDef {
            name: #name,
            title: #title,
            description: #description,
            hints: #private::Hints { #(#hints)* ..#private::Hints::UNSET },
            input: __INPUT,
            output: __RETURNS.output(),
        }
    }
}

/// The arguments, `__INPUT`, their schema, and `__PARAMETERS`, how to take them apart.
fn parameters(tool: &ValidTool<'_>, private: &TokenStream) -> TokenStream {
    if let Some(ty) = whole(tool) {
        let whole = if let Some(schema) = &tool.options.input_schema {
            quote!(#private::whole_of::<#ty>(&#private::Node::raw(#schema)))
        } else {
            quote!(#private::whole::<#ty>())
        };
        return quote! {
            const __WHOLE: #private::Whole<#ty> = #whole;
            const __INPUT: #private::Node = __WHOLE.node();
            const __PARAMETERS: #private::Parameters = __WHOLE.parameters();
        };
    }
    let names: Vec<_> = (0..arguments(tool).count()).map(constant).collect();
    let types = arguments(tool).map(|argument| argument.ty);
    let values = arguments(tool).map(|argument| constant_value(argument, private));
    let count = names.len();
    quote! {
        #(const #names: #private::Argument<#types> = #values;)*
        const __PROPERTIES: [#private::Property; #count] = [#(#names.property()),*];
        const __FIELDS: &[#private::Field] = &#private::Field::of(&__PROPERTIES);
        const __INPUT: #private::Node = #private::Node::object(&__PROPERTIES);
        const __PARAMETERS: #private::Parameters = #private::Parameters::fields(__FIELDS);
    }
}

fn constant(index: usize) -> Ident {
    format_ident!("__ARGUMENT_{index}")
}

fn whole<'a>(tool: &ValidTool<'a>) -> Option<&'a Type> {
    tool.parameters.iter().find_map(|param| match param {
        ValidParam::Whole(ty) => Some(*ty),
        _ => None,
    })
}

fn arguments<'a>(tool: &'a ValidTool<'_>) -> impl Iterator<Item = &'a Argument<'a>> {
    tool.parameters.iter().filter_map(|param| match param {
        ValidParam::Argument(argument) => Some(&**argument),
        _ => None,
    })
}

fn constant_value(argument: &Argument<'_>, private: &TokenStream) -> TokenStream {
    let Argument {
        ty,
        name,
        description,
        options,
        ..
    } = argument;
    let mut value = quote!(#private::argument::<#ty>(#name, #description));
    if let Some(default) = &options.default {
        let json = json_token(default_json(default));
        value.extend(quote!(.with_default(#json)));
    }
    if let Some(example) = &options.example {
        let json = json_token(json_literal(example));
        value.extend(quote!(.with_example(#json)));
    }
    if options.min.is_some() || options.max.is_some() {
        let min = json_token(options.min.as_ref().and_then(json_literal));
        let max = json_token(options.max.as_ref().and_then(json_literal));
        value.extend(quote!(.with_bounds(#min, #max)));
    }
    value
}

/// What the function is called with.
fn values(tool: &ValidTool<'_>, context: &Ident, arguments: &Ident) -> Vec<TokenStream> {
    let mut indices = 0usize..;
    let values = tool.parameters.iter().map(|param| match param {
        ValidParam::Context(at) => {
            // At the type, for the error if it is no `Context`.
            let mut context = context.clone();
            context.set_span(context.span().located_at(*at));
            context.into_token_stream()
        }
        ValidParam::Whole(_) => quote!(__WHOLE.get(&#arguments)?),
        ValidParam::Argument(argument) => value(argument, arguments, indices.next().unwrap_or(0)),
    });
    values.collect()
}

fn value(argument: &Argument<'_>, arguments: &Ident, index: usize) -> TokenStream {
    let (constant, options) = (constant(index), &argument.options);
    let value = match &options.default {
        None => quote!(#constant.get(&#arguments, #index)?),
        Some(default) => {
            let default = default_value(default);
            quote!(#constant.get_or(&#arguments, #index, #default)?)
        }
    };
    if options.min.is_none() && options.max.is_none() {
        return value;
    }
    let (min, max) = (bound(options.min.as_ref()), bound(options.max.as_ref()));
    quote!(#arguments.within(#index, #value, #min, #max)?)
}

/// A function of no arguments that makes the default.
fn default_value(default: &ArgDefault) -> TokenStream {
    match default {
        ArgDefault::OfType => quote!(::core::default::Default::default),
        ArgDefault::Value(value) => {
            if let Ok(text) = syn::parse2::<syn::LitStr>(value.clone()) {
                // A string literal stands for a `String`, or whatever else is made from one.
                quote!(|| ::core::convert::Into::into(#text))
            } else {
                quote!(|| #value)
            }
        }
    }
}

fn bound(value: Option<&TokenStream>) -> TokenStream {
    if let Some(value) = value {
        quote!(::core::option::Option::Some(#value))
    } else {
        quote!(::core::option::Option::None)
    }
}
