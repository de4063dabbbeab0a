//! `#[prompt]`: parse, check, expand.

#[cfg(test)]
mod tests;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::LitStr;

use crate::attributes::{CratePath, Key, key};
use crate::diagnostics::Diagnostics;
use crate::docs;
use crate::function::attribute::{Call, FunctionAttribute, Items, Kind};
use crate::function::parameters::parameters;
use crate::function::{FnHead, ValidParam, check, emit};
use crate::presentation::Presentation;

/// `#[prompt]`
pub(crate) struct Prompt;

/// `#[prompt(…)]`
#[derive(Default)]
pub(crate) struct PromptOptions {
    name: Option<LitStr>,
    title: Option<TokenStream>,
    description: Option<TokenStream>,
    presentation: Presentation,
    krate: CratePath,
}

/// The options of `#[prompt]`.
const KEYS: &[Key<PromptOptions>] = &[
    key!(name: string),
    key!(title: expression),
    key!(description: expression),
    key!(presentation.icons),
    key!(presentation.meta),
    Key::refused("ui", |_, entry, diagnostics| {
        let message = "a prompt has no `ui`\nhelp: put it on a tool or a resource";
        diagnostics.error(&entry.key, message);
    }),
    key!(crate),
];

/// A function that can be a prompt.
pub(crate) struct ValidPrompt<'a> {
    head: &'a FnHead,
    options: &'a PromptOptions,
    name: String,
    output: TokenStream,
    parameters: Vec<ValidParam<'a>>,
}

impl FunctionAttribute for Prompt {
    type Options = PromptOptions;
    type Valid<'a> = ValidPrompt<'a>;

    fn name(&self) -> &'static str {
        "prompt"
    }

    fn keys(&self) -> Vec<Key<PromptOptions>> {
        KEYS.to_vec()
    }

    fn validate<'a>(
        &self,
        head: &'a FnHead,
        options: &'a PromptOptions,
        diagnostics: &mut Diagnostics,
    ) -> Option<ValidPrompt<'a>> {
        check::check_signature("prompt", head, diagnostics);
        let parameters = parameters("prompt", head, false, diagnostics);
        check::no_whole("prompt", &parameters, head, diagnostics);
        let output = check::output("prompt", &head.output, diagnostics);
        let name = check::name("prompt", head, options.name.as_ref(), diagnostics);
        Some(ValidPrompt {
            head,
            options,
            name,
            output: output?,
            parameters,
        })
    }

    fn emit(&self, prompt: &ValidPrompt<'_>) -> TokenStream {
        let private = prompt.options.krate.private();
        let call = Call::new(prompt.head, &prompt.parameters);
        let tokens = &call.tokens;
        let reply = quote!(__RETURNS.reply(#tokens));
        PROMPT.implement(
            prompt.head,
            &private,
            &items(prompt, &private),
            &call,
            &reply,
        )
    }

    fn placeholder(&self, head: &FnHead, options: &PromptOptions) -> TokenStream {
        let private = options.krate.private();
        let completed = completed(&head.name, "", &quote!(&[]), &private);
        PROMPT.placeholder(head, &private, completed)
    }
}

const PROMPT: Kind = Kind {
    name: "prompt",
    output: "PromptResult",
};

/// The implementation of `Completed`, which `#[completion]` needs.
fn completed(
    function: &Ident,
    name: &str,
    fields: &TokenStream,
    private: &TokenStream,
) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl #private::Completed for #function {
            const TARGET: #private::Target = #private::Target::prompt(#name, #fields);
        }
    }
}

/// The author's function, followed by the items that make it a prompt, or by the errors.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    Prompt.expand(attribute, item)
}

fn items(prompt: &ValidPrompt<'_>, private: &TokenStream) -> Items {
    let (function, name, output) = (&prompt.head.name, &prompt.name, &prompt.output);
    let options = prompt.options;
    let title = options.title.clone().unwrap_or_else(|| quote!(""));
    let description = options
        .description
        .clone()
        .unwrap_or_else(|| docs::description(&prompt.head.attributes));
    let presentation = options.presentation.value(private);
    let table = emit::arguments_by_name(&prompt.parameters, private);
    let constants = options.presentation.constants(private);
    let schema = emit::schema();
    Items {
        before: quote! {
            #table
            #schema
            #constants
            const __RETURNS: #private::PromptReturns<#output> = #private::prompt_returns::<#output>();
        },
        item: quote! {
            #private::PromptDef {
                name: #name,
                title: #title,
                description: #description,
                input: __INPUT,
                presentation: #presentation,
            }
            .item(__FIELDS, __SCHEMA, __RUNS)
        },
        has_schema: true,
        after: completed(function, name, &quote!(__FIELDS), private),
        ..Items::default()
    }
}
