//! The expansion: a marker type with the function's name that implements `Exported`.
//!
//! Its items have names with two leading underscores, so that they do not clash with the author's names.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Type;
use syn::spanned::Spanned as _;

use super::{ToolOptions, ValidTool};
use crate::docs;
use crate::function::attribute::{Call, Items, Kind};
use crate::function::parameters::arguments as by_name;
use crate::function::undocumented::Subject;
use crate::function::{FnHead, ValidParam, emit};

const TOOL: Kind = Kind {
    name: "tool",
    output: "ToolResult",
};

/// The items that make the function a tool.
pub(crate) fn tool(tool: &ValidTool<'_>) -> TokenStream {
    let private = tool.options.krate.private();
    let call = Call::new(tool.head, &tool.parameters);
    let output = &tool.output;
    let returns = if tool.options.parts.is_some() {
        quote!(#private::Texts<#output> = #private::texts::<#output>())
    } else {
        quote!(#private::ToolReturns<#output> = #private::returns::<#output>())
    };
    let def = def(tool, &private);
    let parameters = parameters(tool, &private);
    let presentation = tool.options.presentation.constants(&private);
    let subject = Subject {
        kind: "tool",
        name: &tool.head.name,
        attributes: &tool.head.attributes,
        is_described: tool.options.description.is_some() || docs::has_any(&tool.head.attributes),
    };
    let lost_defaults = subject.lost_defaults(&tool.parameters);
    let schema = emit::schema();
    let items = Items {
        warnings: subject.warnings(&tool.parameters),
        before: quote! {
            #parameters
            #lost_defaults
            #presentation
            #schema
            const __RETURNS: #returns;
        },
        item: quote!(#def.item(__PARAMETERS, __RUNS)),
        has_schema: true,
        after: TokenStream::new(),
    };
    TOOL.implement(
        tool.head,
        &private,
        &items,
        &call,
        &reply(tool, &call, &private),
    )
}

/// The result of the call. With `parts`, `max_length` and `start_index` are read first, so that their errors come first.
fn reply(tool: &ValidTool<'_>, call: &Call, private: &TokenStream) -> TokenStream {
    let Call {
        arguments, tokens, ..
    } = call;
    let page = tool.options.parts.as_ref().map(|length| {
        let index = by_name(&tool.parameters).count();
        quote!(#private::TextPage::requested(&#arguments, #index, #length)?,)
    });
    quote!(__RETURNS.reply(#page #tokens))
}

/// The expansion for a function with errors.
pub(crate) fn placeholder(head: &FnHead, options: &ToolOptions) -> TokenStream {
    TOOL.placeholder(head, &options.krate.private(), TokenStream::new())
}

fn def(tool: &ValidTool<'_>, private: &TokenStream) -> TokenStream {
    let (name, options) = (&tool.name, tool.options);
    let description = options
        .description
        .clone()
        .unwrap_or_else(|| docs::description(&tool.head.attributes));
    let title = options.title.clone().unwrap_or_else(|| quote!(""));
    let presentation = options.presentation.value(private);
    let hints = [
        ("read_only", options.read_only),
        ("destructive", options.destructive),
        ("idempotent", options.idempotent),
        ("open_world", options.open_world),
    ];
    let given = hints.iter().filter_map(|(name, value)| {
        let (name, value) = (Ident::new(name, Span::call_site()), (*value)?);
        Some(quote!(#name: ::core::option::Option::Some(#value),))
    });
    let closed = whole(tool).is_none().then(|| quote!(.closed()));
    let task = options
        .task
        .as_ref()
        .map(|task| quote!(task: ::core::option::Option::Some(#task),));
    // With every hint given, `..UNSET` would trigger Clippy's `needless_update` in the author's crate.
    let has_unset = task.is_none() || hints.iter().any(|(_, value)| value.is_none());
    let rest = has_unset.then(|| quote!(..#private::ToolHints::UNSET));
    quote! {
        #private::ToolDef {
            name: #name,
            title: #title,
            description: #description,
            hints: #private::ToolHints { #(#given)* #task #rest },
            input: __INPUT #closed,
            output: __RETURNS.output(),
            presentation: #presentation,
        }
    }
}

/// The constants of the arguments: their schema `__INPUT`, and `__PARAMETERS` for reading them.
fn parameters(tool: &ValidTool<'_>, private: &TokenStream) -> TokenStream {
    let Some((ty, schemars)) = whole(tool) else {
        let more = tool.options.parts.as_ref().map(|length| {
            let length = length.base10_digits();
            [
                quote!(#private::TextPage::length(#length)),
                quote!(#private::TextPage::START),
            ]
        });
        return emit::arguments_and(more.iter().flatten(), &tool.parameters, private);
    };
    let (whole, at) = if let Some(schema) = &tool.options.input_schema {
        (quote!(#private::whole_of::<#ty>(#schema)), schema.span())
    } else if schemars {
        (quote!(#private::schemars_whole::<#ty>()), ty.span())
    } else {
        (quote!(#private::whole::<#ty>()), ty.span())
    };
    let check = emit::located(quote!(__WHOLE.check_object()), at);
    quote! {
        const __WHOLE: #private::Whole<#ty> = #whole;
        const _: () = #check;
        const __INPUT: #private::Node = __WHOLE.node();
        const __PARAMETERS: #private::Parameters = __WHOLE.parameters();
    }
}

/// The type that takes all arguments, and whether schemars makes its schema.
fn whole<'a>(tool: &ValidTool<'a>) -> Option<(&'a Type, bool)> {
    tool.parameters.iter().find_map(|param| match param {
        ValidParam::Whole { ty, schemars } => Some((*ty, *schemars)),
        _ => None,
    })
}
