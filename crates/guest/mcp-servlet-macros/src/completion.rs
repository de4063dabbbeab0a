//! `#[completion]`: parse, check, expand.

#[cfg(test)]
mod tests;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Path, Token};

use crate::attributes::{CratePath, Entry, Key, key};
use crate::diagnostics::Diagnostics;
use crate::function::attribute::{Call, FunctionAttribute, Items, Kind};
use crate::function::parameters::{arguments as by_name, parameters};
use crate::function::{FnHead, ValidParam, check, emit};

/// `#[completion]`
pub(crate) struct Completion;

/// `review.language`: a prompt or a resource template, and one of its arguments.
pub(crate) struct Subject {
    target: Path,
    argument: Ident,
}

impl Parse for Subject {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let target = input.call(Path::parse_mod_style)?;
        input.parse::<Token![.]>()?;
        let argument = input.call(Ident::parse_any)?;
        Ok(Self { target, argument })
    }
}

/// `#[completion(…)]`
#[derive(Default)]
pub(crate) struct CompletionOptions {
    of: Option<Subject>,
    /// Whether the attribute has `of`, valid or not.
    has_of: bool,
    krate: CratePath,
}

/// The options of `#[completion]`.
const KEYS: &[Key<CompletionOptions>] = &[
    Key::new("of", |options, entry, diagnostics| {
        options.has_of = true;
        options.of = subject(entry, diagnostics);
    }),
    key!(crate),
];

fn subject(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Subject> {
    let value = entry.expression(diagnostics)?;
    let subject = syn::parse2(value.clone());
    if subject.is_err() {
        diagnostics.error(
            value,
            "expected `of = function.argument`\nhelp: name a function and its argument, as in `of = review.language`",
        );
    }
    subject.ok()
}

/// A function that can suggest values.
pub(crate) struct ValidCompletion<'a> {
    head: &'a FnHead,
    of: &'a Subject,
    krate: &'a CratePath,
    output: TokenStream,
    parameters: Vec<ValidParam<'a>>,
}

impl FunctionAttribute for Completion {
    type Options = CompletionOptions;
    type Valid<'a> = ValidCompletion<'a>;

    fn name(&self) -> &'static str {
        "completion"
    }

    fn keys(&self) -> Vec<Key<CompletionOptions>> {
        KEYS.to_vec()
    }

    /// Pretends that there is `of`, so that no second error says that it is missing.
    fn unknown_options(&self) -> CompletionOptions {
        CompletionOptions {
            has_of: true,
            ..CompletionOptions::default()
        }
    }

    fn validate<'a>(
        &self,
        head: &'a FnHead,
        options: &'a CompletionOptions,
        diagnostics: &mut Diagnostics,
    ) -> Option<ValidCompletion<'a>> {
        check::check_signature("completion", head, diagnostics);
        let parameters = parameters("completion", head, false, diagnostics);
        check::no_whole("completion", &parameters, head, diagnostics);
        let output = check::output("completion", &head.output, diagnostics);
        if !options.has_of {
            let message = "missing option `of` in `#[completion]`\nhelp: write `#[completion(of = review.language)]`";
            diagnostics.error(&head.name, message);
        }
        Some(ValidCompletion {
            head,
            of: options.of.as_ref()?,
            krate: &options.krate,
            output: output?,
            parameters,
        })
    }

    fn emit(&self, completion: &ValidCompletion<'_>) -> TokenStream {
        let private = completion.krate.private();
        let call = Call::new(completion.head, &completion.parameters);
        let tokens = &call.tokens;
        let (reply, items) = (
            quote!(__RETURNS.reply(#tokens)),
            items(completion, &private),
        );
        COMPLETION.implement(completion.head, &private, &items, &call, &reply)
    }

    fn placeholder(&self, head: &FnHead, options: &CompletionOptions) -> TokenStream {
        COMPLETION.placeholder(head, &options.krate.private(), TokenStream::new())
    }
}

const COMPLETION: Kind = Kind {
    name: "completion",
    output: "Completion",
};

/// The author's function, followed by the items that make it a completion, or by the errors.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    Completion.expand(attribute, item)
}

fn items(completion: &ValidCompletion<'_>, private: &TokenStream) -> Items {
    let (output, of) = (&completion.output, completion.of);
    let (target, argument) = (&of.target, of.argument.unraw().to_string());
    let table = emit::arguments_by_name(&completion.parameters, private);
    let def = quote!(__DEF);
    let check = emit::located(quote!(#def.check_argument()), of.argument.span());
    let parameters = by_name(&completion.parameters).enumerate();
    let checks = parameters.map(|(index, parameter)| {
        emit::located(quote!(#def.check_parameter(#index)), parameter.ident.span())
    });
    Items {
        before: quote! {
            #table
            const __RETURNS: #private::CompletionReturns<#output> = #private::completion_returns::<#output>();
            const __DEF: #private::CompletionDef =
                #private::CompletionDef::new(<#target as #private::Completed>::TARGET, #argument, __FIELDS);
        },
        item: quote!(__DEF.item(__RUNS)),
        after: quote! {
            const _: () = #check;
            #(const _: () = #checks;)*
        },
        ..Items::default()
    }
}
