//! `#[prompt]`: parse, check, expand.

#[cfg(test)]
mod tests;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::LitStr;

use crate::attributes::{Entries, unknown_key};
use crate::diagnostics::Diagnostics;
use crate::docs;
use crate::function::head::cfgs;
use crate::function::parameters::parameters;
use crate::function::{FnHead, ValidParam, check, emit, strip};
use crate::presentation::{Bearer, Presentation};

/// `#[prompt(…)]`
struct PromptOptions {
    name: Option<LitStr>,
    title: Option<TokenStream>,
    description: Option<TokenStream>,
    presentation: Presentation,
    /// The path of `mcp_servlet`.
    krate: TokenStream,
}

const KEYS: &[&str] = &["name", "title", "description", "icons", "meta", "crate"];

impl PromptOptions {
    fn parse(attribute: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        let mut options = Self {
            name: None,
            title: None,
            description: None,
            presentation: Presentation::default(),
            krate: quote!(::mcp_servlet),
        };
        let Some(entries) = diagnostics.ok(syn::parse2::<Entries>(attribute)) else {
            return options;
        };
        entries.check_unique(diagnostics);
        for entry in &entries.0 {
            if (options.presentation).take(entry, Bearer::Prompt, diagnostics) {
                continue;
            }
            match entry.key.to_string().as_str() {
                "name" => options.name = entry.string(diagnostics),
                "title" => options.title = entry.expression(diagnostics),
                "description" => options.description = entry.expression(diagnostics),
                "crate" => entry.path(&mut options.krate, diagnostics),
                _ => unknown_key(diagnostics, "prompt", &entry.key, KEYS),
            }
        }
        options
    }
}

/// The author's function, and beside it what makes it a prompt, or the errors.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let mut output = strip::without_parameter_attributes(item.clone());
    let options = PromptOptions::parse(attribute, &mut diagnostics);
    let Some(head) = diagnostics.ok(FnHead::parse("prompt", item)) else {
        output.extend(diagnostics.into_tokens());
        return output;
    };
    check::check("prompt", &head, &mut diagnostics);
    let parameters = parameters("prompt", &head, false, &mut diagnostics);
    check::no_whole("prompt", &parameters, &head, &mut diagnostics);
    let returned = check::output("prompt", &head.output, &mut diagnostics);
    let name = check::name("prompt", &head, options.name.as_ref(), &mut diagnostics);
    output.extend(match returned {
        Some(returned) if diagnostics.is_empty() => {
            emit_prompt(&head, &options, &name, &parameters, &returned)
        }
        _ if head.has_receiver() => TokenStream::new(),
        _ => stand_in(&head, &options.krate),
    });
    output.extend(diagnostics.into_tokens());
    output
}

fn emit_prompt(
    head: &FnHead,
    options: &PromptOptions,
    name: &str,
    parameters: &[ValidParam<'_>],
    returned: &TokenStream,
) -> TokenStream {
    let (function, cfgs) = (&head.name, cfgs(head));
    let marker = emit::marker(function, &head.visibility, &cfgs);
    let krate = &options.krate;
    let private = quote!(#krate::__private);
    let title = options.title.clone().unwrap_or_else(|| quote!(""));
    let description = options.description.clone();
    let description = description.unwrap_or_else(|| docs::description(&head.attributes));
    let presentation = options.presentation.tokens(&private);
    let table = emit::arguments_by_name(parameters, &private);
    let context = Ident::new("context", Span::mixed_site());
    let arguments = Ident::new("arguments", Span::mixed_site());
    let values = emit::values(parameters, &context, &arguments);
    let check = options.presentation.check(&private);
    quote! {
        #marker
        #(#cfgs)*
        const _: () = {
            #table
            #check
            const __RETURNS: #private::PromptReturns<#returned> = #private::prompt_returns::<#returned>();
            #[automatically_derived]
            impl #private::Prompt for #function {
                const DEF: #private::PromptDef = #private::PromptDef {
                    name: #name,
                    title: #title,
                    description: #description,
                    input: __INPUT,
                    presentation: #presentation,
                };
                const FIELDS: &'static [#private::Field] = __FIELDS;
                #[allow(long_running_const_eval, reason = "long descriptions take long to render")]
                const SCHEMA: &'static [::core::primitive::u8] =
                    &__INPUT.render::<{ __INPUT.length() }>();
                fn get<'a>(
                    #context: &#private::Context,
                    #arguments: #private::Arguments<'a>,
                ) -> ::core::result::Result<#private::PromptResult, #private::Failure<'a>> {
                    let _ = (#context, &#arguments);
                    __RETURNS.reply(#function(#(#values),*))
                }
            }
            #[automatically_derived]
            impl #private::Completed for #function {
                const TARGET: #private::Target = #private::Target::prompt(#name, __FIELDS);
            }
        };
    }
}

/// For a function with errors: enough for `export!` to resolve, so that no error follows from them.
fn stand_in(head: &FnHead, krate: &TokenStream) -> TokenStream {
    let name = &head.name;
    let private = quote!(#krate::__private);
    let cfgs = cfgs(head);
    let marker = emit::marker(name, &head.visibility, &cfgs);
    quote! {
        #marker
        #(#cfgs)*
        const _: () = {
            #[automatically_derived]
            impl #private::Prompt for #name {
                const DEF: #private::PromptDef = #private::PromptDef::STAND_IN;
                const FIELDS: &'static [#private::Field] = &[];
                const SCHEMA: &'static [::core::primitive::u8] = &[];
                fn get<'a>(
                    _: &#private::Context,
                    _: #private::Arguments<'a>,
                ) -> ::core::result::Result<#private::PromptResult, #private::Failure<'a>> {
                    #private::no_prompt()
                }
            }
            #[automatically_derived]
            impl #private::Completed for #name {
                const TARGET: #private::Target = #private::Target::prompt("", &[]);
            }
        };
    }
}
