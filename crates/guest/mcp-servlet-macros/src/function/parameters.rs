//! Parameters: sorts them into the context and the arguments, and checks them.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Ident, Type};

use super::arg::{ArgOptions, json_literal};
use super::check;
use super::default::ArgDefault;
use super::head::{FnHead, Param, Pattern};
use crate::diagnostics::Diagnostics;
use crate::docs;

/// A valid parameter.
pub(crate) enum ValidParam<'a> {
    /// The context, and the span of its type.
    Context(Span),
    /// A type that takes all arguments at once.
    Whole {
        ty: &'a Type,
        /// Whether schemars makes its schema.
        schemars: bool,
    },
    /// One argument.
    Argument(Box<Argument<'a>>),
}

/// One argument.
pub(crate) struct Argument<'a> {
    pub(crate) ty: &'a Type,
    pub(crate) name: String,
    pub(crate) ident: &'a Ident,
    pub(crate) attributes: &'a [Attribute],
    pub(crate) options: ArgOptions,
}

impl Argument<'_> {
    /// The description, as an expression.
    pub(crate) fn description(&self) -> TokenStream {
        let description = self.options.description.clone();
        description.unwrap_or_else(|| docs::description(self.attributes))
    }
}

/// The parameters of a function. If `whole` is set, a parameter may take all arguments.
pub(crate) fn parameters<'a>(
    kind: &str,
    head: &'a FnHead,
    whole: bool,
    diagnostics: &mut Diagnostics,
) -> Vec<ValidParam<'a>> {
    let params = head.parameters.iter();
    let parameters: Vec<_> = params
        .filter_map(|param| parameter(param, kind, head, whole, diagnostics))
        .collect();
    if kind != "tool" {
        no_schemars(&parameters, diagnostics);
    }
    if kind != "tool" && kind != "prompt" {
        no_lengths(kind, &parameters, diagnostics);
    }
    check_contexts(&parameters, kind, head, diagnostics);
    check_names(&parameters, diagnostics);
    parameters
}

/// The arguments among the parameters.
pub(crate) fn arguments<'a>(
    parameters: &'a [ValidParam<'_>],
) -> impl Iterator<Item = &'a Argument<'a>> {
    parameters.iter().filter_map(|param| match param {
        ValidParam::Argument(argument) => Some(&**argument),
        _ => None,
    })
}

fn parameter<'a>(
    param: &'a Param,
    kind: &str,
    head: &FnHead,
    whole: bool,
    diagnostics: &mut Diagnostics,
) -> Option<ValidParam<'a>> {
    let (ident, ty) = named(param, kind, head, diagnostics)?;
    check_attributes(&param.attributes, diagnostics);
    let arg = ArgOptions::parse(&param.attributes, diagnostics);
    match ty {
        Type::Reference(reference) => {
            check_context(reference, ident, &arg, diagnostics);
            Some(ValidParam::Context(reference.and_token.span))
        }
        _ if ident == "_" => {
            diagnostics.error(
                ident,
                "an argument must have a name\nhelp: name it, or remove it",
            );
            None
        }
        Type::ImplTrait(_) => {
            diagnostics.error(
                ty,
                format!(
                    "argument `{ident}` cannot have the type `impl Trait`\nhelp: name the type"
                ),
            );
            None
        }
        _ if arg.flatten.is_some() || whole => {
            check_flatten(&arg, diagnostics);
            Some(ValidParam::Whole {
                ty,
                schemars: arg.schemars.is_some(),
            })
        }
        _ => Some(ValidParam::Argument(Box::new(argument(
            param,
            ident,
            ty,
            arg,
            diagnostics,
        )))),
    }
}

/// The name and the type of a parameter.
fn named<'a>(
    param: &'a Param,
    kind: &str,
    head: &FnHead,
    diagnostics: &mut Diagnostics,
) -> Option<(&'a Ident, &'a Type)> {
    match &param.pattern {
        Pattern::Name(ident, ty) => return Some((ident, ty)),
        Pattern::Receiver(receiver) => {
            let name = &head.name;
            diagnostics.error(
                receiver,
                format!("{kind} `{name}` cannot be a method\nhelp: make it a free function, and keep state in `Context::set_var`"),
            );
        }
        Pattern::Other(tokens) => diagnostics.error(
            tokens,
            "patterns are not allowed as parameters\nhelp: name the parameter, and destructure it in the function body",
        ),
    }
    None
}

fn argument<'a>(
    param: &'a Param,
    ident: &'a Ident,
    ty: &'a Type,
    options: ArgOptions,
    diagnostics: &mut Diagnostics,
) -> Argument<'a> {
    if let Some(example) = &options.example {
        check_literal("example", "a literal", example, |_| true, diagnostics);
    }
    let default = options.default.as_ref().and_then(ArgDefault::value);
    let example = options.example.as_ref();
    options
        .limits
        .check_values(default.as_ref(), example, diagnostics);
    if let Some(borrow) = borrow(ty.to_token_stream()) {
        diagnostics.error(
            borrow,
            format!("argument `{ident}` cannot be borrowed\nhelp: use an owned type such as `Option<String>`; only `&Context` can be a reference"),
        );
    }
    let name = match &options.rename {
        Some(rename) => {
            if rename.value().is_empty() {
                diagnostics.error(rename, "the name of an argument cannot be empty");
            }
            rename.value()
        }
        None => ident.unraw().to_string(),
    };
    Argument {
        ty,
        name,
        ident,
        attributes: &param.attributes,
        options,
    }
}

/// The `&` of a reference inside a type: arguments are owned. `&'static` is allowed for the author's own types.
fn borrow(ty: TokenStream) -> Option<TokenTree> {
    let mut tokens = ty.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let found = match &token {
            TokenTree::Punct(sign) if sign.as_char() == '&' => {
                let is_static = tokens.next_if(is_quote).is_some()
                    && tokens
                        .next()
                        .is_some_and(|name| name.to_string() == "static");
                (!is_static).then_some(token)
            }
            TokenTree::Group(group) => borrow(group.stream()),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn is_quote(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '\'')
}

pub(super) fn check_literal(
    key: &str,
    what: &str,
    value: &TokenStream,
    is_right: impl Fn(&str) -> bool,
    diagnostics: &mut Diagnostics,
) {
    if !json_literal(value).is_some_and(|json| is_right(&json)) {
        diagnostics.error(
            value,
            format!("`{key}` takes {what}, because it is part of the schema"),
        );
    }
}

fn check_attributes(attributes: &[Attribute], diagnostics: &mut Diagnostics) {
    for attribute in attributes {
        if attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr") {
            diagnostics.error(
                attribute,
                "an argument cannot be conditional\nhelp: put the `#[cfg]` on two versions of the function",
            );
        }
    }
}

fn check_context(
    reference: &syn::TypeReference,
    ident: &Ident,
    options: &ArgOptions,
    diagnostics: &mut Diagnostics,
) {
    let borrowed = reference.elem.to_token_stream().to_string();
    if borrowed == "str" || matches!(*reference.elem, Type::Slice(_)) {
        let owned = if borrowed == "str" {
            "String"
        } else {
            "Vec<…>"
        };
        diagnostics.error(
            reference,
            format!("argument `{ident}` cannot be borrowed\nhelp: use `{owned}`; only `&Context` can be a reference"),
        );
    } else if reference.mutability.is_some() {
        diagnostics.error(
            reference,
            "the context cannot be `&mut`\nhelp: use `&Context`",
        );
    } else if options.any {
        diagnostics.error(
            ident,
            "`#[arg]` cannot be used on the context\nhelp: remove it",
        );
    }
}

fn check_flatten(options: &ArgOptions, diagnostics: &mut Diagnostics) {
    let others = options.rename.is_some()
        || options.description.is_some()
        || options.default.is_some()
        || options.example.is_some()
        || options.limits.first().is_some();
    if let (Some(flatten), true) = (&options.flatten, others) {
        diagnostics.error(
            flatten,
            "`flatten` cannot be combined with other options\nhelp: put the other options on the struct's fields",
        );
    }
}

/// A schema of schemars exists only at run time, and only tools are described then.
fn no_schemars(parameters: &[ValidParam<'_>], diagnostics: &mut Diagnostics) {
    for schemars in arguments(parameters).filter_map(|argument| argument.options.schemars.as_ref())
    {
        diagnostics.error(
            schemars,
            "`schemars` is for the arguments of tools\nhelp: use a string or a number, and parse it in the function",
        );
    }
}

/// Reports limits other than `min` and `max`: they are read from a schema, and only tools and prompts have one.
fn no_lengths(kind: &str, parameters: &[ValidParam<'_>], diagnostics: &mut Diagnostics) {
    for at in arguments(parameters).filter_map(|argument| argument.options.limits.first_length()) {
        let kind = check::words(kind);
        let message = format!(
            "arguments of a {kind} can only have `min` and `max`\nhelp: check the value in the function"
        );
        diagnostics.error(at, message);
    }
}

fn check_contexts(
    parameters: &[ValidParam<'_>],
    kind: &str,
    head: &FnHead,
    diagnostics: &mut Diagnostics,
) {
    let contexts = parameters.iter().filter_map(|param| match param {
        ValidParam::Context(at) => Some(Ident::new("context", *at)),
        _ => None,
    });
    for second in contexts.skip(1) {
        let name = &head.name;
        diagnostics.error(second, format!("{kind} `{name}` has more than one reference parameter\nhelp: keep one `&Context`, and take other arguments by value"));
    }
}

fn check_names(parameters: &[ValidParam<'_>], diagnostics: &mut Diagnostics) {
    let mut seen: Vec<&Argument<'_>> = Vec::new();
    for argument in arguments(parameters) {
        let name = &argument.name;
        if seen.iter().any(|earlier| earlier.name == *name) {
            let at: &dyn ToTokens = match &argument.options.rename {
                Some(rename) => rename,
                None => argument.ident,
            };
            diagnostics.error(
                at,
                format!("duplicate argument `{name}`\nhelp: rename one of them"),
            );
        }
        seen.push(argument);
    }
}
