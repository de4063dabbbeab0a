//! `#[completion]`: parse, check, expand.

#[cfg(test)]
mod tests;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Path, Token};

use crate::attributes::{Entries, unknown_key};
use crate::diagnostics::Diagnostics;
use crate::function::head::cfgs;
use crate::function::parameters::{arguments as by_name, parameters};
use crate::function::{FnHead, ValidParam, check, emit, strip};

/// `review.language`: a prompt or a resource template, and an argument of it.
struct Subject {
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
struct CompletionOptions {
    of: Option<Subject>,
    /// Whether a subject was given, right or wrong.
    has_of: bool,
    /// The path of `mcp_servlet`.
    krate: TokenStream,
}

impl CompletionOptions {
    fn parse(attribute: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        let mut options = Self {
            of: None,
            has_of: false,
            krate: quote!(::mcp_servlet),
        };
        let Some(entries) = diagnostics.ok(syn::parse2::<Entries>(attribute)) else {
            options.has_of = true;
            return options;
        };
        entries.check_unique(diagnostics);
        for entry in &entries.0 {
            match entry.key.to_string().as_str() {
                "of" => {
                    options.has_of = true;
                    if let Some(value) = entry.expression(diagnostics) {
                        options.of = subject(value, diagnostics);
                    }
                }
                "crate" => entry.path(&mut options.krate, diagnostics),
                _ => unknown_key(diagnostics, "completion", &entry.key, &["of", "crate"]),
            }
        }
        options
    }
}

fn subject(value: TokenStream, diagnostics: &mut Diagnostics) -> Option<Subject> {
    let subject = syn::parse2(value.clone());
    if subject.is_err() {
        diagnostics.error(
            value,
            "`of` takes a function and its argument\nhelp: write `of = review.language`",
        );
    }
    subject.ok()
}

/// The author's function, and beside it what makes it suggest values, or the errors.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let mut output = strip::without_parameter_attributes(item.clone());
    let options = CompletionOptions::parse(attribute, &mut diagnostics);
    let Some(head) = diagnostics.ok(FnHead::parse("completion", item)) else {
        output.extend(diagnostics.into_tokens());
        return output;
    };
    check::check("completion", &head, &mut diagnostics);
    let parameters = parameters("completion", &head, false, &mut diagnostics);
    check::no_whole("completion", &parameters, &head, &mut diagnostics);
    let returned = check::output("completion", &head.output, &mut diagnostics);
    if !options.has_of {
        let name = &head.name;
        diagnostics.error(
            name,
            format!(
                "`{name}` completes nothing\nhelp: write `#[completion(of = review.language)]`"
            ),
        );
    }
    output.extend(match (returned, &options.of) {
        (Some(returned), Some(of)) if diagnostics.is_empty() => {
            emit_completion(&head, of, &options.krate, &parameters, &returned)
        }
        _ if head.has_receiver() => TokenStream::new(),
        _ => stand_in(&head, &options.krate),
    });
    output.extend(diagnostics.into_tokens());
    output
}

fn emit_completion(
    head: &FnHead,
    of: &Subject,
    krate: &TokenStream,
    parameters: &[ValidParam<'_>],
    returned: &TokenStream,
) -> TokenStream {
    let (function, cfgs) = (&head.name, cfgs(head));
    let marker = emit::marker(function, &head.visibility, &cfgs);
    let private = quote!(#krate::__private);
    let (target, argument) = (&of.target, of.argument.unraw().to_string());
    let table = emit::arguments_by_name(parameters, &private);
    let context = Ident::new("context", Span::mixed_site());
    let arguments = Ident::new("arguments", Span::mixed_site());
    let values = emit::values(parameters, &context, &arguments);
    let def = quote!(<#function as #private::Suggest>::DEF);
    let check = emit::located(quote!(#def.check_argument()), of.argument.span());
    let checks = by_name(parameters).enumerate().map(|(index, parameter)| {
        emit::located(quote!(#def.check_parameter(#index)), parameter.ident.span())
    });
    quote! {
        #marker
        #(#cfgs)*
        const _: () = {
            #table
            const __RETURNS: #private::CompletionReturns<#returned> = #private::completion_returns::<#returned>();
            #[automatically_derived]
            impl #private::Suggest for #function {
                const DEF: #private::CompletionDef =
                    #private::CompletionDef::new(<#target as #private::Completed>::TARGET, #argument, __FIELDS);
                fn suggest<'a>(
                    #context: &#private::Context,
                    #arguments: #private::Arguments<'a>,
                ) -> ::core::result::Result<#private::Completion, #private::Failure<'a>> {
                    let _ = (#context, &#arguments);
                    __RETURNS.reply(#function(#(#values),*))
                }
            }
            const _: () = #check;
            #(const _: () = #checks;)*
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
            impl #private::Suggest for #name {
                const DEF: #private::CompletionDef = #private::CompletionDef::STAND_IN;
                fn suggest<'a>(
                    _: &#private::Context,
                    _: #private::Arguments<'a>,
                ) -> ::core::result::Result<#private::Completion, #private::Failure<'a>> {
                    #private::no_completion()
                }
            }
        };
    }
}
