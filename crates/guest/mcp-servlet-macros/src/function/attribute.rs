//! The common steps of the attributes on functions: read the options and the function, check them, and implement
//! a trait for a marker type with the function's name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Attribute, Visibility};

use super::emit::values;
use super::head::{FnHead, cfgs};
use super::parameters::ValidParam;
use super::strip;
use crate::attributes::{Entries, Key};
use crate::diagnostics::Diagnostics;

/// An attribute for functions that `export!` lists.
pub(crate) trait FunctionAttribute {
    /// The options in the attribute.
    type Options: Default;
    /// A function without errors, with its options.
    type Valid<'a>;

    /// The name of the attribute.
    fn name(&self) -> &'static str;

    /// Its options.
    fn keys(&self) -> Vec<Key<Self::Options>>;

    /// The options to use if the attribute does not parse.
    fn unknown_options(&self) -> Self::Options {
        Self::Options::default()
    }

    /// Checks every rule; `None` if the function cannot be expanded.
    fn validate<'a>(
        &self,
        head: &'a FnHead,
        options: &'a Self::Options,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self::Valid<'a>>;

    /// The items next to the function.
    fn emit(&self, valid: &Self::Valid<'_>) -> TokenStream;

    /// The items next to a function with errors. `export!` can resolve them, so that there are no follow-up errors.
    fn placeholder(&self, head: &FnHead, options: &Self::Options) -> TokenStream;

    /// The author's function, followed by the generated items, or by the errors.
    fn expand(&self, attribute: TokenStream, item: TokenStream) -> TokenStream {
        let mut diagnostics = Diagnostics::default();
        let mut output = strip::without_parameter_attributes(item.clone());
        let options = self.options(attribute, &mut diagnostics);
        if let Some(head) = diagnostics.ok(FnHead::parse(self.name(), item)) {
            let valid = self.validate(&head, &options, &mut diagnostics);
            output.extend(match valid {
                Some(valid) if diagnostics.is_empty() => self.emit(&valid),
                // The function is in an `impl`, which cannot contain the marker type.
                _ if head.has_receiver() => TokenStream::new(),
                _ => self.placeholder(&head, &options),
            });
        }
        output.extend(diagnostics.into_tokens());
        output
    }

    /// Reads the attribute.
    fn options(&self, attribute: TokenStream, diagnostics: &mut Diagnostics) -> Self::Options {
        let Some(entries) = Entries::parse_arguments(attribute, diagnostics) else {
            return self.unknown_options();
        };
        let mut options = Self::Options::default();
        entries.read(self.name(), &self.keys(), &mut options, diagnostics);
        options
    }
}

/// A kind of function: what an attribute implements `Exported` with, as names in `__private`.
pub(crate) struct Kind {
    /// The kind.
    pub(crate) name: &'static str,
    /// The type that the function's value becomes.
    pub(crate) output: &'static str,
}

/// The other items of the implementation; may be empty.
#[derive(Default)]
pub(crate) struct Items {
    /// Next to the function; they make the compiler warn.
    pub(crate) warnings: TokenStream,
    /// Before the implementation.
    pub(crate) before: TokenStream,
    /// What `export!` lists, as an expression; empty for a function with errors.
    pub(crate) item: TokenStream,
    /// Whether `__SCHEMA` is the schema of its arguments.
    pub(crate) has_schema: bool,
    /// After the implementation.
    pub(crate) after: TokenStream,
}

/// A call of the author's function, inside the method.
pub(crate) struct Call {
    context: Ident,
    /// The parameter of the method that holds the arguments.
    pub(crate) arguments: Ident,
    /// The call.
    pub(crate) tokens: TokenStream,
}

impl Call {
    /// Calls the function with the values of its parameters.
    pub(crate) fn new(head: &FnHead, parameters: &[ValidParam<'_>]) -> Self {
        let context = Ident::new("context", Span::mixed_site());
        let arguments = Ident::new("arguments", Span::mixed_site());
        let (function, values) = (&head.name, values(parameters, &context, &arguments));
        Self {
            tokens: quote!(#function(#(#values),*)),
            context,
            arguments,
        }
    }
}

impl Kind {
    /// The marker type and its implementation. `reply` is the body's last expression.
    pub(crate) fn implement(
        &self,
        head: &FnHead,
        private: &TokenStream,
        items: &Items,
        call: &Call,
        reply: &TokenStream,
    ) -> TokenStream {
        let (context, arguments) = (&call.context, &call.arguments);
        let body = quote! {
            let _ = (#context, &#arguments);
            #reply
        };
        let names = [quote!(#context), quote!(#arguments)];
        self.write(head, private, items, &names, &body)
    }

    /// The same for a function with errors, which nothing calls.
    pub(crate) fn placeholder(
        &self,
        head: &FnHead,
        private: &TokenStream,
        after: TokenStream,
    ) -> TokenStream {
        let kind = Ident::new(self.name, Span::call_site());
        let items = Items {
            item: quote!(<#private::kind::#kind as #private::Kind>::PLACEHOLDER),
            after,
            ..Items::default()
        };
        let names = [quote!(_), quote!(_)];
        let body = quote!(#private::placeholder());
        self.write(head, private, &items, &names, &body)
    }

    fn write(
        &self,
        head: &FnHead,
        private: &TokenStream,
        items: &Items,
        [context, arguments]: &[TokenStream; 2],
        body: &TokenStream,
    ) -> TokenStream {
        let (name, cfgs) = (&head.name, cfgs(head));
        let marker = marker(name, &head.visibility, &cfgs);
        let [kind, output] =
            [self.name, self.output].map(|name| Ident::new(name, Span::call_site()));
        let Items {
            warnings,
            before,
            item,
            has_schema,
            after,
        } = items;
        let schema = has_schema.then(|| {
            quote!(
                const SCHEMA: &'static [::core::primitive::u8] = __SCHEMA;
            )
        });
        quote! {
            #marker
            #warnings
            #(#cfgs)*
            const _: () = {
                #before
                const __RUNS: #private::Runs<#private::kind::#kind> =
                    <#name as #private::Exported<#private::kind::#kind>>::RUNS;
                #[automatically_derived]
                impl #private::Exported<#private::kind::#kind> for #name {
                    const ITEM: #private::Item<#private::kind::#kind> = #item;
                    #schema
                    fn run<'a>(
                        #context: &#private::Context,
                        #arguments: #private::Arguments<'a>,
                    ) -> ::core::result::Result<#private::#output, #private::Failure<'a>> {
                        #body
                    }
                }
                #after
            };
        }
    }
}

/// A braced struct lives in the type namespace only, so the function keeps its name.
fn marker(name: &Ident, visibility: &Visibility, cfgs: &[&Attribute]) -> TokenStream {
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility struct #name {}
    }
}
