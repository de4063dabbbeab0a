//! The common parts of expansions: the table of parameters, and their values.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Type, spanned::Spanned as _};

use super::arg::{json_literal, json_token};
use super::default::{ArgDefault, JsonDefault};
use super::limits::Range;
use super::parameters::{Argument, ValidParam, arguments};

/// The constants `__INPUT`, the schema of the arguments, and `__PARAMETERS` for reading them.
pub(crate) fn arguments_by_name(
    parameters: &[ValidParam<'_>],
    private: &TokenStream,
) -> TokenStream {
    arguments_and([].iter(), parameters, private)
}

/// The same with further properties at the end.
pub(crate) fn arguments_and<'a>(
    more: impl Iterator<Item = &'a TokenStream> + Clone,
    parameters: &[ValidParam<'_>],
    private: &TokenStream,
) -> TokenStream {
    let names: Vec<_> = (0..arguments(parameters).count()).map(constant).collect();
    let types = arguments(parameters).map(|argument| argument.ty);
    let values = arguments(parameters).map(|argument| constant_value(argument, private));
    let checks = names
        .iter()
        .zip(arguments(parameters))
        .flat_map(|(name, argument)| checks_of(name, argument));
    let defaults = arguments(parameters)
        .enumerate()
        .filter_map(|(index, argument)| default_of(index, argument, private));
    let count = names.len() + more.clone().count();
    quote! {
        #(const #names: #private::Argument<#types> = #values;)*
        #(const _: () = #checks;)*
        #(#defaults)*
        const __PROPERTIES: [#private::Property; #count] = [#(#names.property(),)* #(#more),*];
        const __FIELDS: &[#private::Field] = &#private::Field::table(&__PROPERTIES);
        const __INPUT: #private::Node = #private::Node::object(&__PROPERTIES);
        const __PARAMETERS: #private::Parameters = #private::Parameters::fields(__FIELDS);
    }
}

/// The constant `__SCHEMA`, which is `__INPUT` as text.
pub(crate) fn schema() -> TokenStream {
    quote! {
        #[allow(long_running_const_eval, reason = "long descriptions take long to render")]
        const __SCHEMA: &[::core::primitive::u8] =
            &__INPUT.render::<{ __INPUT.length() }>();
    }
}

/// The name of the constant for the argument at this index.
pub(crate) fn constant(index: usize) -> Ident {
    format_ident!("__ARGUMENT_{index}")
}

fn default_constant(index: usize) -> Ident {
    format_ident!("__DEFAULT_{index}")
}

/// The function that makes the value of an absent argument with `#[arg(default)]`.
fn default_of(index: usize, argument: &Argument<'_>, private: &TokenStream) -> Option<TokenStream> {
    let (name, ty) = (default_constant(index), argument.ty);
    let is_of_type = matches!(argument.options.default, Some(ArgDefault::OfType));
    is_of_type.then(|| quote!(const #name: fn() -> #ty = #private::default_of::<#ty>;))
}

fn constant_value(argument: &Argument<'_>, private: &TokenStream) -> TokenStream {
    let Argument {
        ty, name, options, ..
    } = argument;
    let description = argument.description();
    let make = if options.schemars.is_some() {
        quote!(schemars_argument)
    } else if is_called_context(ty) {
        quote!(argument_or_context)
    } else {
        quote!(argument)
    };
    let optional = options.schemars.as_ref().map(|_| is_optional(ty, private));
    let mut value = quote!(#private::#make::<#ty>(#name, #description #optional));
    if let Some(default) = &options.default {
        value.extend(JsonDefault::new(default, ty).method(private));
    }
    if let Some(example) = &options.example {
        let json = json_token(json_literal(example));
        value.extend(quote!(.with_example(#json)));
    }
    if let Some(limits) = options.limits.tokens(private) {
        value.extend(quote!(.with_limits(#limits)));
    }
    value
}

/// Whether a type is an `Option`, for types without a `Schema` implementation.
fn is_optional(ty: &Type, private: &TokenStream) -> TokenStream {
    quote!(, {
        #[allow(unused_imports, reason = "an `Option` has the constant itself")]
        use #private::NotOptional as _;
        #private::Optional::<#ty>::IS
    })
}

/// Constants that stop the build, at the literal, if the argument's type does not accept it.
///
/// Nothing else depends on these constants, so the compiler reports only one error.
fn checks_of(constant: &Ident, argument: &Argument<'_>) -> Vec<TokenStream> {
    let options = &argument.options;
    let default = match &options.default {
        Some(ArgDefault::Str(text)) => {
            Some(located(quote!(#constant.check_default()), text.span()))
        }
        _ => None,
    };
    let example = options
        .example
        .as_ref()
        .map(|example| located(quote!(#constant.check_example()), example.span()));
    let lengths = options
        .limits
        .first_length()
        .map(|at| located(quote!(#constant.check_lengths()), at.span()));
    default.into_iter().chain(example).chain(lengths).collect()
}

/// Whether a type is called `Context`. Only the error for an invalid argument type depends on this.
fn is_called_context(ty: &Type) -> bool {
    let Type::Path(path) = ty else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|segment| segment.ident == "Context")
}

/// The values that the function is called with.
pub(crate) fn values(
    parameters: &[ValidParam<'_>],
    context: &Ident,
    arguments: &Ident,
) -> Vec<TokenStream> {
    let mut indices = 0usize..;
    let values = parameters.iter().map(|param| match param {
        ValidParam::Context(at) => {
            // At the type, so that the compiler reports a type other than `Context` there.
            let mut context = context.clone();
            context.set_span(context.span().located_at(*at));
            context.into_token_stream()
        }
        ValidParam::Whole { .. } => quote!(__WHOLE.get(&#arguments)?),
        ValidParam::Argument(argument) => value(argument, arguments, indices.next().unwrap_or(0)),
    });
    values.collect()
}

fn value(argument: &Argument<'_>, arguments: &Ident, index: usize) -> TokenStream {
    let (constant, options) = (constant(index), &argument.options);
    let value = match &options.default {
        None => quote!(#constant.get(&#arguments, #index)?),
        Some(ArgDefault::OfType) => {
            let default = default_constant(index);
            quote!(#constant.get_or(&#arguments, #index, #default)?)
        }
        Some(ArgDefault::Str(_)) => quote!(#constant.get_or_str(&#arguments, #index)?),
        Some(ArgDefault::Value(value)) => {
            quote!(#constant.get_or(&#arguments, #index, || #value)?)
        }
    };
    let Range { min, max } = &options.limits.number;
    if min.is_none() && max.is_none() {
        return value;
    }
    let (min, max) = (option(min.as_ref()), option(max.as_ref()));
    // At the type, so that the compiler reports a type other than a number there.
    let value = located(value, argument.ty.span());
    quote!(#arguments.within(#index, #min, #max, #value)?)
}

/// The same tokens with the location at which the compiler reports errors. Names resolve as before.
pub(crate) fn located(tokens: TokenStream, at: Span) -> TokenStream {
    let located = tokens.into_iter().map(|mut token| {
        token.set_span(token.span().located_at(at));
        token
    });
    located.collect()
}

/// The tokens of an `Option`.
pub(crate) fn option(value: Option<&TokenStream>) -> TokenStream {
    if let Some(value) = value {
        quote!(::core::option::Option::Some(#value))
    } else {
        quote!(::core::option::Option::None)
    }
}
